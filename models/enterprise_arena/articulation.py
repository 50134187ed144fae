"""Checks that the books articulate at the end of every month, switched on by tests.

As in `ledgers.invariants`, a method is wrapped while a test runs, so that the model itself contains
no checks that only a fault of its own could fail.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps

from ledgers import articulation
from ledgers.invariants import BrokenInvariant
from models.enterprise_arena.reports import REPORTS
from models.enterprise_arena.rules import YEAR
from models.enterprise_arena.state import Lender

__all__ = ["checked", "faults"]


@contextmanager
def checked() -> Iterator[None]:
    """Verify the articulation of the books (SPEC section 7.3) whenever a month ends.

    Raises:
        BrokenInvariant: From the first month that does not articulate; the text says what differs.
    """
    close_month = Lender.close_month

    @wraps(close_month)
    def checked_close(lender: Lender) -> None:
        for fault in faults(lender, lender.month):
            raise BrokenInvariant(f"month {lender.month}: {fault}")
        close_month(lender)

    Lender.close_month = checked_close  # type: ignore[assignment, method-assign] # restored below
    try:
        yield
    finally:
        Lender.close_month = close_month  # type: ignore[method-assign]


def faults(lender: Lender, month: int) -> list[str]:
    """Return what does not articulate in a month that ends now, one text each; empty if nothing."""
    texts = articulation.faults(REPORTS, lender.books.book, month, month, month - month % YEAR)
    owed = sum(loan.balance for loan in lender.term_loans)
    if owed != lender.debt:
        texts.append(f"notes payable are {lender.debt}, the balances of the notes {owed}")
    return texts
