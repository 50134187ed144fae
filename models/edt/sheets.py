"""What the manager may look up: the firm's books, in money."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from models.edt.firm import Firm

__all__ = ["sheets"]


def sheets(firm: "Firm") -> dict[str, list[dict[str, Any]]]:
    """Return the trial balance and the journal; debits are positive, credits negative."""
    book = firm.accounts.book
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
