"""Order-up-to rules: the base stock policy and (s, S), both on the correct inventory position."""

from typing import Self

from attrs import define, field
from attrs.validators import ge

from desim import Seat
from desim.errors import UsageError
from models.beer_game.actions import Order
from models.beer_game.observation import Stage
from policies.heuristics.beer_game.levels import order_up_to_level
from policies.heuristics.beer_game.memoryless import order
from policies.heuristics.beer_game.parameters import at_least, parameters
from policies.heuristics.beer_game.position import Position

__all__ = ["OrderUpTo", "ReorderPoint"]


@define
class OrderUpTo:
    """Order what the inventory position lacks to a target: the base stock policy of the textbooks.

    The order is max(0, target - position). The published rule `base_stock` adds the incoming order
    to that, although it has already lowered the position.

    Attributes:
        target: Inventory position to restore, in units, at least 0.
        position: Computes the inventory position.

    Source: E. A. Silver, D. F. Pyke and D. J. Thomas, "Inventory and Production Management in
    Supply Chains", 4th ed., 2017, chapter 6: the (R, S) system with a review each week.
    """

    target: int = field(validator=ge(0))
    position: Position = field(factory=Position)

    @classmethod
    def seated(cls, seat: Seat, target: int | None = None, *, team: bool = False) -> Self:
        """Build the policy for a stage.

        Args:
            seat: A stage of the Beer Game.
            target: Inventory position to restore; None: the tuned level of preset and stage, or
                the formula where there is none (`levels.py`).
            team: Take the level tuned for all stages together, rather than for one stage among
                others that follow the preset's rule.
        """
        params = parameters(seat.model, "order_up_to")
        at_least(0, target=target)
        if team and target is not None:
            raise UsageError("target and team were given; a target is the level, so leave out one")
        level = order_up_to_level(params, seat.role, team=team) if target is None else target
        return cls(level, Position.at(params, seat.role))

    def decide(self, stage: Stage) -> Order:
        """Return the order that restores the target."""
        return order(self.target - self.position.of(stage))


@define
class ReorderPoint:
    """Order up to S once the inventory position is at s or below it: the (s, S) policy.

    An (s, S) policy saves on the number of orders. An order costs nothing in this world, so s =
    S - 1, which is `order_up_to`, is the best s for a stage with a given S and a supplier that
    always has stock.

    Attributes:
        s: Reorder point, in units.
        S: Inventory position to restore, in units, above s.
        position: Computes the inventory position.

    Source: as for `OrderUpTo`: the (R, s, S) system.
    """

    s: int
    S: int = field(validator=ge(0))
    position: Position = field(factory=Position)

    def __attrs_post_init__(self) -> None:
        if self.s >= self.S:
            raise UsageError(f"s={self.s} and S={self.S} were given; s is below S")

    @classmethod
    def seated(cls, seat: Seat, s: int | None = None, S: int | None = None) -> Self:  # noqa: N803
        """Build the policy for a stage.

        Args:
            seat: A stage of the Beer Game.
            s: Reorder point; None: S - 1.
            S: Inventory position to restore; None: as for `order_up_to`.
        """
        params = parameters(seat.model, "reorder_point")
        at_least(0, S=S)
        level = order_up_to_level(params, seat.role) if S is None else S
        return cls(level - 1 if s is None else s, level, Position.at(params, seat.role))

    def decide(self, stage: Stage) -> Order:
        """Return the order that restores S, or none above s."""
        position = self.position.of(stage)
        return order(self.S - position if position <= self.s else 0)
