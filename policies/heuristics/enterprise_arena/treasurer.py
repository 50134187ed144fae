"""A treasurer reads closed books, watches the market, raises what a bad year would take."""

from collections.abc import Generator, Mapping
from typing import Any

from attrs import define, field
from attrs.validators import ge, gt, in_, le

from models.enterprise_arena import (
    BookClosing,
    CheckMarketData,
    Command,
    FundRaisingRequest,
    Month,
    Pass,
)
from models.enterprise_arena.actions import Action
from policies.heuristics.enterprise_arena import forecast
from policies.heuristics.enterprise_arena.forecast import Debt, Odds, Yields
from policies.heuristics.enterprise_arena.inbox import Books, fetch, values

__all__ = ["Treasurer"]

#: Commands out, months in.
Course = Generator[Command, Month, Any]

YEAR = 12
#: Months a request may take, and the mean share of it that comes: the paper tells its players.
_WAIT, _FILL = 6, 0.85
#: Of book equity: beyond it the paper's spread and penalty on debt begin.
_LEVERED = 0.5


@define
class Treasurer:
    """Raise what cash would lack if the worst year of growth began now.

    Every `every` months the treasurer closes the books and reads the statements a month later:
    from them and the headers it measures what the loan book returns. Every month it reads the
    market's borrower growth. It then forecasts cash over eighteen months (twelve of stress, six
    that a request may take) as if the strongest twelve months the market has shown so far, or
    `surge` if that is more, began at once. Where the lowest cash of this forecast is below `floor`,
    it asks for the difference. It chooses the instrument by odds of its own: from VIX for equity
    (less by a quarter a round), from SOFR and the Baa spread for debt, both mended by how its
    own requests ended; a dollar of debt counts `debt_worth` dollars, for it is paid back.

    It knows what the paper tells every player (delay, fill, the decay by round, the leverage
    threshold); the model's parameters, probabilities and future it does not.

    Attributes:
        floor: Lowest cash that a bad year may leave, dollars.
        surge: Growth of borrowers within a year that is feared before any has been seen, a share.
        least: Smallest request, dollars: a round costs odds whatever its size.
        most: Largest request, a multiple of book equity as of the last closing.
        debt_worth: Of a dollar of debt, in dollars of equity.
        odds: Least odds worth a request.
        every: Months between closings, a divisor of 12.
    """

    floor: float = 15_000_000.0
    surge: float = field(default=0.6, validator=[ge(0), le(10)])
    least: float = field(default=20_000_000.0, validator=gt(0))
    most: float = field(default=0.75, validator=gt(0))
    debt_worth: float = field(default=0.5, validator=[ge(0), le(1)])
    odds: float = field(default=0.1, validator=[ge(0), le(1)])
    every: int = field(default=6, validator=in_((1, 2, 3, 4, 6, 12)))
    _course: Course | None = field(default=None, init=False, repr=False)
    _headers: list[Month] = field(factory=list, init=False, repr=False)
    _growth: list[float] = field(factory=list, init=False, repr=False)
    _debt: Debt = field(factory=Debt, init=False, repr=False)
    _belief: Odds = field(factory=Odds, init=False, repr=False)
    _books: Books | None = field(default=None, init=False, repr=False)
    _yields: Yields | None = field(default=None, init=False, repr=False)

    def decide(self, month: Month) -> Command:
        """Send the month to the course and return its next command."""
        if self._course is None:
            self._course = self._months(month)
            return next(self._course)
        return self._course.send(month)

    def _months(self, month: Month) -> Course:
        while True:
            self._headers.append(month)
            self._debt.follow(month)
            self._belief.follow(month)
            yield from self._watch()
            yield from self._read()
            action = yield from self._act(month)
            month = yield action

    def _watch(self) -> Course:
        """Read the market's growth of borrowers of the months not read yet."""
        told = yield CheckMarketData("Monthly_User_Growth", len(self._growth))
        self._growth += values(told)

    def _read(self) -> Course:
        """Read the statements of the last month, if its books were closed."""
        now = len(self._headers) - 1
        if not now or now % self.every:
            return
        self._books = yield from fetch(now - 1)
        if self._books:
            first = (now - 1) - (now - 1) % YEAR
            self._yields = forecast.measure(self._books.flows, self._headers[first : now + 1])

    def _act(self, month: Month) -> Generator[Command, Month, Action]:
        closing = (month.current_month + 1) % self.every == 0
        if not (closing or month.pending_fundraisings) and self._yields and self._books:
            lack = self.floor - self._lowest(month, self._yields)
            if lack > 0:
                return (yield from self._request(month, lack, self._books.equity))
        return BookClosing() if closing else Pass()

    def _lowest(self, month: Month, yields: Yields) -> float:
        """Return the lowest cash if the worst year began now and nothing were raised."""
        growth = forecast.stressed(self._growth, self.surge, YEAR + _WAIT)
        first = self._headers[0]
        loan = first.loan_portfolio_gross / max(1, first.active_users)
        return forecast.lowest(month, yields, self._debt, loan, growth)

    def _request(
        self, month: Month, lack: float, equity: float
    ) -> Generator[Command, Month, Action]:
        """Choose the instrument that promises more, and ask for what is lacking."""
        seen = yield from self._markets(month.current_month)
        amount = min(max(lack / _FILL, self.least), self.most * max(equity, 0.0))
        if not seen or amount <= 0:
            return Pass()
        instrument, odds = self._choose(seen, amount, month.total_debt, equity)
        if odds < self.odds:
            return Pass()
        self._belief.asked(instrument)
        return FundRaisingRequest(instrument, amount)

    def _markets(self, now: int) -> Generator[Command, Month, dict[str, float]]:
        """Look at what makes money easy or hard to get; nothing if a look was refused."""
        seen: dict[str, float] = {}
        for series in ("VIX", "SOFR", "Baa_Yield", "Tsy10Y"):
            told = values((yield CheckMarketData(series, now)))
            if not told:
                return {}
            seen[series] = told[-1]
        return seen

    def _choose(
        self, seen: Mapping[str, float], amount: float, debt: float, equity: float
    ) -> tuple[str, float]:
        stock = self._belief.equity(seen["VIX"])
        loan = self._belief.debt(seen["SOFR"], seen["Baa_Yield"] - seen["Tsy10Y"])
        levered = debt + amount > _LEVERED * equity
        if not levered and loan * self.debt_worth > stock:
            return "debt", loan
        return "equity", stock
