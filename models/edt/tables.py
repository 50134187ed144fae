"""The manager's tables: the trial balance and the journal, in money."""

from typing import Any

from models.edt.firm import Firm

__all__ = ["tables"]


def tables(firm: Firm) -> dict[str, list[dict[str, Any]]]:
    """Return the trial balance and the journal; debits are positive, credits negative."""
    book = firm.controlling.book
    return {
        "trial_balance": [
            {"account": account, "balance": book.money(units)}
            for account, units in book.trial_balance().rows
        ],
        "journal": [
            {"step": entry.time, "text": entry.text, "account": name, "amount": book.money(units)}
            for entry in book.journal
            for name, units in entry.amounts.items()
        ],
    }
