"""Sterman's anchoring and adjustment: the ordering rule estimated from human players."""

import math
from typing import Any

from attrs import define, field
from attrs.setters import NO_OP
from attrs.validators import ge, in_, le

from models.beer_game.actions import Order
from models.beer_game.observation import Stage
from policies.heuristics.beer_game.memoryless import order

_share: list[Any] = [ge(0), le(1)]


@define
class Sterman:
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

    def decide(self, stage: Stage) -> Order:
        """Update the expectation and return the order."""
        self.expected = self.theta * stage.incoming_order + (1 - self.theta) * self.expected
        net = stage.inventory - stage.backlog
        gap = self.target - net - self.beta * stage.supply_line
        units = max(0, self.expected + self.alpha * gap)
        return order(math.floor(units + 0.5) if self.rounding == "half_up" else units)
