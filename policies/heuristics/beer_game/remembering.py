"""Rules that remember earlier weeks: the mean of incoming orders, and Sterman's expectation."""

from collections import deque
from typing import Any

from attrs import define, field
from attrs.setters import NO_OP
from attrs.validators import ge, in_, le, optional

from desim import Seat, lanes
from models.beer_game import rules
from models.beer_game.rules import Number
from policies.heuristics.beer_game.memoryless import OrderingRule, facts, parameters

_share: list[Any] = [ge(0), le(1)]


@define
class MovingAverage(OrderingRule):
    """Order the mean of the last incoming orders and what inventory lacks to the target.

    Attributes:
        weeks: Weeks of the mean, at least 1; before the first week its orders were the initial
            flow.
        target: Units to keep on hand; None: the stage's target inventory.
        alpha: Weight of what inventory lacks, at least 0.
        beta: Weight of the backlog, at least 0.

    Source: reference SPEC section 9, the column of the paper.
    """

    # The orders before the first week.
    knows = "rules"

    weeks: int = field(default=rules.AVERAGED_WEEKS, validator=ge(1))
    target: int | None = field(default=None, validator=optional(ge(0)))
    alpha: float = field(default=1, validator=ge(0))
    beta: float = field(default=1, validator=ge(0))
    _before: Number = field(default=0, init=False, repr=False)
    _past: deque[Number] = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._past = deque(maxlen=self.weeks)

    def seated(self, seat: Seat) -> None:
        """Take the initial flow of the game."""
        self._before = parameters(seat).flow

    def units(self, stage: Any) -> Any:
        """Remember the incoming order and return the units of the rule."""
        if stage.week:
            self._past.append(stage.incoming_order)
        before = (self.weeks - len(self._past)) * self._before
        _, *others = facts(stage, self.target)
        mean = (before + sum(self._past)) / self.weeks
        return rules.typical(mean, *others, alpha=self.alpha, beta=self.beta)


@define
class Sterman(OrderingRule):
    """Anchor on expected demand; adjust for stock and, in part, for the supply line.

    O = max(0, L + alpha (target - S - beta SL)), with S = inventory - backlog, SL the supply line
    and L = theta * incoming order + (1 - theta) * previous L.

    Attributes:
        theta: Weight of the newest order in the expectation, 0 to 1.
        alpha: Share of the gap that is ordered, 0 to 1.
        beta: Share of the supply line that is counted, 0 to 1.
        target: S', desired stock plus beta times desired supply line, units.
        expected: L before the first order, units.
        rounding: "none", or "half_up" to whole units, as the players rounded.

    Source: Sterman 1989; reference SPEC section 10. Defaults: the players' mean estimates.
    """

    theta: float = field(default=0.36, validator=_share)
    alpha: float = field(default=0.26, validator=_share)
    beta: float = field(default=0.34, validator=_share)
    target: float = field(default=17, validator=ge(0))
    # Not checked again each week, which takes as long as the rule.
    expected: float = field(default=4, validator=ge(0), on_setattr=NO_OP)
    rounding: str = field(default="none", validator=in_(("none", "half_up")))

    def units(self, stage: Any) -> Any:
        """Update the expectation and return the units."""
        self.expected = self.theta * stage.incoming_order + (1 - self.theta) * self.expected
        net = stage.inventory - stage.backlog
        gap = self.target - net - self.beta * stage.supply_line
        units = lanes.at_least(0, self.expected + self.alpha * gap)
        return lanes.whole(units + 0.5) if self.rounding == "half_up" else units
