"""How the company reports: its statements and cash ledgers, declared once (SPEC section 7)."""

from ledgers.articulation import Reports
from ledgers.statements import Layout, Line, Total
from ledgers.views import CashView
from models.enterprise_arena.journal import CHART

__all__ = ["CASH_LEDGER", "REPORTS", "VENDORS"]

_INCOME = Layout(
    "income statement",
    (
        Line("revenue", "4000", -1),
        Line("cost_of_revenue", "5000"),
        Total("gross_profit", "revenue", "cost_of_revenue"),
        Line("payroll", "5100"),
        Line("vendor_operating_expense", "5200"),
        Total("ebitda", "gross_profit", ("payroll", "vendor_operating_expense")),
        Line("provision_for_credit_losses", "5300"),
        Line("interest_expense", "5400"),
        Total("pretax_income", "ebitda", ("provision_for_credit_losses", "interest_expense")),
        Line("income_tax", "5500"),
        Total("net_income", "pretax_income", "income_tax"),
    ),
)
_ASSETS = ("cash", "loans_unbilled", "principal_receivable", "interest_receivable", "allowance")
_DEBTS = ("accounts_payable", "tax_payable", "accrued_interest_payable", "notes_payable")
_EQUITY = ("paid_in_capital", "retained_earnings_prior_years", "current_year_earnings")
_POSITION = Layout(
    "balance sheet",
    (
        *map(Line, _ASSETS, ("1000", "1100", "1110", "1120", "1190")),
        Total("total_assets", _ASSETS),
        Line("accounts_payable", "2000", -1),
        Line("tax_payable", "2100", -1),
        Line("accrued_interest_payable", "2110", -1),
        Line("notes_payable", "2200", -1),
        Total("total_liabilities", _DEBTS),
        Line("paid_in_capital", "3000", -1),
        Line("retained_earnings_prior_years", "3900", -1),
        Line("current_year_earnings", CHART.temporary, -1),
        Total("total_equity", _EQUITY),
    ),
)
_OPERATING = (
    "collections_interest",
    "vendor_payments",
    "payroll_paid",
    "tax_paid",
    "interest_paid",
)
_INVESTING = ("collections_principal", "loans_originated")
_FINANCING = ("equity_proceeds", "debt_proceeds", "debt_repaid")
_FLOWS = Layout(
    "cash flow statement",
    (
        *[Line(name, name) for name in _OPERATING],
        Total("operating", _OPERATING),
        *[Line(name, name) for name in _INVESTING],
        Total("investing", _INVESTING),
        *[Line(name, name) for name in _FINANCING],
        Total("financing", _FINANCING),
        Total("net_change", ("operating", "investing", "financing")),
    ),
)
_DIRECT = CashView(
    "1000",
    {
        ("J3", "1110"): "collections_principal",
        ("J3", "1120"): "collections_interest",
        "J1": "equity_proceeds",
        "J2": "debt_proceeds",
        "J8": "loans_originated",
        "J10": "payroll_paid",
        "J11": "vendor_payments",
        "J13": "interest_paid",
        "J14": "debt_repaid",
        "J15": "tax_paid",
    },
)

#: The cash ledger in the classes of SPEC section 7.2, as a bank extract tells them.
CASH_LEDGER = CashView(
    "1000",
    {
        "J1": "investor",
        "J2": "lender draw",
        "J3": "borrower collection",
        "J8": "loan disbursement",
        "J10": "payroll",
        "J11": "vendor",
        "J13": "lender interest",
        "J14": "lender principal",
        "J15": "tax",
    },
)

#: The five contracts among which `vendor_shares` split what vendors get, in that order.
VENDORS = (
    "customer support",
    "fraud monitoring",
    "software development",
    "hosting",
    "sales and marketing",
)

#: Statements, and the only entries that may move each account of the balance sheet.
REPORTS = Reports(
    chart=CHART,
    income=_INCOME,
    position=_POSITION,
    flows=_FLOWS,
    cash=_DIRECT,
    closings="J0",
    contributions="J1",
    rolls={
        "1100": ("J5", "J6", "J8"),
        "1110": ("J3", "J4", "J6"),
        "1120": ("J3", "J4", "J7"),
        "1190": ("J4", "J5", "J12"),
        "2000": ("J9", "J11"),
        "2100": ("J15", "J16"),
        "2110": "J13",
        "2200": ("J2", "J14"),
        "3000": "J1",
        "3900": "J0",
    },
)
