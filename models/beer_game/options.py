"""Sensible orders at this moment, with their worth."""

from typing import TYPE_CHECKING

from desim import Option
from models.beer_game.actions import LARGEST, Order
from models.beer_game.observation import Number, Stage

if TYPE_CHECKING:
    from models.beer_game.params import BeerGame

__all__ = ["neutral", "options"]


def options(game: "BeerGame", stage: Stage) -> list[Option]:
    """Return orders from nothing to twice the demand, and the one that fills the pipeline.

    The worth of an order is minus the cost of the week in which it can first arrive, if demand
    stays as it is and everything under way has arrived by then.
    """
    demand = int(stage.incoming_order)
    weeks = lead_time(game, stage.role)
    filling = max(0, int(demand * weeks - stage.position))
    wished = {0, demand // 2, demand, demand * 3 // 2, demand * 2, filling}
    quantities = {min(units, LARGEST) for units in wished}
    return [_option(game, stage, quantity, weeks) for quantity in sorted(quantities)]


def neutral(stage: Stage) -> Order:
    """Pass the order on that has come in."""
    return Order(min(stage.incoming_order, LARGEST))


def lead_time(game: "BeerGame", role: str) -> int:
    """Weeks of demand between this order and its arrival, if the supplier has stock."""
    if role == game.stages[-1]:
        return game.production_weeks + game.blind
    return game.order_delay + game.ship_delay + game.blind


def _option(game: "BeerGame", stage: Stage, quantity: int, weeks: int) -> Option:
    stock = stage.position + quantity - stage.incoming_order * weeks
    return Option(
        Order(quantity), -_week_cost(game, stock), note=f"leaves {stock:g} in {weeks} weeks"
    )


def _week_cost(game: "BeerGame", stock: Number) -> float:
    holding = max(game.minimum_holding_cost, game.holding_cost * max(0, stock))
    return holding + game.backlog_cost * max(0, -stock)
