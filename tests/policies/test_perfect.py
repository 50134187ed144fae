"""The cheapest order list: found, played as promised, and never below its bound."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from desim import Run, play
from models.beer_game import BeerGame, Order
from policies.informed.beer_game.perfect import best_plan


def paid(game: BeerGame, role: str, orders: list[float], seed: int = 0) -> float:
    """What a list costs its stage."""
    run, due = Run(game, seed, [role]), iter(orders)
    while handed := run.advance():
        run.answer(handed[0], Order(next(due)))
    return -run.result().score


@pytest.mark.parametrize(("opponents", "cost"), [("typical", 7_600), ("smoothing:4", 9_215)])
def test_the_published_games_are_solved(opponents: str, cost: float) -> None:
    """The best lists known are the best there are: cost and bound meet (SPEC section 8)."""
    played = play(BeerGame.preset(opponents=opponents), "perfect")
    assert played.metrics["total_cost_controlled"] == cost
    assert played.steps[0].notes == {"cost": cost, "bound": cost, "gap": 0}


@pytest.mark.parametrize("role", BeerGame.preset("classic").stages)
def test_the_board_game_is_solved_for_every_seat(role: str) -> None:
    """Among benchmark players each seat's best list is proved, and costs no more than the rule."""
    game = BeerGame.preset("classic")
    plan = best_plan(game, role, 0)
    assert plan.gap == 0
    assert plan.cost <= play(game, {role: "benchmark"}).metrics[f"cost_{role}"]


def test_random_demand_is_known_to_it() -> None:
    """It reads the very demand that the seed brings, and pays what it said."""
    game = BeerGame.preset("poisson", horizon=20)
    played = play(game, "perfect", 3)
    assert played.metrics["total_cost_controlled"] == best_plan(game, "retailer", 3).cost
    assert played.score > play(game, "greedy", 3).score


small = st.builds(
    BeerGame,
    horizon=st.integers(1, 14),
    demand=st.lists(st.integers(0, 12), min_size=1, max_size=14),
    order_delay=st.integers(1, 3),
    ship_delay=st.integers(1, 3),
    production_delay=st.none() | st.integers(1, 4),
    target_inventory=st.integers(0, 30),
    initial_flow=st.integers(0, 9),
    minimum_holding_cost=st.sampled_from([0.0, 3.0]),
    opponents=st.sampled_from(["typical", "no_backorder", "base_stock", "smoothing:3", "pass_on"]),
    brewery_echo=st.booleans(),
    blind=st.booleans(),
    supply_line=st.sampled_from(["shipped", "ordered"]),
    stages=st.sampled_from([("a",), ("a", "b"), ("a", "b", "c"), ("a", "b", "c", "d")]),
    controlled=st.just("a"),
    forced_weeks=st.integers(0, 3),
)


@examples(60)
@given(game=small, data=st.data())
def test_no_list_beats_the_bound(game: BeerGame, data: st.DataObject) -> None:
    """Whatever is ordered, at any stage of any chain, fractions and huge orders included."""
    role = data.draw(st.sampled_from(game.stages))
    units = st.integers(0, 60) | st.floats(0, 1e6)
    orders = data.draw(st.lists(units, min_size=game.horizon, max_size=game.horizon))
    assert paid(game, role, orders) >= best_plan(game, role, 0, rounds=0).bound - 1e-9


@pytest.mark.parametrize(
    "changes",
    [
        {"whole_units": False, "opponents": "moving_average:3", "brewery_echo": False},
        {"opening_cash": 100, "unit_margin": 1},
        {"holding_cost": 1 / 3, "backlog_cost": 2 / 3},
        {"horizon": 60},
    ],
    ids=["fractions", "cash", "prices", "echo"],
)
def test_a_game_without_lanes_is_searched_in_one_close_to_it(changes: dict[str, Any]) -> None:
    """Its plan pays what it says, at least its bound, and no more than the textbook's rule."""
    game = BeerGame(**changes)
    plan = best_plan(game, "retailer", 0, rounds=0)
    assert plan.bound <= plan.cost == paid(game, "retailer", [*plan.orders])
    assert plan.cost <= play(game, "order_up_to").metrics["total_cost_controlled"]


def test_a_small_game_is_solved_as_by_trying_everything() -> None:
    """Over four weeks the search finds what exhaustive search finds, and the bound is below it."""
    game = BeerGame(
        horizon=4,
        demand="list:2:3:4:1",
        target_inventory=2,
        initial_flow=1,
        order_delay=1,
        ship_delay=1,
        minimum_holding_cost=0.0,
        opponents="base_stock",
        brewery_echo=False,
    )
    cheapest = min(paid(game, "retailer", list(orders)) for orders in product(range(6), repeat=4))
    plan = best_plan(game, "retailer", 0)
    assert plan.cost == cheapest
    assert plan.bound <= cheapest
