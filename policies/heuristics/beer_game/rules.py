"""Rules without memory: the published ones, and the two limits, constant and foresight."""

from functools import partial
from typing import Self

from attrs import define, field, frozen
from attrs.validators import ge, optional

from desim import Seat
from desim.errors import UsageError
from desim.world import generator
from models.beer_game import BeerGame, Order, Stage, demand, rules
from models.beer_game.actions import LARGEST
from models.beer_game.observation import Number

__all__ = [
    "BaseStock",
    "Benchmark",
    "Constant",
    "Fallback",
    "Foresight",
    "LastDemand",
    "Smoothing",
    "Typical",
]


def order(units: Number) -> Order:
    """Order what a rule asks for, at least nothing and at most what a world accepts."""
    return Order(min(max(0, units), LARGEST))


def facts(stage: Stage, target: int | None = None) -> tuple[Number, ...]:
    """Return what a published rule works on, with a target of the policy's own if it has one."""
    want = stage.target_inventory if target is None else target
    return (stage.incoming_order, stage.inventory, stage.backlog, stage.supply_line, want)


@frozen
class LastDemand:
    """Order what was ordered from this stage last."""

    def decide(self, stage: Stage) -> Order:
        """Pass the incoming order on."""
        return order(stage.incoming_order)


@frozen
class Constant:
    """Order the same quantity every week.

    Attributes:
        quantity: Units, at least 0.
    """

    quantity: int | float = field(validator=ge(0))

    def decide(self, _: Stage) -> Order:
        """Order the quantity."""
        return order(self.quantity)


@frozen
class Typical:
    """Order the incoming order and what inventory lacks; the supply line is forgotten.

    Attributes:
        target: Units to keep on hand; None: what the stage is told.
    """

    target: int | None = field(default=None, validator=optional(ge(0)))

    def decide(self, stage: Stage) -> Order:
        """Apply SPEC section 4, `typical`."""
        return order(rules.typical(*facts(stage, self.target)))


@frozen
class BaseStock:
    """Order up to a target, counting what is on hand, under way and owed.

    Attributes:
        target: Inventory position to restore; None: what the stage is told.
    """

    target: int | None = field(default=None, validator=optional(ge(0)))

    def decide(self, stage: Stage) -> Order:
        """Apply SPEC section 4, `base_stock`."""
        return order(rules.base_stock(*facts(stage, self.target)))


@frozen
class Smoothing:
    """Close a part of the gap between target and inventory position each week.

    Attributes:
        weeks: The gap is divided by so many; below 1 counts as 1.
        target: Inventory position to restore; None: what the stage is told.
    """

    weeks: int = rules.SMOOTHING_WEEKS
    target: int | None = field(default=None, validator=optional(ge(0)))

    def decide(self, stage: Stage) -> Order:
        """Apply SPEC section 4, `smoothing:T`."""
        return order(rules.smoothing(*facts(stage, self.target), weeks=self.weeks))


@frozen
class Fallback:
    """The published player's answer when a language model's reply cannot be read.

    Half of what inventory and backlog lack is added to the incoming order; 0 to 5,000 units.

    Source: reference SPEC section 6.
    """

    def decide(self, stage: Stage) -> Order:
        """Apply the rule."""
        lacking = 0.5 * (stage.target_inventory - stage.inventory + stage.backlog)
        return order(min(5_000, stage.incoming_order + max(0, int(lacking))))


@frozen
class Benchmark:
    """Sterman's cost-minimising rule of the board game; given without a seat it takes all of them.

    Order 4 + S' less the inventory position, with S' 28, and 20 at the last stage, whose lead time
    is shorter. With it at all four seats of preset `classic` the team costs 204.

    Source: Sterman 1989; reference SPEC section 10.
    """

    seats = "all"
    upstream: bool = False

    @classmethod
    def seated(cls, seat: Seat) -> Self:
        """Sit down, knowing whether it is the last stage."""
        return cls(upstream=seat.role == [*seat.model.roles][-1])

    def decide(self, stage: Stage) -> Order:
        """Apply the rule."""
        return order(rules.benchmark(*facts(stage), upstream=self.upstream))


@define
class Foresight:
    """Order what customers want in the very week of the order: the limit of knowing demand.

    It reads the hidden demand, so it is a yardstick and no rule a player could follow.

    Attributes:
        demand: Units by week.
        ahead: Weeks between the observation and the week it orders for.
    """

    demand: list[int]
    ahead: int

    @classmethod
    def seated(cls, seat: Seat) -> Self:
        """Read the demand that this seed will bring."""
        game = seat.model
        if not isinstance(game, BeerGame):
            raise UsageError("foresight reads the Beer Game's demand and plays no other world")
        draw = partial(generator, seat.seed, "demand")
        return cls(demand.weekly(game.demand, game.horizon, draw), 0 if game.blind else -1)

    def decide(self, stage: Stage) -> Order:
        """Order this week's demand."""
        return order(self.demand[stage.week + self.ahead])
