"""The lender's double-entry book in cents, with one method for each posting rule J0 to J16.

The arguments of a method are rates and amounts; the balances to which rates apply are read from the
book. Amounts are rounded to cents when they are posted. An entry of zero is not posted.

Source: SPEC sections 6 and 7.
"""

from collections.abc import Iterable

from ledgers.book import Book, Memo, close_year
from ledgers.consolidation import Intercompany
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
    OPENING_MONTH,
    PAID_IN_CAPITAL,
    PAYABLES,
    PAYROLL,
    PRINCIPAL_RECEIVABLE,
    PROVISION,
    RETAINED_EARNINGS,
    TAX_PAYABLE,
    VENDOR_EXPENSE,
    cents,
    dollars,
)

#: Accounts of the owners' equity: capital, and earnings not yet closed.
_OWNED = CHART.of("equity", "income", "expense")
_BEFORE_TAX = tuple(code for code in CHART.temporary if code != INCOME_TAX)


class Books:
    """The lender's books.

    Args:
        opening: Opening balances in cents by account; retained earnings are set to what balances
            them.

    Attributes:
        book: The double-entry book.
        held: Its balances in cents by account, always current.
        intercompany: Cash exchanged with the companies of a group.
    """

    def __init__(self, opening: dict[str, int]) -> None:
        self.book = Book(*CHART)
        # These three are kept because they are used many times a month: the balances, which a
        # property would look up at each use, and the two ways to post an entry.
        self.held = self.book.held
        self._transfer, self._post = self.book.transfer, self.book.post
        self.intercompany = Intercompany(self.book, CASH, "asset")
        lines = {**opening, RETAINED_EARNINGS: -sum(opening.values())}
        if any(lines.values()):
            self._post(OPENING_MONTH, accounts.OPENING, lines)

    # -- balances --------------------------------------------------------------------------------

    @property
    def equity(self) -> int:
        """Book equity, cents: assets less liabilities.

        It is read from the owners' side, which cash from or to a group does not move.
        """
        return -self._sum(_OWNED)

    @property
    def pretax(self) -> int:
        """Income before tax of the year to date, cents."""
        return -self._sum(_BEFORE_TAX)

    def _sum(self, codes: Iterable[str]) -> int:
        held = self.held
        return sum([held[code] for code in codes])

    # -- funding ---------------------------------------------------------------------------------

    def issue(self, month: int, amount: int) -> None:
        """J1: investors pay for new shares."""
        if amount:
            self._transfer(month, accounts.ISSUE_SHARES, CASH, PAID_IN_CAPITAL, amount)

    def draw(self, month: int, amount: int) -> None:
        """J2: a term loan is paid out to the lender against a note."""
        if amount:
            self._transfer(month, accounts.DRAW_NOTE, CASH, NOTES_PAYABLE, amount)

    # -- operations ------------------------------------------------------------------------------

    def collect(self, month: int, rate: float, lost: float) -> None:
        """J3 and J4: collect a share of the billed amounts, charge off a share of the rest.

        Args:
            month: Month of the entries.
            rate: Share of the billed amounts that is collected.
            lost: Share of the uncollected amounts that is charged off.
        """
        principal, principal_left = self._collected(PRINCIPAL_RECEIVABLE, rate)
        interest, interest_left = self._collected(INTEREST_RECEIVABLE, rate)
        self._receive(month, accounts.COLLECT, CASH, principal, interest)
        principal, interest = cents(principal_left * lost), cents(interest_left * lost)
        self._receive(month, accounts.CHARGE_OFF_RECEIVABLES, ALLOWANCE, principal, interest)

    def _receive(self, month: int, memo: Memo, into: str, principal: int, interest: int) -> None:
        """Move receivables to an account; nothing is posted for amounts of zero."""
        if principal or interest:
            lines = {
                into: principal + interest,
                PRINCIPAL_RECEIVABLE: -principal,
                INTEREST_RECEIVABLE: -interest,
            }
            self._post(month, memo, lines)

    def _collected(self, account: str, rate: float) -> tuple[int, float]:
        """Return the amount collected on an account, cents, and the rest, dollars.

        The rest is a difference of two floats in dollars, as in the reference: a quarter of it
        often ends in half a cent, and only this difference rounds as the reference does.
        """
        due = dollars(self.held[account])
        paid = cents(due * rate)
        return paid, due - dollars(paid)

    def charge_off_loans(self, month: int, yearly: float) -> None:
        """J5: charge off a twelfth of the share *yearly* of the loans."""
        lost = cents(dollars(self.held[LOANS]) * yearly / 12)
        if lost:
            self._transfer(month, accounts.CHARGE_OFF_LOANS, ALLOWANCE, LOANS, lost)

    def bill(self, month: int, rate: float, yearly: float) -> int:
        """J6 and J7: bill a share *rate* of principal and a twelfth of the yield *yearly*.

        Both amounts are computed from the principal before J6.

        Returns:
            The month's revenue, cents.
        """
        loans = dollars(self.held[LOANS])
        billed, revenue = cents(loans * rate), cents(loans * yearly / 12)
        if billed:
            self._transfer(month, accounts.BILL_PRINCIPAL, PRINCIPAL_RECEIVABLE, LOANS, billed)
        if revenue:
            self._transfer(
                month, accounts.BILL_INTEREST, INTEREST_RECEIVABLE, INTEREST_REVENUE, revenue
            )
        return revenue

    def originate(self, month: int, amount: int) -> None:
        """J8: pay out loans to new borrowers."""
        if amount:
            self._transfer(month, accounts.ORIGINATE, LOANS, CASH, amount)

    def accrue_vendors(self, month: int, cost: int, expense: int) -> None:
        """J9: accrue cost of revenue and the vendors' part of operating expense."""
        if cost or expense:
            lines = {COST_OF_REVENUE: cost, VENDOR_EXPENSE: expense, PAYABLES: -cost - expense}
            self._post(month, accounts.ACCRUE_VENDORS, lines)

    def pay_staff(self, month: int, amount: int) -> None:
        """J10: pay the payroll."""
        if amount:
            self._transfer(month, accounts.PAY_STAFF, PAYROLL, CASH, amount)

    def pay_vendors(self, month: int, amount: int) -> None:
        """J11: pay the payables of the end of last month."""
        if amount:
            self._transfer(month, accounts.PAY_VENDORS, PAYABLES, CASH, amount)

    def provide(self, month: int, on_loans: float, on_receivables: float) -> None:
        """J12: set the allowance to its required shares; a release is posted as a negative amount.

        Args:
            month: Month of the entry.
            on_loans: Required share of unbilled principal.
            on_receivables: Required share of billed amounts.
        """
        held = self.held
        billed = held[PRINCIPAL_RECEIVABLE] + held[INTEREST_RECEIVABLE]
        required = cents(on_loans * dollars(held[LOANS]) + on_receivables * dollars(billed))
        if lacking := required + held[ALLOWANCE]:
            self._transfer(month, accounts.PROVIDE, PROVISION, ALLOWANCE, lacking)

    # -- notes and tax ---------------------------------------------------------------------------

    def pay_interest(self, month: int, amount: int) -> None:
        """J13: accrue and pay interest on notes."""
        if amount:
            self._transfer(
                month, accounts.ACCRUE_INTEREST, INTEREST_EXPENSE, ACCRUED_INTEREST, amount
            )
            self._transfer(month, accounts.PAY_INTEREST, ACCRUED_INTEREST, CASH, amount)

    def repay(self, month: int, amount: int) -> None:
        """J14: repay principal of notes."""
        if amount:
            self._transfer(month, accounts.REPAY_NOTES, NOTES_PAYABLE, CASH, amount)

    def pay_tax(self, month: int) -> None:
        """J15: pay the tax that was accrued last month."""
        if owed := -self.held[TAX_PAYABLE]:
            self._transfer(month, accounts.PAY_TAX, TAX_PAYABLE, CASH, owed)

    def accrue_tax(self, month: int, amount: int) -> None:
        """J16: accrue tax on this month's income."""
        if amount:
            self._transfer(month, accounts.ACCRUE_TAX, INCOME_TAX, TAX_PAYABLE, amount)

    def close_year(self, month: int) -> None:
        """J0: transfer income and expense to retained earnings, one entry for each account."""
        close_year(self.book, CHART, month, RETAINED_EARNINGS, accounts.CLOSE_YEAR)
