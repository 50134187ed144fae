"""The lender's reports: statements and cash ledgers, declared once (SPEC section 7)."""

from ledgers.statements import Layout, Line, Reports, Total
from ledgers.views import CashView
from models.enterprise_arena.accounting import accounts
from models.enterprise_arena.accounting.accounts import (
    ACCRUED_INTEREST,
    ALLOWANCE,
    CASH,
    CHART,
    COST_OF_REVENUE,
    INCOME_TAX,
    INTEREST_EXPENSE,
    INTEREST_RECEIVABLE,
    INTEREST_REVENUE,
    LOANS,
    NOTES_PAYABLE,
    PAID_IN_CAPITAL,
    PAYABLES,
    PAYROLL,
    PRINCIPAL_RECEIVABLE,
    PROVISION,
    RETAINED_EARNINGS,
    TAX_PAYABLE,
    VENDOR_EXPENSE,
)

# The kinds of the entries that more than one declaration below names.
_ISSUE = accounts.ISSUE_SHARES.kind
_DRAW = accounts.DRAW_NOTE.kind
_COLLECT = accounts.COLLECT.kind
_ORIGINATE = accounts.ORIGINATE.kind
_PAY_STAFF = accounts.PAY_STAFF.kind
_PAY_VENDORS = accounts.PAY_VENDORS.kind
_INTEREST = accounts.PAY_INTEREST.kind
_REPAY = accounts.REPAY_NOTES.kind
_PAY_TAX = accounts.PAY_TAX.kind

_INCOME = Layout(
    "income statement",
    (
        Line("revenue", INTEREST_REVENUE, -1),
        Line("cost_of_revenue", COST_OF_REVENUE),
        Total("gross_profit", "revenue", "cost_of_revenue"),
        Line("payroll", PAYROLL),
        Line("vendor_operating_expense", VENDOR_EXPENSE),
        Total("ebitda", "gross_profit", ("payroll", "vendor_operating_expense")),
        Line("provision_for_credit_losses", PROVISION),
        Line("interest_expense", INTEREST_EXPENSE),
        Total("pretax_income", "ebitda", ("provision_for_credit_losses", "interest_expense")),
        Line("income_tax", INCOME_TAX),
        Total("net_income", "pretax_income", "income_tax"),
    ),
)
_ASSETS = ("cash", "loans_unbilled", "principal_receivable", "interest_receivable", "allowance")
_DEBTS = ("accounts_payable", "tax_payable", "accrued_interest_payable", "notes_payable")
_EQUITY = ("paid_in_capital", "retained_earnings_prior_years", "current_year_earnings")
_POSITION = Layout(
    "balance sheet",
    (
        Line("cash", CASH),
        Line("loans_unbilled", LOANS),
        Line("principal_receivable", PRINCIPAL_RECEIVABLE),
        Line("interest_receivable", INTEREST_RECEIVABLE),
        Line("allowance", ALLOWANCE),
        Total("total_assets", _ASSETS),
        Line("accounts_payable", PAYABLES, -1),
        Line("tax_payable", TAX_PAYABLE, -1),
        Line("accrued_interest_payable", ACCRUED_INTEREST, -1),
        Line("notes_payable", NOTES_PAYABLE, -1),
        Total("total_liabilities", _DEBTS),
        Line("paid_in_capital", PAID_IN_CAPITAL, -1),
        Line("retained_earnings_prior_years", RETAINED_EARNINGS, -1),
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
    CASH,
    {
        (_COLLECT, PRINCIPAL_RECEIVABLE): "collections_principal",
        (_COLLECT, INTEREST_RECEIVABLE): "collections_interest",
        _ISSUE: "equity_proceeds",
        _DRAW: "debt_proceeds",
        _ORIGINATE: "loans_originated",
        _PAY_STAFF: "payroll_paid",
        _PAY_VENDORS: "vendor_payments",
        _INTEREST: "interest_paid",
        _REPAY: "debt_repaid",
        _PAY_TAX: "tax_paid",
    },
)

#: The cash ledger by the nine classes of SPEC section 7.2, which bank statements show.
CASH_LEDGER = CashView(
    CASH,
    {
        _ISSUE: "investor",
        _DRAW: "lender draw",
        _COLLECT: "borrower collection",
        _ORIGINATE: "loan disbursement",
        _PAY_STAFF: "payroll",
        _PAY_VENDORS: "vendor",
        _INTEREST: "lender interest",
        _REPAY: "lender principal",
        _PAY_TAX: "tax",
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

REPORTS = Reports(_INCOME, _POSITION, _FLOWS, _DIRECT, closings=accounts.CLOSE_YEAR.kind)
