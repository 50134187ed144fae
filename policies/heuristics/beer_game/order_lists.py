"""Order lists and what they lead to, as played by the model itself."""

from collections.abc import Mapping, Sequence
from typing import Any

from desim import Model, Run
from desim.core.model_protocols import Rows
from desim.core.reported import HasTables
from models.beer_game.actions import Order
from models.beer_game.params import BeerGameParams

__all__ = ["OrderLists", "played_cost", "weekly_rows"]

#: By stage the units to order in each week, the forced weeks included.
OrderLists = Mapping[str, Sequence[float]]


def played_cost(params: BeerGameParams, seed: int, lists: OrderLists) -> float:
    """Return the cost of the stages that order by lists, in money; the others follow their rule."""
    return 0.0 - _played(params, seed, lists).result().score


def weekly_rows(params: BeerGameParams, seed: int, lists: OrderLists) -> list[Rows]:
    """Return the rows of the table `weeks` of each stage; the first stage first."""
    assert isinstance(params, HasTables)
    state = _played(params, seed, lists).state
    return [params.tables(state, stage)["weeks"] for stage in params.stages]


def _played(params: BeerGameParams, seed: int, lists: OrderLists) -> Run[Any]:
    """Return the run of an episode that has ended."""
    assert isinstance(params, Model)
    run = Run[Any](params, seed, list(lists))
    first = 0 if params.blind else params.forced_weeks
    due = {stage: iter(units[first:]) for stage, units in lists.items()}
    while decisions := run.advance():
        for decision in decisions:
            run.answer(decision, Order(next(due[decision.role])))
    return run
