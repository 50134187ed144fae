"""The cheapest order list: found, and played."""

from itertools import product
from typing import Any

import pytest

from desim import Run, play
from desim.errors import UsageError
from models.beer_game import BeerGame, Order
from policies.heuristics.beer_game.foresight import best_list


def paid(game: BeerGame, role: str, orders: list[float], seed: int = 0) -> float:
    """What a list costs its stage."""
    run, due = Run(game, seed, [role]), iter(orders)
    while handed := run.advance():
        run.answer(handed[0], Order(next(due)))
    return -run.result().score


@pytest.mark.parametrize(("opponents", "cost"), [("typical", 7_600), ("smoothing:4", 9_215)])
def test_the_published_games_are_solved(opponents: str, cost: float) -> None:
    """The best lists known are the best there are (SPEC section 8)."""
    played = play(BeerGame.preset(opponents=opponents), "perfect")
    assert played.metrics["total_cost_controlled"] == cost


@pytest.mark.parametrize(
    ("role", "cost"), [("retailer", 46), ("wholesaler", 38), ("distributor", 44), ("factory", 42)]
)
def test_the_board_game_is_solved_for_every_seat(role: str, cost: float) -> None:
    """Among benchmark players; these costs were proved to be the least there are."""
    assert play(BeerGame.preset("classic"), {role: "perfect"}).score == -cost


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"opening_cash": 100}, "lanes keep no cash"), ({"horizon": 60}, "exact")],
)
def test_a_game_without_lanes_is_refused(changes: dict[str, Any], why: str) -> None:
    """Also one whose echo of large orders leaves the exact range of lanes."""
    with pytest.raises(UsageError, match=why):
        play(BeerGame(**changes), "perfect")


def test_a_small_game_is_solved_as_by_trying_everything() -> None:
    """Over four weeks the search finds what exhaustive search finds."""
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
    assert paid(game, "retailer", [*best_list(game, "retailer", 0)]) == cheapest
