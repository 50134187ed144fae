"""The bound on the score of a Beer Game: attained where it says so, and exceeded by nothing."""

from itertools import product
from statistics import fmean
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from support.cases import thinned
from support.examples import examples

from desim import play
from desim.catalog.known_scores import KnownBound
from desim.errors import UsageError
from models.beer_game import BeerGame
from policies.heuristics.beer_game import baselines
from policies.informed.beer_game.chain_program import ChainProgram, first_reached
from policies.informed.beer_game.clairvoyant import clairvoyant_lists, score_bound
from policies.informed.beer_game.perfect import played_cost, weekly_rows

small = st.builds(
    BeerGame,
    horizon=st.integers(1, 12),
    demand=st.lists(st.integers(0, 12), min_size=1, max_size=12),
    order_delay=st.integers(1, 3),
    ship_delay=st.integers(1, 3),
    production_delay=st.none() | st.integers(1, 4),
    target_inventory=st.integers(0, 30),
    initial_flow=st.integers(0, 9),
    holding_cost=st.sampled_from([0.0, 0.1, 0.5, 2.0]),
    backlog_cost=st.sampled_from([0.0, 0.3, 1.0]),
    minimum_holding_cost=st.sampled_from([0.0, 2.0]),
    opponents=st.sampled_from(
        ["typical", "no_backorder", "base_stock", "smoothing:3", "moving_average:3", "pass_on"]
    ),
    brewery_echo=st.booleans(),
    blind=st.booleans(),
    supply_line=st.sampled_from(["shipped", "ordered"]),
    stages=st.sampled_from([("a",), ("a", "b"), ("a", "b", "c"), ("a", "b", "c", "d")]),
    controlled=st.just("a"),
    forced_weeks=st.integers(0, 3),
    strike=st.none() | st.just("3:5"),
)

units = st.integers(0, 60) | st.sampled_from([0.5, 1e6])


def lists_of(data: st.DataObject, game: BeerGame) -> dict[str, list[Any]]:
    """Draw some stages and an order list for each of them."""
    seats = data.draw(st.sets(st.sampled_from(game.stages), min_size=1))
    weeks = st.lists(units, min_size=game.horizon, max_size=game.horizon)
    return {seat: data.draw(weeks) for seat in sorted(seats)}


@examples(20)
@given(game=small, data=st.data())
def test_no_lists_of_any_seats_beat_the_bound(game: BeerGame, data: st.DataObject) -> None:
    """Whatever is ordered, by whichever stages, fractions and huge orders included."""
    lists = lists_of(data, game)
    bound = score_bound(game, 0, list(lists))
    assert bound is None or -played_cost(game, 0, lists) <= bound.value + 1e-9


@examples(20)
@given(game=small, data=st.data())
def test_nothing_changes_before_the_first_reached_week(game: BeerGame, data: st.DataObject) -> None:
    """Until then every stage orders and ships as in an episode without a player."""
    lists = lists_of(data, game)
    rows, same = weekly_rows(game, 0, lists), weekly_rows(game, 0, {})
    reached = first_reached(game, {game.stages.index(seat) for seat in lists})
    for flow, first in (("order", reached.order), ("outgoing_delivery", reached.shipment)):
        for stage, week in enumerate(first):
            known = slice(int(min(week, game.horizon + 1)) - 1)
            expected = [row[flow] for row in same[stage][known]]
            assert [row[flow] for row in rows[stage][known]] == expected


@examples(20)
@given(game=small, unit=st.sampled_from([0.5, 1.0]))
def test_the_bound_of_a_chain_without_rules_is_always_attained(game: BeerGame, unit: float) -> None:
    """All stages played, no echo, and a backlog that costs: whole lists cost what it says."""
    free = game.minimum_holding_cost
    prices = {"holding_cost": unit, "backlog_cost": 1.0, "minimum_holding_cost": free}
    game = evolve(game, brewery_echo=False, **prices)
    bound = score_bound(game, 0, game.stages)
    assert bound is not None
    assert bound.kind == "proved"


# -- against every list there is ------------------------------------------------------------------

#: All lags are one week, so that few orders arrive in time.
TINY: dict[str, Any] = {
    "order_delay": 1,
    "ship_delay": 1,
    "production_delay": 1,
    "target_inventory": 2,
    "initial_flow": 1,
    "minimum_holding_cost": 0.0,
    "brewery_echo": False,
    "controlled": "a",
}


def cheapest_of_all(game: BeerGame, most: int) -> float:
    """Return the least cost of two stages; what they order in the last week never arrives."""
    weeks = range(game.horizon - 1)
    return min(
        played_cost(game, 0, {"a": [*orders[::2], 0], "b": [*orders[1::2], 0]})
        for orders in product(range(most + 1), repeat=2 * len(weeks))
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"demand": "list:2:3:1:4"},
        {"demand": "list:0:4:0:3", "minimum_holding_cost": 1.0},
        {"demand": "list:3:0:0:2", "blind": False, "forced_weeks": 1},
        {"demand": "list:1:3:3:1", "strike": "3:3"},
    ],
    ids=str,
)
def test_a_tiny_chain_is_solved_as_by_trying_everything(changes: dict[str, Any]) -> None:
    """Two stages over three weeks."""
    game = BeerGame(**{"horizon": 3, "stages": ("a", "b"), **TINY, **changes})
    assert score_bound(game, 0, ("a", "b")) == KnownBound(-cheapest_of_all(game, 4), "proved")


@pytest.mark.slow
def test_a_small_chain_is_solved_as_by_trying_everything() -> None:
    """Two stages over four weeks, with a floor under the holding cost."""
    changes = {**TINY, "demand": "list:0:4:0:3", "minimum_holding_cost": 1.0}
    game = BeerGame(horizon=4, stages=("a", "b"), **changes)
    assert score_bound(game, 0, ("a", "b")) == KnownBound(-cheapest_of_all(game, 3), "proved")


@pytest.mark.parametrize(
    "opponents", thinned(["typical", "base_stock", "smoothing:2", "pass_on"], 2)
)
def test_a_tiny_seat_among_rules_is_solved_as_by_trying_everything(opponents: str) -> None:
    """Three stages over five weeks, the retailer played: only its first three orders count."""
    game = BeerGame(
        horizon=5, stages=("a", "b", "c"), demand="list:2:3:1:4:2", opponents=opponents, **TINY
    )
    cheapest = min(
        played_cost(game, 0, {"a": [*orders, 0, 0]}) for orders in product(range(7), repeat=3)
    )
    lists, bound = clairvoyant_lists(game, frozenset("a"), 0), score_bound(game, 0)
    assert lists is not None
    assert bound is not None
    assert lists.cost == cheapest
    assert bound.value >= -cheapest
    assert (bound.kind == "proved") == (bound.value == -cheapest)


# -- the presets -----------------------------------------------------------------------------------

ALL_PRESETS = pytest.mark.parametrize("preset", BeerGame.presets)


def seeds(game: BeerGame) -> range:
    """Three seeds, or one where all are the same game; the bounds below are of twenty."""
    return range(1 if game.deterministic else 3)


@ALL_PRESETS
@pytest.mark.parametrize("everyone", [False, True], ids=["one seat", "all seats"])
def test_the_bounds_of_the_presets_are_attained(preset: str, *, everyone: bool) -> None:
    """Their lists, played in the model, cost exactly what the bound says."""
    game = BeerGame.preset(preset)
    seats = game.stages if everyone else game.default_roles
    for seed in seeds(game):
        bound = score_bound(game, seed, seats)
        lists = clairvoyant_lists(game, frozenset(seats), seed)
        assert bound is not None
        assert lists is not None
        assert bound.kind == "proved"
        assert played_cost(game, seed, lists.orders) == -bound.value == lists.bound


@ALL_PRESETS
def test_no_baseline_exceeds_the_bound(preset: str) -> None:
    """Each as a board plays it, and the best one with all seats."""
    game = BeerGame.preset(preset)
    team = dict.fromkeys(game.stages, "order_up_to,team=true")
    alone = (spec.removeprefix("retailer=") for spec in baselines(game))
    for spec in [team, *({"retailer": rule} for rule in alone)]:
        for seed in seeds(game):
            episode = play(game, spec, seed)
            bound = score_bound(game, seed, list(spec))
            assert bound is not None
            assert episode.score <= bound.value


#: Mean bounds of the retailer and of the whole chain, as in the README; random demand: 20 seeds.
KNOWN = {
    "firmbench": (-7_600, -20_700),
    "classic": (-46, -158),
    "poisson": (-32.55, -273.525),
    "paper": (-11_600, -22_100),
}


@pytest.mark.slow
@ALL_PRESETS
def test_the_bounds_in_the_readme(preset: str) -> None:
    """Of the retailer among rules and of all stages together."""
    game = BeerGame.preset(preset)
    seeds = range(1 if game.deterministic else 20)
    for seats, mean in zip((("retailer",), game.stages), KNOWN[preset], strict=True):
        bounds = [score_bound(game, seed, seats) for seed in seeds]
        assert fmean(bound.value for bound in bounds if bound) == pytest.approx(mean)


# -- where there is less to say --------------------------------------------------------------------


def test_rules_that_the_program_cannot_follow_leave_a_relaxation() -> None:
    """Retailer and brewery among rules: the bound holds, and no list is known to attain it."""
    bound = score_bound(BeerGame(), 0, ("retailer", "brewery"))
    assert bound is not None
    assert bound.kind == "relaxation"
    assert bound.value > -played_cost(
        BeerGame(), 0, dict.fromkeys(("retailer", "brewery"), [400] * 25)
    )


def test_wrong_dual_prices_never_raise_the_bound() -> None:
    """The solver is not trusted: any prices give a bound that holds, or none."""
    game = BeerGame.preset("classic")
    program = ChainProgram(game, frozenset(range(4)), weekly_rows(game, 0, {})).program
    solved = program.solve()
    assert solved is not None
    bounds = []
    for row in range(0, len(solved.duals), 7):
        duals = list(solved.duals)
        duals[row] += 0.5
        bounds.append(program.bound(duals))
    found = [bound for bound in bounds if bound is not None]
    assert max(found) <= program.bound(solved.duals) == 158
    assert min(found) < 158


def test_other_worlds_and_too_long_games_have_no_bound() -> None:
    """No answer rather than a guess, and without a long wait."""
    assert score_bound("classic", 0) is None
    assert score_bound(BeerGame.preset("poisson", horizon=1_001), 0) is None


def test_prices_beyond_the_solver_give_no_bound() -> None:
    """A floor that pays for more units than a double can count."""
    game = BeerGame(holding_cost=1e-300, minimum_holding_cost=1e9)
    assert score_bound(game, 0) is None


def test_a_seat_that_is_no_stage_is_refused() -> None:
    """With the stages that there are."""
    with pytest.raises(UsageError, match=r"'retailr' was given.*retailer"):
        score_bound(BeerGame(), 0, ["retailr"])
