"""What a treasurer expects: the yields of the book, the worst year so far, cash under stress.

Nothing here is a parameter of the model: yields are measured in closed books and in the headers of
the months, growth in market data, odds on a scale of the treasurer's own.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from attrs import define, field, frozen

from models.enterprise_arena import Month

__all__ = ["Debt", "Odds", "Yields", "lowest", "measure", "stressed", "worst_year"]

YEAR = 12


# -- yields of the book ----------------------------------------------------------------------------


@frozen
class Yields:
    """What a dollar of the loan book did a month, measured over the months of one year.

    Attributes:
        collected: Principal that came back, a share.
        lost: Loans written off, a share.
        kept: Of the interest that the lending rate promises, the share left after vendors,
            payroll and tax.
    """

    collected: float
    lost: float
    kept: float


def measure(flows: Mapping[str, float], headers: Sequence[Month]) -> Yields:
    """Measure the yields of the months that a year-to-date cash flow statement covers.

    Args:
        flows: Its rows, dollars; outflows are negative.
        headers: Of those months, and of the one after them.
    """
    months, after = headers[:-1], headers[-1]
    book = math.fsum(month.loan_portfolio_gross for month in months)
    promised = math.fsum(month.loan_portfolio_gross * month.lending_rate / YEAR for month in months)
    lent, back = -flows["loans_originated"], flows["collections_principal"]
    gone = months[0].loan_portfolio_gross + lent - back - after.loan_portfolio_gross
    earned = math.fsum(
        flows[row]
        for row in ("collections_interest", "vendor_payments", "payroll_paid", "tax_paid")
    )
    return Yields(_share(back, book), _share(gone, book), _share(earned, promised))


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


# -- debt ------------------------------------------------------------------------------------------


@define
class Debt:
    """Debt service as it shows in headers and notifications.

    Attributes:
        rate: Mean contract rate of what was drawn, a share a year.
        instalment: Principal repaid last month, dollars.
    """

    rate: float = 0.0
    instalment: float = 0.0
    _drawn: float = field(default=0.0, init=False)
    _before: float = field(default=0.0, init=False)

    def follow(self, month: Month) -> None:
        """Take in a new month."""
        drawn = 0.0
        for told in month.notifications:
            if told["event"] == "debt_delivered":
                drawn += told["amount"]
                cost = self.rate * self._drawn + told["contract_rate"] * told["amount"]
                self._drawn += told["amount"]
                self.rate = cost / self._drawn
        self.instalment = max(0.0, self._before + drawn - month.total_debt)
        self._before = month.total_debt


# -- growth ----------------------------------------------------------------------------------------


def worst_year(growth: Sequence[float], least: float) -> float:
    """Return the strongest growth of borrowers over twelve months that the market has shown.

    Args:
        growth: Percent a month, from month 0 on.
        least: What is thought possible before it has been seen, a share.

    >>> round(worst_year([0.0, 10.0, 10.0, 0.0], 0.05), 4)
    0.21
    """
    logs = [math.log1p(percent / 100) for percent in growth]
    windows = (math.fsum(logs[at : at + YEAR]) for at in range(len(logs)))
    return max(least, math.expm1(max(windows, default=0.0)))


def stressed(growth: Sequence[float], least: float, months: int) -> list[float]:
    """Return growth, percent a month, if the worst year began now; it is quiet after that."""
    percent = 100 * math.expm1(math.log1p(worst_year(growth, least)) / YEAR)
    return [percent] * min(YEAR, months) + [median(growth or (0.0,))] * max(0, months - YEAR)


def lowest(month: Month, yields: Yields, debt: Debt, loan: float, growth: Sequence[float]) -> float:
    """Return the lowest cash of the months to come, dollars, if nothing is raised.

    Args:
        month: From which the forecast starts.
        yields: Of the loan book.
        debt: And its service.
        loan: Dollars lent to a new borrower.
        growth: Of borrowers in each month to come, percent.
    """
    return min(_cash(month, yields, debt, loan, growth), default=month.cash_balance)


def _cash(
    month: Month, yields: Yields, debt: Debt, loan: float, growth: Sequence[float]
) -> Iterator[float]:
    cash, users, book = month.cash_balance, float(month.active_users), month.loan_portfolio_gross
    owed = month.total_debt
    for percent in growth:
        lent = max(0.0, percent / 100 * users) * loan
        repaid = min(owed, debt.instalment)
        earned = book * month.lending_rate / YEAR * yields.kept
        cash += book * yields.collected + earned - lent - repaid - owed * debt.rate / YEAR
        book += lent - book * (yields.collected + yields.lost)
        users *= 1 + percent / 100
        owed -= repaid
        yield cash


# -- odds ------------------------------------------------------------------------------------------

#: The VIX at which equity is certain, and at which it is out of the question.
_CALM, _PANIC = 10.0, 50.0
#: Money market rate and credit spread together at which debt is out of the question, percent.
_DEAR = 15.0
#: Falls with every round that closed; the paper tells this rule to its players.
_DECAY = 0.75
#: Requests' worth of belief in the scales above.
_TRUST = 4.0


@define
class Odds:
    """What the treasurer believes of a request: a scale of its own, mended by its own outcomes.

    Attributes:
        rounds: Equity rounds closed.
    """

    rounds: int = 0
    _scale: dict[str, float] = field(factory=dict, init=False)
    _hoped: dict[str, float] = field(factory=dict, init=False)
    _won: dict[str, int] = field(factory=dict, init=False)

    def equity(self, vix: float) -> float:
        """Believe that equity is certain in calm and impossible in panic, linear between."""
        ease = min(max((_PANIC - vix) / (_PANIC - _CALM), 0.0), 1.0)
        return self._mended("equity", ease * _DECAY**self.rounds)

    def debt(self, sofr: float, spread: float) -> float:
        """Believe that debt is certain where money and credit cost nothing."""
        return self._mended("debt", min(max(1 - (sofr + spread) / _DEAR, 0.0), 1.0))

    def asked(self, instrument: str) -> None:
        """Remember what the scale promised of a request that is made now."""
        self._hoped[instrument] = self._hoped.get(instrument, 0.0) + self._scale[instrument]

    def follow(self, month: Month) -> None:
        """Take in the outcomes told in a new month."""
        for told in month.notifications:
            instrument, _, delivered = told["event"].partition("_")
            if delivered == "delivered":
                self._won[instrument] = self._won.get(instrument, 0) + 1
                self.rounds += instrument == "equity"

    def _mended(self, instrument: str, scale: float) -> float:
        """Put a scale right by what it has promised so far and what came."""
        self._scale[instrument] = scale
        won, hoped = self._won.get(instrument, 0), self._hoped.get(instrument, 0.0)
        return min(1.0, scale * (won + _TRUST) / (hoped + _TRUST))
