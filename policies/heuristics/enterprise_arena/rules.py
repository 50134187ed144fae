"""Rules without a forecast: never raise, whenever free, below a floor, once, in a sequence.

None of them submits a request while another is under way. Amounts are dollars.
"""

import math

from attrs import define, field, frozen
from attrs.validators import ge, gt, in_, le, matches_re

from desim import Policy
from models.enterprise_arena.desk import (
    EQUITY,
    INSTRUMENTS,
    Action,
    FundRaisingRequest,
    Header,
    Pass,
    VerifyCashPosition,
)
from policies.heuristics.enterprise_arena.replies import cash


def free(month: Header) -> bool:
    """Return whether no request is under way."""
    return month.pending_fundraisings == 0


@define
class NeverRaise(Policy):
    """Pass in every month.

    Attributes:
        tools: Tool calls a month on average, 0 to 20; they change nothing but the score.
    """

    tools: float = field(default=0.0, validator=[ge(0), le(20)])
    _calls: int = field(default=0, init=False)

    def decide(self, month: Header) -> Pass | VerifyCashPosition:
        """Call the cash tool until the average up to this month is reached, then pass."""
        if self._calls >= math.floor(self.tools * (month.current_month + 1)):
            return Pass()
        self._calls += 1
        return VerifyCashPosition()


@frozen
class RaiseWhenFree(Policy):
    """Request the same amount in every month without a request under way.

    Attributes:
        instrument: "equity" or "debt".
        amount: Dollars, above 0.
    """

    instrument: str = field(default=EQUITY, validator=in_(INSTRUMENTS))
    amount: float = field(default=20_000_000.0, validator=gt(0))

    def requests(self, month: Header) -> bool:
        """Return whether to submit a request."""
        return free(month)

    def decide(self, month: Header) -> Action | VerifyCashPosition:
        """Submit a request, or pass."""
        if self.requests(month):
            return FundRaisingRequest(self.instrument, self.amount)
        return Pass()


@frozen
class RaiseBelow(RaiseWhenFree):
    """Request the same amount in every month that opens with cash below a floor.

    Attributes:
        instrument: "equity" or "debt".
        amount: Dollars, above 0.
        floor: Dollars; cash of exactly the floor causes no request.
    """

    floor: float = 15_000_000.0

    def requests(self, month: Header) -> bool:
        """Return whether cash is strictly below the floor, and no request is under way."""
        known = cash(month)
        return free(month) and known is not None and known < self.floor

    def decide(self, month: Header) -> Action | VerifyCashPosition:
        """Submit a request or pass; look at the bank account first where the header hides cash."""
        if free(month) and cash(month) is None and month.tool_calls_remaining:
            return VerifyCashPosition()
        return super().decide(month)


@frozen
class RaiseOnce(RaiseWhenFree):
    """Submit one request in the first month, regardless of its outcome.

    Attributes:
        instrument: "equity" or "debt".
        amount: Dollars, above 0.
    """

    def requests(self, month: Header) -> bool:
        """Return whether it is the first month."""
        return month.current_month == 0


@define
class EquityThenDebt(Policy):
    """Request one instrument after another, each once and as soon as no request is under way.

    Attributes:
        sequence: Instruments with `+` between them: `equity+debt+equity`.
        amount: Dollars of each request, above 0.
    """

    sequence: str = field(
        default="equity+debt", validator=matches_re(r"(equity|debt)(\+(equity|debt))*")
    )
    amount: float = field(default=20_000_000.0, validator=gt(0))
    _submitted: int = field(default=0, init=False)

    def decide(self, month: Header) -> Action:
        """Request the next instrument of the sequence."""
        instruments = self.sequence.split("+")
        if self._submitted == len(instruments) or not free(month):
            return Pass()
        self._submitted += 1
        return FundRaisingRequest(instruments[self._submitted - 1], self.amount)
