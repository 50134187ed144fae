"""Checks that the group's statements articulate at the end of every month, switched on by tests."""

from contextlib import AbstractContextManager

from ledgers import articulation
from ledgers.consolidation import ACCOUNT as INTERCOMPANY
from ledgers.invariants import checked_method
from models.enterprise.accounts import reports
from models.enterprise.state import Company


def checked() -> AbstractContextManager[None]:
    """Verify the consolidated statements whenever the group's book is brought up to date.

    The context raises `BrokenInvariant` from the first month that does not articulate, or in which
    the balances between the companies do not cancel.
    """
    return checked_method(Company, "consolidate", faults)


def faults(company: Company) -> list[str]:
    """Return one sentence for each fault in the present month."""
    month, how = company.month, reports(tuple(company.group.parts))
    found = articulation.faults(how, company.book, month, month)
    if left := company.book.balance(INTERCOMPANY):
        found.append(f"intercompany balances sum to {left}, not to 0")
    pairs = company.group.intercompany_faults()
    return [f"month {month}: {fault}" for fault in (*found, *pairs)]
