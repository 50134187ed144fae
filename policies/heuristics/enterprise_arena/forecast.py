"""The treasurer's estimates: yields of the loans, the worst year, cash under stress, odds."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median

from attrs import define, field, frozen

from models.enterprise_arena.desk import DEBT, DEBT_DELIVERED, EQUITY, EQUITY_DELIVERED, Month
from models.enterprise_arena.params import YEAR, Raising

# -- yields of the loans ---------------------------------------------------------------------------


@frozen
class Yields:
    """Monthly yields of the loans, measured over the months of one year.

    Attributes:
        collected: Principal collected, a share of the loans.
        lost: Loans charged off, a share of the loans.
        kept: Cash left of interest after vendors, payroll and tax, a share of loans x lending rate.
        fixed: The same in dollars a month where no interest was earned, so 0 or less; otherwise 0.
    """

    collected: float
    lost: float
    kept: float
    fixed: float = 0.0


def measure(flows: Mapping[str, float], headers: Sequence[Month]) -> Yields:
    """Measure the yields of the months that a year-to-date cash flow statement covers, in dollars.

    The headers are those of these months and of the one after them.
    """
    months, after = headers[:-1], headers[-1]
    loans = math.fsum(month.loan_portfolio_gross for month in months)
    interest = math.fsum(month.loan_portfolio_gross * month.lending_rate / YEAR for month in months)
    lent, collected = -flows["loans_originated"], flows["collections_principal"]
    lost = months[0].loan_portfolio_gross + lent - collected - after.loan_portfolio_gross
    kept = math.fsum(
        flows[row]
        for row in ("collections_interest", "vendor_payments", "payroll_paid", "tax_paid")
    )
    fixed = 0.0 if interest else _share(kept, len(months))
    return Yields(_share(collected, loans), _share(lost, loans), _share(kept, interest), fixed)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


@define
class Debt:
    """Debt service, measured from headers and notifications.

    Attributes:
        rate: Mean contract rate of the notes drawn, a share a year.
        instalment: Principal repaid last month, dollars.
    """

    rate: float = 0.0
    instalment: float = 0.0
    _drawn: float = field(default=0.0, init=False)
    _before: float = field(default=0.0, init=False)

    def follow(self, month: Month) -> None:
        """Update with the header of a new month."""
        drawn = 0.0
        for notification in month.notifications:
            if notification["event"] == DEBT_DELIVERED:
                amount = notification["amount"]
                drawn += amount
                cost = self.rate * self._drawn + notification["contract_rate"] * amount
                self._drawn += amount
                self.rate = cost / self._drawn
        self.instalment = max(0.0, self._before + drawn - month.total_debt)
        self._before = month.total_debt


def stressed(growth: Sequence[float], least: float, months: int) -> list[float]:
    """Return growth as in the strongest twelve months of the data from now on, then its median.

    Args:
        growth: Growth of borrowers in market data from month 0 on, percent a month, as returned.
        least: The lowest growth over the first twelve months, a share.
        months: Months to return.
    """
    logs = [math.log1p(percent / 100) for percent in growth]
    windows = (math.fsum(logs[at : at + YEAR]) for at in range(len(logs)))
    worst = max(least, math.expm1(max(windows, default=0.0)))
    percent = 100 * math.expm1(math.log1p(worst) / YEAR)
    return [percent] * min(YEAR, months) + [median(growth or (0.0,))] * max(0, months - YEAR)


def lowest(month: Month, yields: Yields, debt: Debt, loan: float, growth: Sequence[float]) -> float:
    """Return the lowest forecast cash, dollars, if no money is raised.

    Args:
        month: The present header.
        yields: The yields of the loans.
        debt: The debt service.
        loan: Dollars lent to a new borrower.
        growth: Growth of borrowers in each month of the forecast, percent.
    """
    cash, users, loans = month.cash_balance, float(month.active_users), month.loan_portfolio_gross
    owed, least = month.total_debt, math.inf
    for percent in growth:
        lent = max(0.0, percent / 100 * users) * loan
        repaid = min(owed, debt.instalment)
        kept = yields.fixed + loans * month.lending_rate / YEAR * yields.kept
        cash += loans * yields.collected + kept - lent - repaid - owed * debt.rate / YEAR
        loans += lent - loans * (yields.collected + yields.lost)
        users *= 1 + percent / 100
        owed -= repaid
        least = min(least, cash)
    return least if growth else month.cash_balance


# -- odds ------------------------------------------------------------------------------------------

#: The VIX up to which equity is taken as certain, and from which as impossible.
_CALM, _PANIC = 10.0, 50.0
#: Sum of SOFR and credit spread from which debt is taken as impossible, percent.
_EXPENSIVE = 15.0
#: Factor on the odds of equity for every round closed; published by the paper.
_DECAY = Raising().round_decay
#: The weight of the scales above against outcomes, in requests.
_PRIOR = 4.0
#: The instrument whose money has arrived, by the event of a notification.
_DELIVERED = {EQUITY_DELIVERED: EQUITY, DEBT_DELIVERED: DEBT}


@define
class Odds:
    """The treasurer's estimate of the odds of a request: its own scale, corrected by outcomes.

    The correction is (successes + prior) / (odds of all requests by the scale + prior).

    Attributes:
        rounds: Equity rounds closed.
    """

    rounds: int = 0
    _scale: dict[str, float] = field(factory=dict, init=False)
    _expected: dict[str, float] = field(factory=lambda: defaultdict(float), init=False)
    _won: dict[str, int] = field(factory=lambda: defaultdict(int), init=False)

    def equity(self, vix: float) -> float:
        """Return the odds of equity: linear in VIX, less by the decay for each round closed."""
        ease = min(max((_PANIC - vix) / (_PANIC - _CALM), 0.0), 1.0)
        return self._corrected(EQUITY, ease * _DECAY**self.rounds)

    def debt(self, sofr: float, spread: float) -> float:
        """Return the odds of debt: linear in the sum of SOFR and credit spread, both percent."""
        return self._corrected(DEBT, min(max(1 - (sofr + spread) / _EXPENSIVE, 0.0), 1.0))

    def submitted(self, instrument: str) -> None:
        """Count a request with the odds that its scale returned last."""
        self._expected[instrument] += self._scale[instrument]

    def follow(self, month: Month) -> None:
        """Count the outcomes of which a new month notifies."""
        for notification in month.notifications:
            if instrument := _DELIVERED.get(notification["event"]):
                self._won[instrument] += 1
                self.rounds += instrument == EQUITY

    def _corrected(self, instrument: str, scale: float) -> float:
        self._scale[instrument] = scale
        odds = scale * (self._won[instrument] + _PRIOR) / (self._expected[instrument] + _PRIOR)
        return min(1.0, odds)
