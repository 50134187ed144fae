"""The lender's reports once it has exchanged cash with the companies of a group.

The balances with all companies are one account. Where the group owes its net balance to the lender,
it is the asset `due_from_group`, otherwise the liability `due_to_group`. Cash received less cash
paid is one line of financing, because an advance and a repayment of an earlier one are the same
entry. Before the first entry, and for months before it, none of these lines exists, so that a
document on file never changes.
"""

from itertools import takewhile

from attrs import evolve

from ledgers.book import Book
from ledgers.chart import Account
from ledgers.statements import Layout, Line, Reports, Total
from ledgers.views import CashView
from models.enterprise_arena.accounting.accounts import INTERCOMPANY, INTERCOMPANY_CASH
from models.enterprise_arena.accounting.reports import CASH_LEDGER, REPORTS


def has_entries(book: Book, month: int) -> bool:
    """Return whether the lender has exchanged cash with a group up to the end of a month."""
    if INTERCOMPANY not in book.held:
        return False
    past = takewhile(lambda entry: entry.time <= month, book.journal)
    return any(INTERCOMPANY in entry.amounts for entry in past)


def reports(book: Book, month: int) -> Reports:
    """Return the lender's reports at the end of a month."""
    if not has_entries(book, month):
        return REPORTS
    return _CREDITOR if book.balance(INTERCOMPANY, at=month) >= 0 else _DEBTOR


def accounts(book: Book, month: int) -> list[Account]:
    """Return the accounts of the book at the end of a month."""
    shown = has_entries(book, month)
    return [each for each in book.declared.values() if shown or each.code != INTERCOMPANY]


def cash_ledger(book: Book, month: int) -> CashView:
    """Return the cash ledger at the end of a month, with a tenth class for the group."""
    return _CASH_LEDGER if has_entries(book, month) else CASH_LEDGER


def _extended(layout: Layout, total: str, line: Line) -> Layout:
    """Return a layout with a line more above a total, which includes it."""
    rows: list[Line | Total] = []
    for row in layout.rows:
        if row.name == total and isinstance(row, Total):
            rows += [line, evolve(row, plus=(*row.plus, line.name))]
        else:
            rows.append(row)
    return Layout(layout.title, rows)


def _classified(view: CashView, name: str) -> CashView:
    return CashView(view.account, {**view.categories, INTERCOMPANY_CASH: name})


def _position(owed_to_us: tuple[str, ...], owed_by_us: tuple[str, ...]) -> Layout:
    assets = _extended(REPORTS.position, "total_assets", Line("due_from_group", owed_to_us))
    return _extended(assets, "total_liabilities", Line("due_to_group", owed_by_us, -1))


_FLOW = "intercompany_cash"
_CASH_LEDGER = _classified(CASH_LEDGER, "group")
_CREDITOR = evolve(
    REPORTS,
    position=_position((INTERCOMPANY,), ()),
    flows=_extended(REPORTS.flows, "financing", Line(_FLOW, _FLOW)),
    cash=_classified(REPORTS.cash, _FLOW),
)
_DEBTOR = evolve(_CREDITOR, position=_position((), (INTERCOMPANY,)))
