"""A lemonade stand with a loan: a small company that has an account of every kind."""

import contextlib
import io
import warnings
from pathlib import Path

from ledgers.book import Book, Memo, close_year
from ledgers.chart import Account, Chart
from ledgers.statements import Layout, Line, Reports, Total
from ledgers.views import CashView

CASH, STAND, WEAR = "cash", "stand", "wear"
BILLS, LOAN = "bills", "loan"
CAPITAL, RETAINED = "capital", "retained"
SALES, LEMONS, DEPRECIATION = "sales", "lemons", "depreciation"

CHART = Chart(
    (
        Account(CASH, "Cash at bank", "asset"),
        Account(STAND, "Stand", "asset"),
        Account(WEAR, "Accumulated wear", "contra_asset"),
        Account(BILLS, "Bills payable", "liability"),
        Account(LOAN, "Bank loan", "liability"),
        Account(CAPITAL, "Paid-in capital", "equity"),
        Account(RETAINED, "Retained earnings", "equity"),
        Account(SALES, "Sales", "income"),
        Account(LEMONS, "Lemons", "expense"),
        Account(DEPRECIATION, "Depreciation", "expense"),
    )
)
#: The kinds of its entries; "J0" is the year-end close.
FOUNDING = Memo("founding", "founding")
BOUGHT = Memo("stand bought, half of it with a loan", "purchase")
ON_CREDIT = Memo("lemons on credit", "J1", {"supplier": "grove"})
SALE = Memo("sale of the month", "sale")
PAID = Memo("bills paid", "payment")
WORN = Memo("wear", "J5")
REPAID = Memo("loan repaid", "L1")
CLOSE = Memo("close", "J0")

INCOME = Layout(
    "income statement",
    (
        Line("sales", SALES, -1),
        Line("lemons", LEMONS),
        Total("gross_profit", "sales", "lemons"),
        Line("depreciation", DEPRECIATION),
        Total("net_income", "gross_profit", "depreciation"),
    ),
)
POSITION = Layout(
    "balance sheet",
    (
        Line("cash", CASH),
        Line("stand", (STAND, WEAR)),
        Total("total_assets", ("cash", "stand")),
        Line("bills", BILLS, -1),
        Line("loan", LOAN, -1),
        Total("total_liabilities", ("bills", "loan")),
        Line("capital", CAPITAL, -1),
        Line("retained_earnings", RETAINED, -1),
        Line("current_year_earnings", CHART.temporary, -1),
        Total("total_equity", ("capital", "retained_earnings", "current_year_earnings")),
    ),
)
CASH_VIEW = CashView(
    CASH,
    {
        SALE.kind: "customers",
        PAID.kind: "suppliers",
        BOUGHT.kind: "equipment",
        REPAID.kind: "lender",
        FOUNDING.kind: "owners",
    },
)
FLOWS = Layout(
    "cash flow statement",
    (
        Line("received", "customers"),
        Line("paid", "suppliers"),
        Total("operating", ("received", "paid")),
        Line("investing", "equipment"),
        Line("financing", ("lender", "owners")),
        Total("net_change", ("operating", "investing", "financing")),
    ),
)
REPORTS = Reports(INCOME, POSITION, FLOWS, CASH_VIEW, closings=CLOSE.kind)


def lemonade() -> Book:
    """Return the stand's books: founded at t=-1, the year of t=0 and t=1 closed at t=2."""
    book = Book(*CHART)
    book.post(-1, FOUNDING, {CASH: 100_00, CAPITAL: -100_00})
    book.post(0, BOUGHT, {CASH: -40_00, STAND: 80_00, LOAN: -40_00})
    book.post(0, ON_CREDIT, {LEMONS: 30_00, BILLS: -30_00})
    book.post(0, SALE, {CASH: 50_25, SALES: -50_25})
    book.post(1, PAID, {CASH: -30_00, BILLS: 30_00})
    book.post(1, SALE, {CASH: 9_75, SALES: -9_75})
    book.post(1, WORN, {DEPRECIATION: 5_00, WEAR: -5_00})
    close_year(book, CHART, 2, RETAINED, CLOSE)
    book.post(2, SALE, {CASH: 1_01, SALES: -1_01})
    book.post(2, REPAID, {CASH: -10_00, LOAN: 10_00})
    return book


def bean_check(file: Path) -> str:
    """Return what `bean-check` prints about a file: nothing if it accepts it.

    It is called in this process: a new Python for each file takes longer than the check.
    """
    printed, code = io.StringIO(), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of Beancount and its parser are not ours
        from beancount.scripts.check import main

        # Not click's test runner, whose oldest version loses what goes to standard error.
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            try:
                main.main([str(file)])
            except SystemExit as end:
                code = int(end.code or 0)
    assert (code == 0) == (printed.getvalue() == "")
    return printed.getvalue()
