"""Rules without a forecast: never raise, whenever free, below a floor, once, in a sequence.

None of them submits a request while another is under way. Amounts are dollars. All of them answer
single observations, and lanes with arrays of actions.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import define, field, frozen
from attrs.validators import ge, gt, in_, le, matches_re

from desim.lanes.elementwise import whole
from desim.lanes.lane_columns import CLASS, Array, Columns
from desim.schema import members
from models.enterprise_arena.actions import (
    EQUITY,
    INSTRUMENTS,
    Action,
    Command,
    FundRaisingRequest,
    Pass,
    VerifyCashPosition,
)
from models.enterprise_arena.observation import Month

_PASS, _REQUEST, _LOOK = map(members(Command).index, (Pass, FundRaisingRequest, VerifyCashPosition))


def free(month: Any) -> Any:
    """Return whether no request is under way, of an observation or of each lane."""
    return month.pending_fundraisings == 0


@define
class NeverRaise:
    """Pass in every month.

    Attributes:
        tools: Tool calls a month on average, 0 to 20; they change nothing but the score.
    """

    tools: float = field(default=0.0, validator=[ge(0), le(20)])
    _calls: Any = field(default=0, init=False)

    def decide(self, month: Month) -> Pass | VerifyCashPosition:
        """Call the cash tool until the average up to this month is reached, then pass."""
        return VerifyCashPosition() if self._looks(month) else Pass()

    def decide_all(self, months: Columns) -> Mapping[str, Array]:
        """Call the cash tool or pass in every lane."""
        return {CLASS: np.where(self._looks(months), _LOOK, _PASS)}

    def _looks(self, month: Any) -> Any:
        """Count a call where the average is not reached, and return whether it is made."""
        looks = self._calls < whole(self.tools * (month.current_month + 1))
        self._calls = self._calls + looks
        return looks


class Requests:
    """A rule that requests the same amount in some months, and passes in the others.

    Attributes:
        instrument: "equity" or "debt".
        amount: Dollars, above 0.
    """

    __slots__ = ()

    instrument: str
    amount: float

    def requests(self, month: Any) -> Any:
        """Return whether to submit a request, for an observation or for each lane."""
        raise NotImplementedError

    def decide(self, month: Month) -> Action:
        """Submit a request, or pass."""
        if self.requests(month):
            return FundRaisingRequest(self.instrument, self.amount)
        return Pass()

    def decide_all(self, months: Columns) -> Mapping[str, Array]:
        """Submit a request or pass in every lane."""
        do = np.where(self.requests(months), _REQUEST, _PASS)
        return {CLASS: do, "type": INSTRUMENTS.index(self.instrument), "amount": self.amount}


@frozen
class RaiseWhenFree(Requests):
    """Request the same amount in every month without a request under way.

    Attributes:
        instrument: "equity" or "debt".
        amount: Dollars, above 0.
    """

    instrument: str = field(default=EQUITY, validator=in_(INSTRUMENTS))
    amount: float = field(default=20_000_000.0, validator=gt(0))

    def requests(self, month: Any) -> Any:
        """Return whether no request is under way."""
        return free(month)


@frozen
class RaiseBelow(Requests):
    """Request the same amount in every month that opens with cash below a floor.

    Attributes:
        floor: Dollars; cash of exactly the floor causes no request.
        instrument: "equity" or "debt".
        amount: Dollars, above 0.
    """

    floor: float = 15_000_000.0
    instrument: str = field(default=EQUITY, validator=in_(INSTRUMENTS))
    amount: float = field(default=20_000_000.0, validator=gt(0))

    def requests(self, month: Any) -> Any:
        """Return whether cash is strictly below the floor, and no request is under way."""
        return free(month) & (month.cash_balance < self.floor)


@frozen
class RaiseOnce(Requests):
    """Submit one request, regardless of its outcome.

    Attributes:
        instrument: "equity" or "debt".
        amount: Dollars, above 0.
        month: The month of the request, from 0.
    """

    instrument: str = field(default=EQUITY, validator=in_(INSTRUMENTS))
    amount: float = field(default=20_000_000.0, validator=gt(0))
    month: int = field(default=0, validator=ge(0))

    def requests(self, month: Any) -> Any:
        """Return whether it is the month of the request."""
        return month.current_month == self.month


@define
class EquityThenDebt:
    """Request one instrument after another, each once and as soon as no request is under way.

    Attributes:
        sequence: Instruments with `+` between them: `equity+debt+equity`.
        amount: Dollars of each request, above 0.
    """

    sequence: str = field(
        default="equity+debt", validator=matches_re(r"(equity|debt)(\+(equity|debt))*")
    )
    amount: float = field(default=20_000_000.0, validator=gt(0))
    _submitted: Any = field(default=0, init=False)

    def decide(self, month: Month) -> Action:
        """Request the next instrument of the sequence."""
        instruments = self.sequence.split("+")
        if self._submitted == len(instruments) or not free(month):
            return Pass()
        self._submitted += 1
        return FundRaisingRequest(instruments[self._submitted - 1], self.amount)

    def decide_all(self, months: Columns) -> Mapping[str, Array]:
        """Request the next instrument of the sequence in every lane."""
        places = np.array([INSTRUMENTS.index(name) for name in self.sequence.split("+")])
        due = free(months) & (self._submitted < len(places))
        place = np.where(due, places[np.minimum(self._submitted, len(places) - 1)], 0)
        self._submitted = self._submitted + due
        return {CLASS: np.where(due, _REQUEST, _PASS), "type": place, "amount": self.amount}
