"""The lender's statements, and extracts of its book for documents (SPEC section 7).

Every function reads no entry after the month that it is given. Money is in dollars.

Once the lender has exchanged cash with a group, the balances with all companies are one line: the
asset `due_from_group` where the group owes the net balance, otherwise the liability `due_to_group`.
Cash received less cash paid is one line of financing, because an advance and a repayment are the
same entry. Before the first entry, and for months before it, none of these lines exists, so that a
document on file never changes.
"""

import datetime as dt
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any

from attrs import evolve

from ledgers.book import Book
from ledgers.chart import Account
from ledgers.consolidation import ACCOUNT as INTERCOMPANY
from ledgers.statements import Layout, Line, Reports, Total, movements, side_by_side
from ledgers.views import CashView, apportion, general_ledger, opening
from models.enterprise_arena import books as b
from models.enterprise_arena.books import dollars
from models.enterprise_arena.lender import Lender
from models.enterprise_arena.params import YEAR

Rows = list[dict[str, Any]]

#: The five contracts among which `vendor_shares` split what vendors get, in that order.
VENDORS = (
    "customer support",
    "fraud monitoring",
    "software development",
    "hosting",
    "sales and marketing",
)
#: Shares are converted to whole parts per billion, because `apportion` takes whole weights.
_PPB = 1_000_000_000

# -- layouts ---------------------------------------------------------------------------------------

_INCOME = Layout(
    "income statement",
    (
        Line("revenue", b.INTEREST_REVENUE, -1),
        Line("cost_of_revenue", b.COST_OF_REVENUE),
        Total("gross_profit", "revenue", "cost_of_revenue"),
        Line("payroll", b.PAYROLL),
        Line("vendor_operating_expense", b.VENDOR_EXPENSE),
        Total("ebitda", "gross_profit", ("payroll", "vendor_operating_expense")),
        Line("provision_for_credit_losses", b.PROVISION),
        Line("interest_expense", b.INTEREST_EXPENSE),
        Total("pretax_income", "ebitda", ("provision_for_credit_losses", "interest_expense")),
        Line("income_tax", b.INCOME_TAX),
        Total("net_income", "pretax_income", "income_tax"),
    ),
)
_ASSETS = (
    Line("cash", b.CASH),
    Line("loans_unbilled", b.LOANS),
    Line("principal_receivable", b.PRINCIPAL_RECEIVABLE),
    Line("interest_receivable", b.INTEREST_RECEIVABLE),
    Line("allowance", b.ALLOWANCE),
)
_DEBTS = (
    Line("accounts_payable", b.PAYABLES, -1),
    Line("tax_payable", b.TAX_PAYABLE, -1),
    Line("accrued_interest_payable", b.ACCRUED_INTEREST, -1),
    Line("notes_payable", b.NOTES_PAYABLE, -1),
)
_EQUITY = (
    Line("paid_in_capital", b.PAID_IN_CAPITAL, -1),
    Line("retained_earnings_prior_years", b.RETAINED_EARNINGS, -1),
    Line("current_year_earnings", b.CHART.temporary, -1),
)
_OPERATING = (
    *("collections_interest", "vendor_payments", "payroll_paid"),
    *("tax_paid", "interest_paid"),
)
_INVESTING = ("collections_principal", "loans_originated")
_FINANCING = ("equity_proceeds", "debt_proceeds", "debt_repaid")


def _summed(total: str, lines: Sequence[Line]) -> tuple[Line | Total, ...]:
    return (*lines, Total(total, [line.name for line in lines]))


def _position(*due_from: Line, due_to: Sequence[Line] = ()) -> Layout:
    rows = (
        *_summed("total_assets", (*_ASSETS, *due_from)),
        *_summed("total_liabilities", (*_DEBTS, *due_to)),
        *_summed("total_equity", _EQUITY),
    )
    return Layout("balance sheet", rows)


def _flows(*financing: str) -> Layout:
    sections = {"operating": _OPERATING, "investing": _INVESTING, "financing": financing}
    rows: list[Line | Total] = []
    for total, names in sections.items():
        rows += _summed(total, [Line(name, name) for name in names])
    return Layout("cash flow statement", (*rows, Total("net_change", tuple(sections))))


_DIRECT = CashView(
    b.CASH,
    {
        (b.COLLECT.kind, b.PRINCIPAL_RECEIVABLE): "collections_principal",
        (b.COLLECT.kind, b.INTEREST_RECEIVABLE): "collections_interest",
        b.ISSUE_SHARES.kind: "equity_proceeds",
        b.DRAW_NOTE.kind: "debt_proceeds",
        b.ORIGINATE.kind: "loans_originated",
        b.PAY_STAFF.kind: "payroll_paid",
        b.PAY_VENDORS.kind: "vendor_payments",
        b.PAY_INTEREST.kind: "interest_paid",
        b.REPAY_NOTES.kind: "debt_repaid",
        b.PAY_TAX.kind: "tax_paid",
    },
)
#: The cash ledger by the nine classes of SPEC section 7.2, which bank statements show.
CASH_LEDGER = CashView(
    b.CASH,
    {
        b.ISSUE_SHARES.kind: "investor",
        b.DRAW_NOTE.kind: "lender draw",
        b.COLLECT.kind: "borrower collection",
        b.ORIGINATE.kind: "loan disbursement",
        b.PAY_STAFF.kind: "payroll",
        b.PAY_VENDORS.kind: "vendor",
        b.PAY_INTEREST.kind: "lender interest",
        b.REPAY_NOTES.kind: "lender principal",
        b.PAY_TAX.kind: "tax",
    },
)


def _in_group(view: CashView, name: str) -> CashView:
    return CashView(view.account, {**view.categories, INTERCOMPANY: name})


REPORTS = Reports(_INCOME, _position(), _flows(*_FINANCING), _DIRECT, closings=b.CLOSE_YEAR.kind)
_GROUP_LEDGER = _in_group(CASH_LEDGER, "group")
_FLOW = "intercompany_cash"
_DUE_FROM = Line("due_from_group", INTERCOMPANY)
_DUE_TO = Line("due_to_group", INTERCOMPANY, -1)
_CREDITOR = evolve(
    REPORTS,
    position=_position(_DUE_FROM, due_to=[evolve(_DUE_TO, of=())]),
    flows=_flows(*_FINANCING, _FLOW),
    cash=_in_group(_DIRECT, _FLOW),
)
_DEBTOR = evolve(_CREDITOR, position=_position(evolve(_DUE_FROM, of=()), due_to=[_DUE_TO]))


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
    return _GROUP_LEDGER if has_entries(book, month) else CASH_LEDGER


# -- of a whole episode, for export ----------------------------------------------------------------


def yearly(lender: Lender, date: Callable[[int], dt.date]) -> dict[str, Rows]:
    """Return the three statements with a column for each year, named by its last day.

    The balance sheet begins with a column of the opening balances. Unlike documents, they need no
    closing: they are read after the episode, and the officer never sees them.
    """
    book, last = lender.books.book, lender.month
    years = {
        str(date(end)): (january, end)
        for january in range(0, last + 1, YEAR)
        for end in (min(january + YEAR - 1, last),)
    }
    opened = b.OPENING_MONTH
    ends = {str(date(opened)): opened, **{name: end for name, (_, end) in years.items()}}
    income = {n: reports(book, y[1]).income_statement(book, *y) for n, y in years.items()}
    sheets = {n: reports(book, end).balance_sheet(book, end) for n, end in ends.items()}
    flows = {n: reports(book, y[1]).cash_flow_statement(book, *y) for n, y in years.items()}
    return {
        "income_statement": side_by_side(income),
        "balance_sheet": side_by_side(sheets),
        "cash_flow": side_by_side(flows),
    }


# -- of a month, for documents ---------------------------------------------------------------------


def trial_balance(book: Book, month: int) -> Rows:
    """Return every account with its balance at the end of the month."""
    return [
        {"account": each.code, "name": each.name, **_sides(book.balance(each.code, at=month))}
        for each in accounts(book, month)
    ]


def ledger(book: Book, month: int, labels: Sequence[str]) -> Rows:
    """Return the general ledger of the year to date, account by account.

    Balances are brought forward from December; debits are positive. *labels* name the months.
    """
    since = month - month % YEAR
    return [
        {
            "account": account.code,
            "name": account.name,
            "opening_balance": dollars(opening(book, account.code, since)),
            "lines": [
                {
                    "month": labels[line.time],
                    "text": line.text,
                    **_sides(line.amount),
                    "balance": dollars(line.balance),
                }
                for line in general_ledger(book, account.code, since, month)
            ],
        }
        for account in accounts(book, month)
    ]


def _sides(amount: int) -> dict[str, float]:
    return {"debit": dollars(max(amount, 0)), "credit": dollars(max(-amount, 0))}


def bank_statement(book: Book, month: int) -> dict[str, Any]:
    """Return the month's inflows and outflows of cash, by the classes of the cash ledger."""
    view = cash_ledger(book, month)
    moved = view.lines(book, month, month)
    classes = dict.fromkeys(view.categories.values())
    return {
        "opening_balance": dollars(book.balance(b.CASH, at=month - 1)),
        "rows": [
            {"class": name, **_ways([line.amount for line in moved if line.category == name])}
            for name in classes
        ],
        "closing_balance": dollars(book.balance(b.CASH, at=month)),
    }


def _ways(amounts: Sequence[int]) -> dict[str, float]:
    received = sum(amount for amount in amounts if amount > 0)
    return {"inflow": dollars(received), "outflow": dollars(received - sum(amounts))}


def loan_tape(book: Book, month: int, average_loan: float) -> dict[str, Any]:
    """Return new loans, and the sum of the principal and interest billed to borrowers."""
    lent = movements(book, month, month, only=b.ORIGINATE.kind)[b.LOANS]
    billed = movements(book, month, month, only=(b.BILL_PRINCIPAL.kind, b.BILL_INTEREST.kind))
    return {
        "new_loans": round(dollars(lent) / average_loan) if average_loan else 0,
        "amount_lent": dollars(lent),
        "amount_billed": dollars(billed[b.PRINCIPAL_RECEIVABLE] + billed[b.INTEREST_RECEIVABLE]),
    }


def vendor_invoices(book: Book, month: int, shares: Sequence[float]) -> Rows:
    """Return an invoice of each vendor for the month, and the payments of earlier ones in it.

    The invoice has no amount, because only a closing shows the month's accruals.
    """
    paid = -cash_ledger(book, month).flows(book, month, month)["vendor"]
    return [
        {"vendor": name, "invoice": "received", "amount": None, "paid_on_earlier": part}
        for name, part in by_vendor(paid, shares).items()
    ]


def by_vendor(amount: int, shares: Sequence[float]) -> dict[str, float]:
    """Split cents among the vendors; return dollars."""
    weights = {name: round(share * _PPB) for name, share in zip(VENDORS, shares, strict=True)}
    return {name: dollars(part) for name, part in apportion(amount, weights).items()}
