"""Order-up-to rules of the Beer Game: the position, the levels, and what they cost."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from support.recorded import observed

from desim import play
from desim.errors import UsageError
from models.beer_game import BeerGame
from policies.heuristics.beer_game import Foresight, OrderUpTo, Perfect
from policies.heuristics.beer_game.echelon import chain_levels, echelon_levels
from policies.heuristics.beer_game.order_up_to import TUNED, formula_level, order_up_to_level

POISSON = BeerGame.preset("poisson")


def mean_cost(game: BeerGame, policies: Any, seeds: range) -> float:
    """What the played stages cost on average."""
    return float(np.mean([-play(game, policies, seed, keep_steps=False).score for seed in seeds]))


def test_the_retailer_alone_is_cheapest_near_18() -> None:
    """139.5 a game over seeds 0 to 19, where greedy paid 219 before and the best listed rule."""
    costs = [mean_cost(POISSON, f"order_up_to,target={s}", range(20)) for s in (16, 18, 20)]
    assert costs[1] == 139.475
    assert min(costs) == costs[1]


def test_all_stages_cost_less_than_half_of_what_they_cost_by_the_published_rule() -> None:
    """Demand that counts twice grows on its way up the chain."""
    ours = mean_cost(POISSON, dict.fromkeys(POISSON.stages, "order_up_to"), range(10))
    published = mean_cost(POISSON, dict.fromkeys(POISSON.stages, "base_stock,target=20"), range(10))
    assert ours < 0.5 * published


def test_demand_counts_once() -> None:
    """In a steady game `order_up_to` passes orders on; the published rule settles higher."""
    game = BeerGame.preset("classic", demand="constant:4", forced_weeks=0)
    steps = play(game, "order_up_to,target=24").steps
    assert {s.action.quantity for s in steps[8:]} == {4}
    assert {s.observation.position for s in steps[8:]} == {20}
    published = play(game, "base_stock,target=24").steps
    assert {s.observation.position for s in published[8:]} == {24}


@pytest.mark.parametrize("game", [BeerGame(brewery_echo=False), POISSON], ids=["blind", "sees"])
def test_the_position_counts_all_that_was_ordered_and_not_received(game: BeerGame) -> None:
    """Also orders in the mail and owed by the supplier, which a supply line of goods leaves out."""
    for stage in game.stages:
        played = play(game, {stage: "order_up_to,target=900"}, 3).steps
        for before, after in pairwise(played):
            seen, ordered = after.observation, before.action.quantity
            if seen.week > 1 and ordered and after.action.quantity:
                # With a target that does not move, each order replaces the demand since the last.
                assert after.action.quantity == seen.incoming_order


@pytest.mark.parametrize("name", BeerGame.presets)
def test_every_preset_has_tuned_levels_for_every_stage(name: str) -> None:
    """They are what the rule takes without an argument."""
    game = BeerGame.preset(name)
    for stage in game.stages:
        assert order_up_to_level(game, stage) == TUNED[name][stage]
        policy = play(game, {stage: "order_up_to"}).steps
        same = play(game, {stage: f"order_up_to,target={TUNED[name][stage]}"}).steps
        assert [s.action for s in policy] == [s.action for s in same]


def test_another_game_takes_the_formula() -> None:
    """Lead time demand plus z standard deviations, or what the holding floor pays for anyway."""
    assert order_up_to_level(BeerGame.preset("poisson", demand="poisson:9"), "retailer") == 39
    assert formula_level(BeerGame(minimum_holding_cost=0.0), "retailer") == 1_600
    assert formula_level(BeerGame(), "retailer") == 2_000
    assert formula_level(BeerGame(), "brewery") == 1_600
    free = BeerGame(holding_cost=0.0, minimum_holding_cost=0.0, demand="poisson:4")
    assert 16 < formula_level(free, "retailer") < 100
    assert formula_level(BeerGame(backlog_cost=0.0, holding_cost=0.0), "retailer") == 1_600


@pytest.mark.parametrize("name", ["firmbench", "classic", "paper"])
def test_no_neighbour_of_a_tuned_level_is_cheaper(name: str) -> None:
    """In the deterministic presets one game proves it."""
    game = BeerGame.preset(name)
    for stage, level in TUNED[name].items():
        paid = [
            -play(game, {stage: f"order_up_to,target={near}"}).score
            for near in (max(0, level - 1), level, level + 1)
        ]
        assert min(paid) == paid[1]


@pytest.mark.slow
def test_no_neighbour_of_a_tuned_level_is_cheaper_on_the_training_seeds() -> None:
    """Random demand, with the seeds of experiments/tune_beer_game.py."""
    for stage, level in TUNED["poisson"].items():
        paid = [
            mean_cost(POISSON, {stage: f"order_up_to,target={near}"}, range(10_000, 10_100))
            for near in (level - 1, level, level + 1)
        ]
        assert min(paid) == paid[1]


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("order_up_to,target=-1", "'target' must be >= 0: -1"),
        ("moving_average,weeks=0", "'weeks' must be >= 1: 0"),
    ],
)
def test_wrong_arguments_are_refused(spec: str, says: str) -> None:
    """Before anything is played."""
    with pytest.raises(UsageError, match=says):
        play(POISSON, spec)


# -- Clark and Scarf -------------------------------------------------------------------------------


def poisson(mean: float) -> Any:
    """Probabilities of a week's demand."""
    from scipy import stats

    return stats.poisson.pmf(np.arange(60), mean)


@pytest.mark.parametrize(
    ("holding", "weeks", "backlog", "mean", "levels"),
    [
        ([0.125] * 4, [4, 4, 4, 3], 1.0, 4.0, [22, 38, 54, 65]),
        ([0.5, 0.25, 0.25], [1, 2, 1], 5.0, 6.0, [10, 24, 30]),
        ([0.2, 0.3], [2, 3], 9.0, 3.0, [11, 22]),
        ([0.5], [4], 1.0, 4.0, [18]),
    ],
)
def test_the_levels_are_those_of_stockpyl(
    holding: list[float], weeks: list[int], backlog: float, mean: float, levels: list[int]
) -> None:
    """As stockpyl 1.0.2, by the authors of a textbook, computes them by the same recursion."""
    assert echelon_levels(poisson(mean), weeks, holding, backlog) == levels


def test_one_stage_is_a_newsvendor() -> None:
    """Its level is the quantile of the lead time demand at p / (p + h)."""
    from scipy import stats

    assert echelon_levels(poisson(4), [4], [0.5], 1.0) == [stats.poisson.ppf(2 / 3, 16)]


def test_installation_levels_add_up_to_the_echelon_levels() -> None:
    """Axsäter and Rosling: the same orders by figures that a stage can see."""
    assert chain_levels(POISSON) == (22, 38 - 22, 54 - 38, 65 - 54)


@pytest.mark.parametrize("demand", ["poisson:0", "poisson:1e15", "normal:100:30", "constant:0"])
def test_levels_of_any_demand(demand: str) -> None:
    """Large demand is counted in lots."""
    levels = chain_levels(BeerGame.preset("poisson", demand=demand))
    assert all(level >= 0 for level in levels)
    assert bool(sum(levels)) is not demand.endswith(":0")


# -- the others ------------------------------------------------------------------------------------


def test_a_player_averages_as_the_papers_stages_do() -> None:
    """The policy and the rule of the preset order the same."""
    game = BeerGame.preset("paper", blind=False)
    by_rule = play(game, {}).metrics["cost_wholesaler"]
    assert play(game, {"wholesaler": "moving_average"}).metrics["cost_wholesaler"] == by_rule


def test_rules_declare_what_they_read() -> None:
    """Foresight and perfect read the demand to come; order-up-to rules lead times and demand."""
    assert Foresight.knows == Perfect.knows == "future"
    assert OrderUpTo.knows == "rules"


def test_the_values_of_options_use_what_the_stage_sees() -> None:
    """Two games that differ in what is hidden alone offer the same options and values."""
    seen = observed(incoming_order=6, inventory=3, supply_line=9)
    offered = [
        game.roles["retailer"].options(seen)  # type: ignore[misc]
        for game in (
            BeerGame.preset("poisson", initial_flow=4),
            BeerGame.preset("poisson", demand="constant:9", initial_flow=4),
        )
    ]
    assert offered[0] == offered[1]
