"""Policies without memory: the published rules, and a constant order."""

from collections.abc import Mapping
from typing import Any

from attrs import define, field, frozen
from attrs.validators import ge, optional

from desim import Policy, Seat, lanes
from desim.core.roles import Knowledge
from desim.errors import UsageError
from desim.lanes import Array, Columns
from models.beer_game import rules
from models.beer_game.params import BeerGameParams
from models.beer_game.rules import LARGEST, Number
from models.beer_game.stage import Order, Stage

#: A target is chosen for delays and demand, which the rules text leaves out.
TARGET_KNOWS: Mapping[str, Knowledge] = {"target": "rules"}


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
        target: Units to keep on hand; None: the stage's target inventory.
        alpha: Weight of what inventory lacks, at least 0.
        beta: Weight of the backlog, at least 0.
    """

    knows_by = TARGET_KNOWS

    target: int | None = field(default=None, validator=optional(ge(0)))
    alpha: float = field(default=1, validator=ge(0))
    beta: float = field(default=1, validator=ge(0))

    def units(self, stage: Any) -> Any:
        """Return the units of SPEC section 4, `typical`, with alpha and beta of the paper's A.5."""
        return rules.typical(*facts(stage, self.target), alpha=self.alpha, beta=self.beta)


@frozen
class BaseStock(OrderingRule):
    """Order up to a target inventory position, as published: demand counts twice.

    The rule adds the incoming order to what the position lacks, although the order has already
    lowered the position. `order_up_to` does not.

    Attributes:
        target: Inventory position to restore, in units; None: the stage's target inventory.
    """

    knows_by = TARGET_KNOWS

    target: int | None = field(default=None, validator=optional(ge(0)))

    def units(self, stage: Any) -> Any:
        """Return the units of SPEC section 4, `base_stock`."""
        return rules.base_stock(*facts(stage, self.target))


@frozen
class Smoothing(OrderingRule):
    """Close a part of the gap between target and inventory position each week.

    Attributes:
        weeks: Divisor of the gap; below 1 counts as 1.
        target: Inventory position to restore, in units; None: the stage's target inventory.
    """

    knows_by = TARGET_KNOWS

    weeks: int = rules.SMOOTHING_WEEKS
    target: int | None = field(default=None, validator=optional(ge(0)))

    def units(self, stage: Any) -> Any:
        """Return the units of SPEC section 4, `smoothing:T`."""
        return rules.smoothing(*facts(stage, self.target), weeks=self.weeks)


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
