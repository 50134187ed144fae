"""A lemonade stand with a loan: the smallest company that has every kind of account."""

from ledgers.articulation import Reports
from ledgers.book import Book
from ledgers.chart import Account, Chart
from ledgers.closing import close_year
from ledgers.statements import Layout, Line, Total
from ledgers.views import CashView

CHART = Chart(
    (
        Account("cash", "Cash at bank", "asset"),
        Account("stand", "Stand", "asset"),
        Account("wear", "Accumulated wear", "contra_asset"),
        Account("bills", "Bills payable", "liability"),
        Account("loan", "Bank loan", "liability"),
        Account("capital", "Paid-in capital", "equity"),
        Account("retained", "Retained earnings", "equity"),
        Account("sales", "Sales", "income"),
        Account("lemons", "Lemons", "expense"),
        Account("depreciation", "Depreciation", "expense"),
    )
)
INCOME = Layout(
    "income statement",
    (
        Line("sales", "sales", -1),
        Line("lemons", "lemons"),
        Total("gross_profit", "sales", "lemons"),
        Line("depreciation", "depreciation"),
        Total("net_income", "gross_profit", "depreciation"),
    ),
)
POSITION = Layout(
    "balance sheet",
    (
        Line("cash", "cash"),
        Line("stand", ("stand", "wear")),
        Total("total_assets", ("cash", "stand")),
        Line("bills", "bills", -1),
        Line("loan", "loan", -1),
        Total("total_liabilities", ("bills", "loan")),
        Line("capital", "capital", -1),
        Line("retained_earnings", "retained", -1),
        Line("current_year_earnings", CHART.temporary, -1),
        Total("total_equity", ("capital", "retained_earnings", "current_year_earnings")),
    ),
)
CASH = CashView(
    "cash",
    {"sale": "customers", "bills": "suppliers", "stand": "equipment", "L1": "lender"}
    | {"founding": "owners"},
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
REPORTS = Reports(
    CHART, INCOME, POSITION, FLOWS, CASH, "J0", "founding", {"wear": "J5", "loan": ("L1", "stand")}
)


def lemonade() -> Book:
    """Return the stand's books: founded at t=-1, the year of t=0 and t=1 closed at t=2."""
    book = CHART.book()
    book.post(-1, "founding", cash=100_00, capital=-100_00)
    book.post(0, "stand bought, half of it with a loan", cash=-40_00, stand=80_00, loan=-40_00)
    book.post(0, "J1 lemons on credit", lemons=30_00, bills=-30_00)
    book.post(0, "sale of the month", cash=50_25, sales=-50_25)
    book.post(1, "bills paid", cash=-30_00, bills=30_00)
    book.post(1, "sale of the month", cash=9_75, sales=-9_75)
    book.post(1, "J5 wear", depreciation=5_00, wear=-5_00)
    close_year(book, CHART, 2, "retained", "J0 close")
    book.post(2, "sale of the month", cash=1_01, sales=-1_01)
    book.post(2, "L1 repaid", cash=-10_00, loan=10_00)
    return book
