"""The inventory position of a stage, and the parameters of a seat, checked.

The position is what is on hand, plus ordered and not received, less owed.
"""

from collections.abc import Callable
from typing import Any, Self

from attrs import Attribute, define

from desim.errors import UsageError
from models.beer_game.params import BeerGameParams
from models.beer_game.rules import Number


@define
class Position:
    """Computes the inventory position from the weekly observations of one stage, in their order.

    Where the supply line holds goods in transit only (preset `firmbench`), orders in the mail and
    orders that the supplier owes are missing in it. The stage knows them all the same: what it has
    ordered less what it has received. The supplier is taken to owe nothing at the first
    observation.

    Attributes:
        mailed: Units ordered before the first observation and not in its supply line; None where
            the supply line of every observation holds all orders.
        on_order: Units ordered and not received; None before the first observation.
    """

    mailed: Number | None = None
    on_order: Number | None = None

    @classmethod
    def at(cls, params: BeerGameParams, role: str) -> Self:
        """Return the position of a stage."""
        if params.supply_line == "ordered" or role == params.stages[-1]:
            return cls()
        return cls(params.flow * (params.order_delay - 1 + params.blind))

    def of(self, stage: Any) -> Any:
        """Return the position in units; called once for each observation of a stage or of lanes."""
        if self.mailed is None:
            return stage.position
        if self.on_order is None:
            self.on_order = stage.supply_line + self.mailed
        else:
            self.on_order = self.on_order + (stage.last_order - stage.incoming_delivery)
        return stage.inventory + self.on_order - stage.backlog


def at_least(least: int) -> Callable[[Any, "Attribute[Any]", float | None], None]:
    """Return a validator of a field; None stands for an argument that was not given."""

    def check(_: object, argument: "Attribute[Any]", value: float | None) -> None:
        if value is not None and value < least:
            name = argument.name
            raise UsageError(f"{name}={value} was given; {name} is at least {least}")

    return check


def parameters(model: object, policy: str) -> BeerGameParams:
    """Return a Beer Game as its parameters; UsageError for another model names the policy."""
    if not isinstance(model, BeerGameParams):
        raise UsageError(f"{policy} reads the Beer Game's demand and plays no other world")
    return model
