"""The chart of accounts and the posting rules J0 to J16 of the SPEC, as data.

Sources: SPEC section 7.1 (chart), sections 6 and 7 (posting rules).
"""

from ledgers.book import Memo
from ledgers.chart import Account, Chart
from ledgers.consolidation import ACCOUNT, KIND

# -- accounts --------------------------------------------------------------------------------------

CASH = "1000"
#: Principal of loans that is not billed yet.
LOANS = "1100"
PRINCIPAL_RECEIVABLE = "1110"
INTEREST_RECEIVABLE = "1120"
ALLOWANCE = "1190"
PAYABLES = "2000"
TAX_PAYABLE = "2100"
ACCRUED_INTEREST = "2110"
NOTES_PAYABLE = "2200"
PAID_IN_CAPITAL = "3000"
RETAINED_EARNINGS = "3900"
INTEREST_REVENUE = "4000"
COST_OF_REVENUE = "5000"
PAYROLL = "5100"
VENDOR_EXPENSE = "5200"
PROVISION = "5300"
INTEREST_EXPENSE = "5400"
INCOME_TAX = "5500"

CHART = Chart(
    (
        Account(CASH, "Cash", "asset"),
        Account(LOANS, "Loans receivable, not yet billed", "asset"),
        Account(PRINCIPAL_RECEIVABLE, "Principal receivable, billed", "asset"),
        Account(INTEREST_RECEIVABLE, "Interest receivable, billed", "asset"),
        Account(ALLOWANCE, "Allowance for credit losses", "contra_asset"),
        Account(PAYABLES, "Accounts payable", "liability"),
        Account(TAX_PAYABLE, "Income tax payable", "liability"),
        Account(ACCRUED_INTEREST, "Accrued interest payable", "liability"),
        Account(NOTES_PAYABLE, "Notes payable", "liability"),
        Account(PAID_IN_CAPITAL, "Common stock and paid-in capital", "equity"),
        Account(RETAINED_EARNINGS, "Retained earnings", "equity"),
        Account(INTEREST_REVENUE, "Interest revenue", "income"),
        Account(COST_OF_REVENUE, "Cost of revenue", "expense"),
        Account(PAYROLL, "Payroll", "expense"),
        Account(VENDOR_EXPENSE, "Vendor operating expense", "expense"),
        Account(PROVISION, "Provision for credit losses", "expense"),
        Account(INTEREST_EXPENSE, "Interest expense", "expense"),
        Account(INCOME_TAX, "Income tax expense", "expense"),
    )
)

#: The account with the companies of a group, which the first entry with one of them adds to a book.
INTERCOMPANY = ACCOUNT

# -- posting rules ---------------------------------------------------------------------------------

#: The month of the opening entry: one before month 0, so that `balance(..., at=-1)` returns the
#: opening balance.
OPENING_MONTH = -1

OPENING = Memo("opening balances", "opening")
CLOSE_YEAR = Memo("J0 year-end close of income and expense accounts to retained earnings", "J0")
ISSUE_SHARES = Memo("J1 equity round settles", "J1")
DRAW_NOTE = Memo("J2 term loan drawn", "J2")
COLLECT = Memo("J3 collections on receivables billed earlier", "J3")
CHARGE_OFF_RECEIVABLES = Memo("J4 charge-off of part of the uncollected receivables", "J4")
CHARGE_OFF_LOANS = Memo("J5 charge-off of defaulted loans", "J5")
BILL_PRINCIPAL = Memo("J6 scheduled principal billed", "J6")
BILL_INTEREST = Memo("J7 interest accrued and billed", "J7")
ORIGINATE = Memo("J8 loans originated to new borrowers", "J8")
ACCRUE_VENDORS = Memo("J9 cost of revenue and vendor expense accrued", "J9")
PAY_STAFF = Memo("J10 payroll paid", "J10")
PAY_VENDORS = Memo("J11 payment of prior-month payables", "J11")
PROVIDE = Memo("J12 provision to required allowance", "J12")
ACCRUE_INTEREST = Memo("J13 interest on notes accrued", "J13")
PAY_INTEREST = Memo("J13 interest on notes paid", "J13")
REPAY_NOTES = Memo("J14 scheduled note principal paid", "J14")
PAY_TAX = Memo("J15 tax of the prior month paid", "J15")
ACCRUE_TAX = Memo("J16 income tax accrued", "J16")

#: The kind of the entries with companies of a group; the SPEC has no rule for them.
INTERCOMPANY_CASH = KIND

# -- money -----------------------------------------------------------------------------------------


def cents(amount: float) -> int:
    """Return dollars rounded to cents, halves to even."""
    return round(amount * 100)


def dollars(amount: int) -> float:
    """Return cents in dollars."""
    return amount / 100
