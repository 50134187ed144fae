"""Rules without a forecast: never raise, whenever free, below a floor, once, one after another.

A request is made only where none is under way. Amounts are dollars.
"""

import math

from attrs import define, field, frozen
from attrs.validators import ge, gt, in_, le, matches_re

from models.enterprise_arena import FundRaisingRequest, Month, Pass, VerifyCashPosition
from models.enterprise_arena.actions import Action

__all__ = ["EquityThenDebt", "NeverRaise", "RaiseBelow", "RaiseOnce", "RaiseWhenFree"]

TYPES = ("equity", "debt")


def free(month: Month) -> bool:
    """Say whether no request is under way."""
    return not month.pending_fundraisings


@define
class NeverRaise:
    """Pass, every month.

    Attributes:
        tools: Looks at the bank account a month on average, 0 to 20; they change the score alone.
    """

    tools: float = field(default=0.0, validator=[ge(0), le(20)])
    _looks: int = field(default=0, init=False)

    def decide(self, month: Month) -> Pass | VerifyCashPosition:
        """Look as often as the average wants by now, then pass."""
        if self._looks < math.floor(self.tools * (month.current_month + 1)):
            self._looks += 1
            return VerifyCashPosition()
        return Pass()


@frozen
class RaiseWhenFree:
    """Ask for the same amount in every month without a request under way.

    Attributes:
        instrument: "equity" or "debt".
        amount: Dollars, above 0.
    """

    instrument: str = field(default="equity", validator=in_(TYPES))
    amount: float = field(default=20_000_000.0, validator=gt(0))

    def decide(self, month: Month) -> Action:
        """Ask, or wait for the answer."""
        return FundRaisingRequest(self.instrument, self.amount) if free(month) else Pass()


@frozen
class RaiseBelow:
    """Ask for the same amount in every month that opens with too little cash.

    Attributes:
        floor: Dollars; a month that opens with exactly these asks for nothing.
        instrument: "equity" or "debt".
        amount: Dollars, above 0.
    """

    floor: float = 15_000_000.0
    instrument: str = field(default="equity", validator=in_(TYPES))
    amount: float = field(default=20_000_000.0, validator=gt(0))

    def decide(self, month: Month) -> Action:
        """Ask if cash is strictly below the floor."""
        if free(month) and month.cash_balance < self.floor:
            return FundRaisingRequest(self.instrument, self.amount)
        return Pass()


@frozen
class RaiseOnce:
    """Ask once, whatever comes of it.

    Attributes:
        instrument: "equity" or "debt".
        amount: Dollars, above 0.
        month: In which to ask, from 0.
    """

    instrument: str = field(default="equity", validator=in_(TYPES))
    amount: float = field(default=20_000_000.0, validator=gt(0))
    month: int = field(default=0, validator=ge(0))

    def decide(self, month: Month) -> Action:
        """Ask in the one month."""
        if month.current_month == self.month:
            return FundRaisingRequest(self.instrument, self.amount)
        return Pass()


@define
class EquityThenDebt:
    """Ask for one instrument after another, each once and as soon as free, whatever comes of it.

    Attributes:
        sequence: Instruments with `+` between them: `equity+debt+equity`.
        amount: Dollars of each request, above 0.
    """

    sequence: str = field(
        default="equity+debt", validator=matches_re(r"(equity|debt)(\+(equity|debt))*")
    )
    amount: float = field(default=20_000_000.0, validator=gt(0))
    _asked: int = field(default=0, init=False)

    def decide(self, month: Month) -> Action:
        """Ask for the next instrument of the sequence."""
        instruments = self.sequence.split("+")
        if self._asked == len(instruments) or not free(month):
            return Pass()
        self._asked += 1
        return FundRaisingRequest(instruments[self._asked - 1], self.amount)
