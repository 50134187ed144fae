"""Checks that the books of two worlds articulate at every month's end, switched on by tests."""

from collections.abc import Iterator
from contextlib import contextmanager

from support.articulation import Articulation
from support.invariants import checked_method

from desim.composition.exchange import exchange_faults
from ledgers.chart import Account, Chart
from ledgers.consolidation import ACCOUNT as INTERCOMPANY
from models.enterprise import accounts as group_accounts
from models.enterprise.state import Company
from models.enterprise_arena import books
from models.enterprise_arena.lender import Lender
from models.enterprise_arena.params import YEAR
from models.enterprise_arena.statements import has_entries, reports

#: For each account of the lender's balance sheet, the posting rules that may change it.
_ROLLS = {
    books.LOANS: ("J5", "J6", "J8"),
    books.PRINCIPAL_RECEIVABLE: ("J3", "J4", "J6"),
    books.INTEREST_RECEIVABLE: ("J3", "J4", "J7"),
    books.ALLOWANCE: ("J4", "J5", "J12"),
    books.PAYABLES: ("J9", "J11"),
    books.TAX_PAYABLE: ("J15", "J16"),
    books.ACCRUED_INTEREST: ("J13",),
    books.NOTES_PAYABLE: ("J2", "J14"),
    books.PAID_IN_CAPITAL: ("J1",),
    books.RETAINED_EARNINGS: ("J0",),
}


@contextmanager
def checked() -> Iterator[None]:
    """Verify the lender's books whenever a month ends, and the group's whenever they are posted."""
    with (
        checked_method(Lender, "close_month", _lender_faults, before=True),
        checked_method(Company, "consolidate", group_faults),
    ):
        yield


def _lender_faults(lender: Lender) -> list[str]:
    # A group may have posted to the month before after its close.
    last = lender.month
    months = range(max(0, last - (INTERCOMPANY in lender.books.held)), last + 1)
    return [f"month {month}: {fault}" for month in months for fault in faults(lender, month)]


def faults(lender: Lender, month: int) -> list[str]:
    """Return one text for each fault (SPEC section 7.3) in a month, the present one or one before.

    The notes are compared with their account as of now.
    """
    book = lender.books.book
    chart, rolls = books.CHART, dict(_ROLLS)
    if has_entries(book, month):
        chart = Chart((*chart, Account(INTERCOMPANY, "Intercompany", "asset")))
        rolls[INTERCOMPANY] = (INTERCOMPANY,)
    whole = Articulation(reports(book, month), chart, "J1", rolls)
    texts = whole.faults(book, month, month, month - month % YEAR)
    owed = sum(loan.balance for loan in lender.term_loans)
    if owed != lender.debt:
        texts.append(f"notes payable are {lender.debt}, the balances of the notes {owed}")
    return texts


def group_faults(company: Company) -> list[str]:
    """Return one sentence for each fault of the group in the present month."""
    rolls = {
        INTERCOMPANY: (INTERCOMPANY,),
        group_accounts.NOTES: (group_accounts.DRAWN, group_accounts.REPAID),
    }
    whole = Articulation(
        group_accounts.reports(tuple(company.group.parts)),
        group_accounts.CHART,
        (group_accounts.RAISED, group_accounts.OPENING),
        rolls,
    )
    found = whole.faults(company.book, company.month, company.month)
    if left := company.book.balance(INTERCOMPANY):
        found.append(f"intercompany balances sum to {left}, not to 0")
    pairs = exchange_faults(company.group.every_part(), company.group.models)
    return [f"month {company.month}: {fault}" for fault in (*found, *pairs)]
