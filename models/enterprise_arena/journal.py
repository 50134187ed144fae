"""The posting rules J0 to J16 of SPEC sections 6 and 7, on one double-entry book in cents.

A rule is told rates and amounts; what they apply to it reads from the book, and from nowhere else.
Amounts are rounded to cents when posted. An entry of nothing is not posted.
"""

from collections.abc import Iterable

from ledgers.chart import Account, Chart

__all__ = ["CHART", "OPENING_MONTH", "Books", "cents", "dollars"]

#: The chart of accounts (SPEC section 7.1).
CHART = Chart(
    (
        Account("1000", "Cash", "asset"),
        Account("1100", "Loans receivable, not yet billed", "asset"),
        Account("1110", "Principal receivable, billed", "asset"),
        Account("1120", "Interest receivable, billed", "asset"),
        Account("1190", "Allowance for credit losses", "contra_asset"),
        Account("2000", "Accounts payable", "liability"),
        Account("2100", "Income tax payable", "liability"),
        Account("2110", "Accrued interest payable", "liability"),
        Account("2200", "Notes payable", "liability"),
        Account("3000", "Common stock and paid-in capital", "equity"),
        Account("3900", "Retained earnings", "equity"),
        Account("4000", "Interest revenue", "income"),
        Account("5000", "Cost of revenue", "expense"),
        Account("5100", "Payroll", "expense"),
        Account("5200", "Vendor operating expense", "expense"),
        Account("5300", "Provision for credit losses", "expense"),
        Account("5400", "Interest expense", "expense"),
        Account("5500", "Income tax expense", "expense"),
    )
)
_NET_ASSETS = CHART.of("asset", "contra_asset", "liability")
_BEFORE_TAX = tuple(code for code in CHART.temporary if code != "5500")

#: The opening entry stands before month 0, so that `balance(..., at=-1)` is the opening balance.
OPENING_MONTH = -1


def cents(amount: float) -> int:
    """Round dollars to cents, halves to even."""
    return round(amount * 100)


def dollars(amount: int) -> float:
    """Return cents in dollars."""
    return amount / 100


class Books:
    """The company's books.

    Args:
        opening: Cents by account; retained earnings are what balances the rest.
    """

    def __init__(self, opening: dict[str, int]) -> None:
        self.book = CHART.book()
        # Read many times a month: the live view is looked into without a call.
        self.held = self.book.held
        lines = {**opening, "3900": -sum(opening.values())}
        self._post(OPENING_MONTH, "opening balances", lines)

    # -- readings --------------------------------------------------------------------------------

    @property
    def equity(self) -> int:
        """Book equity, cents: assets less liabilities."""
        return self._sum(_NET_ASSETS)

    @property
    def pretax(self) -> int:
        """Income before tax of the year to date, cents."""
        return -self._sum(_BEFORE_TAX)

    def _sum(self, accounts: Iterable[str]) -> int:
        held = self.held
        return sum([held[account] for account in accounts])

    # -- funding ---------------------------------------------------------------------------------

    def issue(self, month: int, cents: int) -> None:
        """J1: investors pay in."""
        self._move(month, "J1 equity round settles", "1000", "3000", cents)

    def draw(self, month: int, cents: int) -> None:
        """J2: a lender pays out a term loan."""
        self._move(month, "J2 term loan drawn", "1000", "2200", cents)

    # -- operations ------------------------------------------------------------------------------

    def collect(self, month: int, rate: float, lost: float) -> None:
        """J3 and J4: of what was billed *rate* comes in; *lost* of the rest is written off."""
        principal, stayed = self._collected("1110", rate)
        interest, late = self._collected("1120", rate)
        lines = {"1000": principal + interest, "1110": -principal, "1120": -interest}
        self._post(month, "J3 collections on receivables billed earlier", lines)
        principal, interest = cents(stayed * lost), cents(late * lost)
        lines = {"1190": principal + interest, "1110": -principal, "1120": -interest}
        self._post(month, "J4 charge-off of part of the uncollected receivables", lines)

    def _collected(self, account: str, rate: float) -> tuple[int, float]:
        """Return what comes in on an account, cents, and what stays, dollars.

        A quarter of whole cents is often half a cent too many; the reference rounds it as the
        difference of two floats in dollars falls, and so does this.
        """
        due = dollars(self.held[account])
        paid = cents(due * rate)
        return paid, due - dollars(paid)

    def write_off_loans(self, month: int, yearly: float) -> None:
        """J5: a twelfth of the share *yearly* of the book defaults."""
        lost = cents(dollars(self.held["1100"]) * yearly / 12)
        self._move(month, "J5 charge-off of defaulted loans", "1190", "1100", lost)

    def bill(self, month: int, rate: float, yearly: float) -> int:
        """J6 and J7: bill a share *rate* of principal and a twelfth of the yield *yearly*.

        Both are figured on the principal before either is posted.

        Returns:
            The month's revenue, cents.
        """
        loans = dollars(self.held["1100"])
        billed, revenue = cents(loans * rate), cents(loans * yearly / 12)
        self._move(month, "J6 scheduled principal billed", "1110", "1100", billed)
        self._move(month, "J7 interest accrued and billed", "1120", "4000", revenue)
        return revenue

    def lend(self, month: int, cents: int) -> None:
        """J8: new borrowers are paid out."""
        self._move(month, "J8 loans originated to new borrowers", "1100", "1000", cents)

    def accrue_vendors(self, month: int, cost: int, expense: int) -> None:
        """J9: vendors have earned the cost of revenue and their part of operating expense."""
        lines = {"5000": cost, "5200": expense, "2000": -cost - expense}
        self._post(month, "J9 cost of revenue and vendor expense accrued", lines)

    def pay_staff(self, month: int, cents: int) -> None:
        """J10: payroll."""
        self._move(month, "J10 payroll paid", "5100", "1000", cents)

    def pay_vendors(self, month: int, cents: int) -> None:
        """J11: what was owed to vendors at the end of last month."""
        self._move(month, "J11 payment of prior-month payables", "2000", "1000", cents)

    def provide(self, month: int, on_loans: float, on_receivables: float) -> None:
        """J12: bring the allowance to its required shares; a release is posted in reverse."""
        loans, billed = self.held["1100"], self.held["1110"] + self.held["1120"]
        required = cents(on_loans * dollars(loans) + on_receivables * dollars(billed))
        change = required + self.held["1190"]
        self._move(month, "J12 provision to required allowance", "5300", "1190", change)

    # -- notes and tax ---------------------------------------------------------------------------

    def pay_interest(self, month: int, cents: int) -> None:
        """J13: interest on notes, accrued and paid."""
        self._move(month, "J13 interest on notes accrued", "5400", "2110", cents)
        self._move(month, "J13 interest on notes paid", "2110", "1000", cents)

    def repay(self, month: int, cents: int) -> None:
        """J14: principal on notes."""
        self._move(month, "J14 scheduled note principal paid", "2200", "1000", cents)

    def pay_tax(self, month: int) -> None:
        """J15: the tax accrued last month."""
        due = -self.held["2100"]
        self._move(month, "J15 tax of the prior month paid", "2100", "1000", due)

    def accrue_tax(self, month: int, cents: int) -> None:
        """J16: tax on this month's income."""
        self._move(month, "J16 income tax accrued", "5500", "2100", cents)

    def close_year(self, month: int) -> None:
        """J0: income and expense move to retained earnings, account by account."""
        text = "J0 year-end close of income and expense accounts to retained earnings"
        for account in CHART.temporary:
            balance = self.held[account]
            self._post(month, text, {account: -balance, "3900": balance})

    def _move(self, month: int, text: str, debit: str, credit: str, cents: int) -> None:
        if cents:
            self.book.transfer(month, text, debit, credit, cents)

    def _post(self, month: int, text: str, lines: dict[str, int]) -> None:
        if any(lines.values()):
            self.book.post(month, text, **lines)
