"""The published ordering rules, those of Sterman's study, and a constant order."""

from collections import deque
from collections.abc import Mapping
from typing import Any, ClassVar

from attrs import define, field, frozen
from attrs.setters import NO_OP
from attrs.validators import ge, in_, le, optional

from desim import Policy, Seat, lanes
from desim.core.roles import Knowledge
from desim.errors import UsageError
from desim.lanes import Array, Columns
from models.beer_game import rules
from models.beer_game.params import BeerGameParams
from models.beer_game.rules import LARGEST, Number
from models.beer_game.stage import Order, Stage


def order(units: Number) -> Order:
    """Return an order of *units*, limited to the largest that the world accepts and at least 0."""
    return Order(min(max(0, units), LARGEST))


def facts(stage: Any, target: int | None = None) -> tuple[Any, ...]:
    """Return the five arguments of a published rule; *target* units replace the stage's own."""
    want = stage.target_inventory if target is None else target
    return (stage.incoming_order, stage.inventory, stage.backlog, stage.supply_line, want)


def parameters(seat: Seat) -> BeerGameParams:
    """Return the parameters of the Beer Game; a UsageError for another model."""
    if not isinstance(seat.model, BeerGameParams):
        raise UsageError("a rule that reads the Beer Game's demand plays no other world")
    return seat.model


class OrderingRule(Policy):
    """A rule whose formula takes the figures of one stage, or the arrays of all lanes."""

    __slots__ = ()

    def units(self, stage: Any) -> Any:
        """Return the units to order, which may be negative."""
        raise NotImplementedError

    def decide(self, stage: Stage) -> Order:
        """Return the order of the rule."""
        return order(self.units(stage))

    def decide_all(self, observed: Columns) -> Mapping[str, Array]:
        """Return the order of the rule in every lane."""
        units = self.units(observed)
        return {"quantity": lanes.at_most(LARGEST, lanes.at_least(0, units))}


@frozen
class LastDemand(OrderingRule):
    """Order as many units as were ordered from this stage this week."""

    def units(self, stage: Any) -> Any:
        """Return the incoming order's units."""
        return stage.incoming_order


@frozen
class Constant(OrderingRule):
    """Order the same quantity every week.

    Attributes:
        quantity: Units, at least 0.
    """

    # A quantity is chosen for the demand, which the rules text leaves out.
    knows = "rules"

    quantity: int | float = field(validator=ge(0))

    def units(self, stage: Any) -> Any:
        """Return the quantity, for each lane."""
        if lanes.is_array(stage.inventory):
            return self.quantity + 0 * stage.inventory
        return self.quantity


@frozen
class Typical(OrderingRule):
    """Order the incoming order and what inventory lacks; the supply line is left out.

    Attributes:
        alpha: Weight of what inventory lacks, at least 0.
        beta: Weight of the backlog, at least 0.
    """

    alpha: float = field(default=1, validator=ge(0))
    beta: float = field(default=1, validator=ge(0))

    def units(self, stage: Any) -> Any:
        """Return the units of SPEC section 4, `typical`, with alpha and beta of the paper's A.5."""
        return rules.typical(*facts(stage), alpha=self.alpha, beta=self.beta)


@frozen
class BaseStock(OrderingRule):
    """Order up to a target inventory position, as published: demand counts twice.

    The rule adds the incoming order to what the position lacks, although the order has already
    lowered the position. `order_up_to` does not.

    Attributes:
        target: Inventory position to restore, in units; None: the stage's target inventory.
    """

    # A target is chosen for delays and demand, which the rules text leaves out.
    knows_by: ClassVar[Mapping[str, Knowledge]] = {"target": "rules"}

    target: int | None = field(default=None, validator=optional(ge(0)))

    def units(self, stage: Any) -> Any:
        """Return the units of SPEC section 4, `base_stock`."""
        return rules.base_stock(*facts(stage, self.target))


@frozen
class Smoothing(OrderingRule):
    """Close a part of the gap between target and inventory position each week.

    Attributes:
        weeks: Divisor of the gap; below 1 counts as 1.
    """

    weeks: int = rules.SMOOTHING_WEEKS

    def units(self, stage: Any) -> Any:
        """Return the units of SPEC section 4, `smoothing:T`."""
        return rules.smoothing(*facts(stage), weeks=self.weeks)


@frozen
class Fallback(OrderingRule):
    """Order as the published player does when a language model's reply cannot be read.

    The order is the incoming order plus half of what inventory lacks, 0 to 5,000 units.

    Source: reference SPEC section 6.
    """

    def units(self, stage: Any) -> Any:
        """Return the units of the rule."""
        lacking = 0.5 * (stage.target_inventory - stage.inventory + stage.backlog)
        return lanes.at_most(5_000, stage.incoming_order + lanes.whole(lanes.at_least(0, lacking)))


@define
class MovingAverage(OrderingRule):
    """Order the mean of the last incoming orders and what inventory lacks to the target.

    Attributes:
        weeks: Weeks of the mean, at least 1; before the first week its orders were the initial
            flow.
        alpha: Weight of what inventory lacks, at least 0.
        beta: Weight of the backlog, at least 0.

    Source: reference SPEC section 9, the column of the paper.
    """

    # The orders before the first week.
    knows = "rules"

    weeks: int = field(default=rules.AVERAGED_WEEKS, validator=ge(1))
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
        _, *others = facts(stage)
        mean = (before + sum(self._past)) / self.weeks
        return rules.typical(mean, *others, alpha=self.alpha, beta=self.beta)


@define
class Benchmark(OrderingRule):
    """Sterman's cost-minimising rule of the board game; without a role it plays all stages.

    The order is 4 + S' less the inventory position, with S' = 28, and 20 at the last stage, whose
    lead time is shorter. All four stages of preset `classic` together then cost 204.

    Source: Sterman 1989; reference SPEC section 10.
    """

    seats = "all"
    # The levels are those of the board game's delays and demand.
    knows = "rules"

    _upstream: bool = field(default=False, init=False)

    def seated(self, seat: Seat) -> None:
        """See whether it plays the last stage."""
        self._upstream = seat.role == [*seat.model.roles][-1]

    def units(self, stage: Any) -> Any:
        """Return the units of the rule."""
        return rules.benchmark(*facts(stage), desired=rules.desired(upstream=self._upstream))


_share: list[Any] = [ge(0), le(1)]


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
