"""Checks that the books articulate at the end of every month, switched on by tests.

A method is wrapped while a test runs, so that the model itself contains no checks that only a fault
of its own could fail. See `ledgers.invariants`.
"""

from contextlib import AbstractContextManager

from ledgers import articulation
from ledgers.invariants import checked_method
from models.enterprise_arena.accounting.accounts import INTERCOMPANY
from models.enterprise_arena.group import reports
from models.enterprise_arena.rules import YEAR
from models.enterprise_arena.state import Lender


def checked() -> AbstractContextManager[None]:
    """Verify the articulation of the books (SPEC section 7.3) whenever a month ends.

    The month before is verified again where a group may have posted to it after its close. The
    context raises `BrokenInvariant` from the first month that does not articulate.
    """
    return checked_method(Lender, "close_month", _faults, before=True)


def _faults(lender: Lender) -> list[str]:
    last = lender.month
    months = range(max(0, last - (INTERCOMPANY in lender.books.held)), last + 1)
    return [f"month {month}: {fault}" for month in months for fault in faults(lender, month)]


def faults(lender: Lender, month: int) -> list[str]:
    """Return one text for each fault of articulation in a month.

    Args:
        lender: Its notes are compared with their account as of now.
        month: The present month, or one before it.
    """
    book = lender.books.book
    texts = articulation.faults(reports(book, month), book, month, month, month - month % YEAR)
    owed = sum(loan.balance for loan in lender.term_loans)
    if owed != lender.debt:
        texts.append(f"notes payable are {lender.debt}, the balances of the notes {owed}")
    return texts
