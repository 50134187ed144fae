"""Sensible orders for an observation, each with an estimate of its value; their usual range."""

from collections.abc import Mapping

from attrs import evolve

from desim import Option
from desim.show.column import Column
from models.beer_game import demand
from models.beer_game.actions import LARGEST, Number, Order
from models.beer_game.observation import Stage
from models.beer_game.params import BeerGameParams

#: Stocks or demands of a week that an order may have before a person is asked to confirm it.
_USUAL = 5


def options(params: BeerGameParams, stage: Stage) -> list[Option]:
    """Return orders from nothing to twice the demand, and the one that fills the pipeline.

    The value of an order is minus the cost, in money, of one week: the first in which a change of
    the order shows in full, if the stage places the same order each week until this one arrives.
    Demand is assumed to stay as it is, and everything under way to arrive by then.

    Why not the week in which this order alone arrives: its best order moves by the lead time plus
    one for each unit by which demand moves, and each stage above multiplies that again. Over the
    lead time the same gap is closed in as many steps.
    """
    ordered = int(stage.incoming_order)
    # A blind player orders one week before the order is placed.
    weeks = params.lead_time(stage.role) + params.blind
    filling = max(0, int(ordered * weeks - stage.position))
    candidates = {0, ordered // 2, ordered, ordered * 3 // 2, ordered * 2, filling}
    quantities = {min(units, LARGEST) for units in candidates}
    position = stage.position + _mailed(params, stage)
    return [_option(params, stage, position, units, weeks) for units in sorted(quantities)]


def described(params: BeerGameParams) -> Mapping[str, Mapping[str, Column]]:
    """Return the columns of an order.

    It is usual up to 5 times the stock that a stage should keep, or a week's demand where that is
    more: 60 units in the classic game, whose players' largest orders are around 50 (Sterman 1989).
    """
    level = max(params.target_inventory, demand.final_level(params.demand))
    column = evolve(Order.columns["quantity"], usual=(0, _USUAL * level))
    return {"order": {"quantity": column}}


def default_action(stage: Stage) -> Order:
    """Return an order of as many units as were ordered from the stage."""
    return Order(min(stage.incoming_order, LARGEST))


def _mailed(params: BeerGameParams, stage: Stage) -> Number:
    """Return the units ordered and not counted in the supply line, if the supplier had stock."""
    if params.supply_line == "ordered" or stage.role == params.stages[-1]:
        return 0
    return stage.last_order * (params.order_delay - 1 + params.blind)


def _option(
    params: BeerGameParams, stage: Stage, position: Number, quantity: int, weeks: int
) -> Option:
    """Return the option of ordering a quantity in each of the weeks until the first arrives."""
    # The last of these orders arrives `weeks - 1` weeks after the first.
    last = 2 * weeks - 1
    stock = position + quantity * weeks - stage.incoming_order * last
    return Option(
        Order(quantity), -_week_cost(params, stock), note=f"leaves {stock:g} in {last} weeks"
    )


def _week_cost(params: BeerGameParams, stock: Number) -> float:
    holding = max(params.minimum_holding_cost, params.holding_cost * max(0, stock))
    return holding + params.backlog_cost * max(0, -stock)
