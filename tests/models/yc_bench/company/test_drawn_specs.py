"""Worlds as drawn, which the episodes of one process share."""

import copy

from desim import play
from models.yc_bench import YCBench
from models.yc_bench.company.drawn_specs import DrawnSpecs, KeptWorlds, drawn_specs

GAME = YCBench(num_market_tasks=20)


def test_a_world_is_drawn_once() -> None:
    """For equal parameters of any object, and whatever the rules that do not draw."""
    kept = KeptWorlds(100)
    first = kept.specs(GAME, 1)
    assert first == DrawnSpecs.draw(GAME, 1)
    assert kept.specs(YCBench(num_market_tasks=20), 1) is first
    assert kept.specs(YCBench(num_market_tasks=20, horizon_years=2), 1) is first


def test_another_world_is_not_mistaken_for_it() -> None:
    """Of another seed, of other rules, or of a number of another type, which draws that type."""
    kept = KeptWorlds(1_000)
    first = kept.specs(GAME, 1)
    for game, seed in (
        (GAME, 2),
        (YCBench(num_market_tasks=21), 1),
        (YCBench(num_market_tasks=20, num_employees=3), 1),
    ):
        assert kept.specs(game, seed) == DrawnSpecs.draw(game, seed) != first
    whole = YCBench(num_market_tasks=20, prestige_delta_scale=1)
    kept.specs(YCBench(num_market_tasks=20, prestige_delta_scale=1.0), 1)
    assert repr(kept.specs(whole, 1)) == repr(DrawnSpecs.draw(whole, 1))


def test_the_worlds_used_last_are_kept() -> None:
    """Up to a number of tasks."""
    kept = KeptWorlds(40)
    first, second = kept.specs(GAME, 1), kept.specs(GAME, 2)
    assert kept.specs(GAME, 1) is first
    kept.specs(GAME, 3)
    assert kept.specs(GAME, 1) is first
    assert kept.specs(GAME, 2) is not second


def test_a_world_larger_than_the_bound_is_not_kept() -> None:
    """It is drawn each time."""
    kept = KeptWorlds(19)
    assert kept.specs(GAME, 1) == kept.specs(GAME, 1)
    assert kept.specs(GAME, 1) is not kept.specs(GAME, 1)


def test_an_episode_changes_nothing_that_is_drawn() -> None:
    """Another episode of the seed begins with the same specs, and plays the same."""
    before = copy.deepcopy(drawn_specs(GAME, 5))
    first = play(GAME, "greedy", 5)
    assert drawn_specs(GAME, 5) == before
    assert play(GAME, "greedy", 5).ledger_digest == first.ledger_digest
