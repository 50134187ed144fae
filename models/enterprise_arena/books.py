"""The lender's double-entry book in cents: its accounts, and the posting rules J0 to J16 as data.

Source: SPEC sections 6 and 7.
"""

from typing import NamedTuple

from ledgers.book import Book, Memo, close_year
from ledgers.chart import Account, Chart
from ledgers.consolidation import Intercompany

CASH = "1000"
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
#: Accounts of the owners' equity: capital, and earnings not yet closed.
_OWNED = CHART.of("equity", "income", "expense")
_BEFORE_TAX = tuple(code for code in CHART.temporary if code != INCOME_TAX)

#: The month of the opening entry: one before month 0, so that `balance(..., at=-1)` returns the
#: opening balance.
OPENING_MONTH = -1

# -- posting rules ---------------------------------------------------------------------------------


class Rule(NamedTuple):
    """A posting rule of two lines: the debit of one account and the credit of another."""

    memo: Memo
    debit: str
    credit: str

    @property
    def kind(self) -> str:
        """The kind of its entries: "J8"."""
        return self.memo.kind


def _rule(kind: str, text: str, debit: str, credit: str) -> Rule:
    return Rule(Memo(f"{kind} {text}", kind), debit, credit)


ISSUE_SHARES = _rule("J1", "equity round settles", CASH, PAID_IN_CAPITAL)
DRAW_NOTE = _rule("J2", "term loan drawn", CASH, NOTES_PAYABLE)
CHARGE_OFF_LOANS = _rule("J5", "charge-off of defaulted loans", ALLOWANCE, LOANS)
BILL_PRINCIPAL = _rule("J6", "scheduled principal billed", PRINCIPAL_RECEIVABLE, LOANS)
BILL_INTEREST = _rule("J7", "interest accrued and billed", INTEREST_RECEIVABLE, INTEREST_REVENUE)
ORIGINATE = _rule("J8", "loans originated to new borrowers", LOANS, CASH)
PAY_STAFF = _rule("J10", "payroll paid", PAYROLL, CASH)
PAY_VENDORS = _rule("J11", "payment of prior-month payables", PAYABLES, CASH)
PROVIDE = _rule("J12", "provision to required allowance", PROVISION, ALLOWANCE)
ACCRUE_INTEREST = _rule("J13", "interest on notes accrued", INTEREST_EXPENSE, ACCRUED_INTEREST)
PAY_INTEREST = _rule("J13", "interest on notes paid", ACCRUED_INTEREST, CASH)
REPAY_NOTES = _rule("J14", "scheduled note principal paid", NOTES_PAYABLE, CASH)
PAY_TAX = _rule("J15", "tax of the prior month paid", TAX_PAYABLE, CASH)
ACCRUE_TAX = _rule("J16", "income tax accrued", INCOME_TAX, TAX_PAYABLE)

# Rules of more lines.
OPENING = Memo("opening balances", "opening")
CLOSE_YEAR = Memo("J0 year-end close of income and expense accounts to retained earnings", "J0")
COLLECT = Memo("J3 collections on receivables billed earlier", "J3")
CHARGE_OFF_RECEIVABLES = Memo("J4 charge-off of part of the uncollected receivables", "J4")
ACCRUE_VENDORS = Memo("J9 cost of revenue and vendor expense accrued", "J9")


def cents(amount: float) -> int:
    """Return dollars rounded to cents, halves to even."""
    return round(amount * 100)


def dollars(amount: int) -> float:
    """Return cents in dollars."""
    return amount / 100


class Books:
    """The lender's books; amounts are cents, and an entry of zero is not posted.

    The balances to which the rates of a rule apply are read from the book.

    Args:
        opening: Opening balances by account; retained earnings are set to what balances them.

    Attributes:
        book: The double-entry book.
        held: Its balances by account, always current.
        intercompany: Cash exchanged with the companies of a group.
    """

    def __init__(self, opening: dict[str, int]) -> None:
        self.book = Book(*CHART)
        self.held = self.book.held  # kept, because it is read many times a month
        self.intercompany = Intercompany(self.book, CASH, "asset")
        lines = {**opening, RETAINED_EARNINGS: -sum(opening.values())}
        if any(lines.values()):
            self.book.post(OPENING_MONTH, OPENING, lines)

    @property
    def equity(self) -> int:
        """Book equity, read from the owners' side, which cash from or to a group does not move."""
        held = self.held
        return -sum([held[code] for code in _OWNED])

    @property
    def pretax(self) -> int:
        """Income before tax of the year to date."""
        held = self.held
        return -sum([held[code] for code in _BEFORE_TAX])

    def post(self, month: int, rule: Rule, amount: int) -> None:
        """Post a rule of two lines."""
        if amount:
            self.book.transfer(month, rule.memo, rule.debit, rule.credit, amount)

    def collect(self, month: int, rate: float, lost: float) -> None:
        """J3 and J4: collect a share of the bills, charge off a share *lost* of the rest."""
        principal, principal_left = self._collected(PRINCIPAL_RECEIVABLE, rate)
        interest, interest_left = self._collected(INTEREST_RECEIVABLE, rate)
        self._receive(month, COLLECT, CASH, principal, interest)
        principal, interest = cents(principal_left * lost), cents(interest_left * lost)
        self._receive(month, CHARGE_OFF_RECEIVABLES, ALLOWANCE, principal, interest)

    def _collected(self, account: str, rate: float) -> tuple[int, float]:
        """Return the amount collected on an account, cents, and the rest, dollars.

        The rest is a difference of two floats in dollars, as in the reference: a quarter of it
        often ends in half a cent, and only this difference rounds as the reference does.
        """
        due = dollars(self.held[account])
        paid = cents(due * rate)
        return paid, due - dollars(paid)

    def _receive(self, month: int, memo: Memo, into: str, principal: int, interest: int) -> None:
        if principal or interest:
            lines = {
                into: principal + interest,
                PRINCIPAL_RECEIVABLE: -principal,
                INTEREST_RECEIVABLE: -interest,
            }
            self.book.post(month, memo, lines)

    def charge_off_loans(self, month: int, yearly: float) -> None:
        """J5: charge off a twelfth of the share *yearly* of the loans."""
        self.post(month, CHARGE_OFF_LOANS, cents(dollars(self.held[LOANS]) * yearly / 12))

    def bill(self, month: int, rate: float, yearly: float) -> int:
        """J6 and J7: bill a share *rate* of principal and a twelfth of the yield *yearly*.

        Both amounts are computed from the principal before J6; the second, the month's revenue, is
        returned.
        """
        loans = dollars(self.held[LOANS])
        revenue = cents(loans * yearly / 12)
        self.post(month, BILL_PRINCIPAL, cents(loans * rate))
        self.post(month, BILL_INTEREST, revenue)
        return revenue

    def accrue_vendors(self, month: int, cost: int, expense: int) -> None:
        """J9: accrue cost of revenue and the vendors' part of operating expense."""
        if cost or expense:
            lines = {COST_OF_REVENUE: cost, VENDOR_EXPENSE: expense, PAYABLES: -cost - expense}
            self.book.post(month, ACCRUE_VENDORS, lines)

    def provide(self, month: int, on_loans: float, on_receivables: float) -> None:
        """J12: set the allowance to its required shares; a release is a negative amount."""
        held = self.held
        billed = held[PRINCIPAL_RECEIVABLE] + held[INTEREST_RECEIVABLE]
        required = cents(on_loans * dollars(held[LOANS]) + on_receivables * dollars(billed))
        self.post(month, PROVIDE, required + held[ALLOWANCE])

    def close_year(self, month: int) -> None:
        """J0: transfer income and expense to retained earnings, one entry for each account."""
        close_year(self.book, CHART, month, RETAINED_EARNINGS, CLOSE_YEAR)
