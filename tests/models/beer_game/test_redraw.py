"""Redrawn futures: the customers' demand of the weeks to come."""

from typing import Any

import pytest

from desim import Run
from models.beer_game import BeerGame, Order
from models.beer_game.chain import Chain


def opened(week: int, **changes: Any) -> Run[Chain]:
    """Return a run of the random game whose decision of a week is open."""
    run = Run(BeerGame.preset("poisson", **changes), 1)
    while run.advance() and run.open[0].observation.week < week:
        run.answer(run.open[0], Order(4))
    return run


@pytest.mark.parametrize("blind", [False, True])
def test_the_demand_that_was_ordered_stays(*, blind: bool) -> None:
    """The present week's has arrived at the decision; a blind stage has closed six weeks."""
    run = opened(6, blind=blind)
    before = list(run.state.demand)
    run.redraw(1)
    now = run.world.now
    assert now == 6
    assert run.state.demand[:now] == before[:now]
    assert run.state.demand[now:] != before[now:]
    assert len(run.state.demand) == len(before)


def test_the_week_after_is_the_first_that_differs() -> None:
    """Over many futures every later week takes several values, and what was sent arrives."""
    values: list[set[int]] = [set() for _ in range(52)]
    orders = set()
    for future in range(20):
        run = opened(6)
        run.redraw(future)
        for week, units in enumerate(run.state.demand, 1):
            values[week - 1].add(units)
        run.answer(run.open[0], Order(4))
        run.advance()
        stage = run.open[0].observation
        assert stage.incoming_order == run.state.demand[6]
        orders.add((stage.incoming_order, stage.incoming_delivery))
    assert all(len(seen) == 1 for seen in values[:6])
    assert all(len(seen) > 3 for seen in values[6:])
    assert len({delivery for _, delivery in orders}) == 1
    assert len(orders) > 3


def test_a_demand_that_is_not_random_stays_and_is_named() -> None:
    """Who plays on from a branch knows the step to come."""
    run = Run(BeerGame(), 1)
    run.advance()
    before = list(run.state.demand)
    run.redraw(1)
    assert run.state.demand == before
    assert BeerGame().kept == ("demand of the weeks to come, which is not random",)
    assert BeerGame.preset("poisson").kept == ()
    assert BeerGame.preset("poisson", strike="3:4").kept == ("weeks of the strike",)
