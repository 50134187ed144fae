"""A policy that forecasts cash from closed books and market data, and raises what would lack."""

import math
from collections.abc import Mapping
from statistics import fmean

from attrs import define, field
from attrs.validators import gt

from desim import Policy
from models.enterprise_arena.desk import (
    DEBT,
    EQUITY,
    Action,
    BookClosing,
    CheckMarketData,
    Command,
    FundRaisingRequest,
    Header,
    Month,
    Pass,
    VerifyCashPosition,
)
from models.enterprise_arena.params import YEAR, Raising
from policies.heuristics.enterprise_arena import forecast
from policies.heuristics.enterprise_arena.forecast import Debt, Odds, Yields
from policies.heuristics.enterprise_arena.replies import (
    LESS,
    Course,
    fetch,
    refused,
    values,
    with_position,
)

#: The terms of funding that the paper publishes to its players.
_PUBLISHED = Raising()
#: Months that a request may take.
_WAIT = _PUBLISHED.delay_range[1]
#: Mean share of a request that arrives.
_FILL = fmean(_PUBLISHED.fill_range)
#: Debt over book equity above which debt is penalised.
_LEVERED = _PUBLISHED.leverage_threshold
#: Growth of borrowers within a year that is assumed before any is observed, a share.
_SURGE = 0.6
#: Value of a dollar of debt, in dollars of equity.
_DEBT_WORTH = 0.5
#: Lowest odds at which a request is submitted.
_ODDS = 0.1
#: Months between closings, a divisor of 12.
_EVERY = 6


@define
class Treasurer(Policy):
    """Raise what cash would lack if the worst year of growth began now.

    Every six months the policy closes the books, and measures the yields of the loans in the
    statements a month later. Every month it forecasts cash over eighteen months (twelve of stress,
    and six that a request may take) as if the strongest twelve months of borrower growth so far, or
    60 % if that is more, began now. If the lowest cash is below `floor`, it requests the
    difference, by the instrument with the better odds (see `Odds`). Where a request is refused, its
    later ones are smaller.

    It knows the `rules`: of the terms that the paper publishes (delay, fill, decay by round,
    leverage threshold) the rules text of an officer states the delay alone.

    Attributes:
        floor: Lowest cash that a bad year may leave, dollars.
        least: Smallest request, dollars: a round lowers the odds of the next, whatever its size.
        most: Largest request, a multiple of book equity at the last closing.
    """

    knows = "rules"

    floor: float = 15_000_000.0
    least: float = field(default=20_000_000.0, validator=gt(0))
    most: float = field(default=0.75, validator=gt(0))
    _course: Course[None] | None = field(default=None, init=False, repr=False)
    _headers: list[Month] = field(factory=list, init=False, repr=False)
    _growth: list[float] = field(factory=list, init=False, repr=False)
    _debt: Debt = field(factory=Debt, init=False, repr=False)
    _odds: Odds = field(factory=Odds, init=False, repr=False)
    #: Book equity at the last closing, dollars; None if its statements were not retrieved.
    _equity: float | None = field(default=None, init=False, repr=False)
    _yields: Yields | None = field(default=None, init=False, repr=False)
    _largest: float = field(default=math.inf, init=False, repr=False)

    def decide(self, month: Header) -> Command:
        """Return the next command."""
        if self._course is None:
            self._course = self._months(month)
            return next(self._course)
        return self._course.send(month)

    def _months(self, opened: Header) -> Course[None]:
        while True:
            if not isinstance(opened, Month):
                opened = yield VerifyCashPosition()
            month = with_position(opened)
            self._headers.append(month)
            self._debt.follow(month)
            self._odds.follow(month)
            replied = yield CheckMarketData("Monthly_User_Growth", len(self._growth))
            self._growth += values(replied)
            yield from self._read_documents()
            action = yield from self._act(month)
            opened = yield from self._carry_out(action)

    def _read_documents(self) -> Course[None]:
        now = len(self._headers) - 1
        if not now or now % _EVERY:
            return
        books = yield from fetch(now - 1)
        flows, self._equity = books or (None, None)
        if flows:
            first = (now - 1) - (now - 1) % YEAR
            self._yields = forecast.measure(flows, self._headers[first : now + 1])

    def _act(self, month: Month) -> Course[Action]:
        closing = (month.current_month + 1) % _EVERY == 0
        busy = closing or month.pending_fundraisings
        if not busy and self._yields and self._equity is not None:
            lack = self.floor - self._lowest(month, self._yields)
            if lack > 0:
                return (yield from self._request(month, lack, self._equity))
        return BookClosing() if closing else Pass()

    def _carry_out(self, action: Action) -> Course[Header]:
        """Give the month's action; repeat a refused request with less while the month lasts."""
        while isinstance(action, FundRaisingRequest):
            after = yield action
            if not refused(after):
                self._odds.submitted(action.type)
                return after
            self._largest = LESS * action.amount
            if after.current_month > self._headers[-1].current_month:
                return after
            action = FundRaisingRequest(action.type, self._largest)
        return (yield action)

    def _lowest(self, month: Month, yields: Yields) -> float:
        growth = forecast.stressed(self._growth, _SURGE, YEAR + _WAIT)
        first = self._headers[0]
        loan = first.loan_portfolio_gross / max(1, first.active_users)
        return forecast.lowest(month, yields, self._debt, loan, growth)

    def _request(self, month: Month, lack: float, equity: float) -> Course[Action]:
        """Request what is lacking, with the instrument of the better odds."""
        rates = yield from self._markets(month.current_month)
        wanted = max(lack / _FILL, self.least)
        amount = min(wanted, self.most * max(equity, 0.0), self._largest)
        if rates and amount > 0:
            instrument, odds = self._choose(rates, amount, month.total_debt, equity)
            if odds >= _ODDS:
                return FundRaisingRequest(instrument, amount)
        return Pass()

    def _markets(self, now: int) -> Course[dict[str, float]]:
        """Read the series behind the odds; empty if a call was refused."""
        rates: dict[str, float] = {}
        for series in ("VIX", "SOFR", "Baa_Yield", "Tsy10Y"):
            replied = values((yield CheckMarketData(series, now)))
            if not replied:
                return {}
            rates[series] = replied[-1]
        return rates

    def _choose(
        self, rates: Mapping[str, float], amount: float, debt: float, equity: float
    ) -> tuple[str, float]:
        by_equity = self._odds.equity(rates["VIX"])
        by_debt = self._odds.debt(rates["SOFR"], rates["Baa_Yield"] - rates["Tsy10Y"])
        levered = debt + amount > _LEVERED * equity
        if not levered and by_debt * _DEBT_WORTH > by_equity:
            return DEBT, by_debt
        return EQUITY, by_equity
