"""Whether the books hang together, verified at the end of every month while a test runs.

The idea is that of `ledgers.invariants`: what ends a month is wrapped, and the model itself is kept
free of checks that only its own faults could fail.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps

from ledgers import articulation
from ledgers.invariants import BrokenInvariant
from models.enterprise_arena.company import Company
from models.enterprise_arena.macro import YEAR
from models.enterprise_arena.reports import REPORTS

__all__ = ["checked", "faults"]


@contextmanager
def checked() -> Iterator[None]:
    """Verify the articulation of the books (SPEC section 7.3) whenever a month ends.

    Raises:
        BrokenInvariant: From the month that does not articulate; the sentence says what does not.
    """
    close_month = Company.close_month

    @wraps(close_month)
    def checked_close(company: Company) -> None:
        for fault in faults(company, company.month):
            raise BrokenInvariant(f"month {company.month}: {fault}")
        close_month(company)

    Company.close_month = checked_close  # type: ignore[assignment, method-assign] # that is the idea
    try:
        yield
    finally:
        Company.close_month = close_month  # type: ignore[method-assign]


def faults(company: Company, month: int) -> list[str]:
    """Say everything that does not articulate in a month that ends now; empty is good."""
    found = articulation.faults(REPORTS, company.books.book, month, month, month - month % YEAR)
    owed = sum(loan.balance for loan in company.term_loans)
    if owed != company.debt:
        found.append(f"notes payable are {company.debt}, the balances of the notes {owed}")
    return found
