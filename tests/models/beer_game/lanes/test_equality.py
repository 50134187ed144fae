"""Lanes of the Beer Game are equal to `play`, decision by decision."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from support.chains import Scattered, drawn_chain
from support.lanes import lane_answers, lane_steps, lanes_differ

from desim import Episode, Run, branch, play, replay
from desim.episodes.simulator import play_on
from desim.lanes.lane_columns import Columns
from desim.records.lines import Step
from desim.records.recorder import Recorder
from models.beer_game import BeerGame
from policies.heuristics.beer_game import OrderUpTo, Typical

#: The order of the three kinds of policies in turn.
KINDS = ("order_up_to", "sterman", "scattered")


@pytest.mark.parametrize("number", range(60))
def test_a_drawn_game_is_equal(number: int) -> None:
    """Observations, actions, score, metrics and end of each lane are those of its episode."""
    game, makers = drawn_chain(number)
    assert lanes_differ(game, makers[KINDS[number % 3]], [number, 7]) == ""


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("hundred", range(1_000, 2_000, 100))
def test_a_thousand_drawn_games_are_equal(hundred: int, kind: str) -> None:
    """Every game with every kind of policy."""
    for number in range(hundred, hundred + 100):
        game, makers = drawn_chain(number)
        assert lanes_differ(game, makers[kind], range(3)) == ""


@pytest.mark.parametrize("preset", BeerGame.presets)
@pytest.mark.parametrize("seats", [0, 1, 4])
def test_presets_are_equal(preset: str, seats: int) -> None:
    """No seat, one and all."""
    game = BeerGame.preset(preset)
    stages = game.stages[:seats]
    assert lanes_differ(game, lambda: {stage: OrderUpTo(25) for stage in stages}, range(4)) == ""


def test_the_order_of_a_rule_that_returns_to_the_brewery_is_in_the_line_of_the_stage_below() -> (
    None
):
    """The echo is in the mail before a player at the end of the week observes the supply line."""
    game = BeerGame(supply_line="ordered", blind=False, horizon=9)
    assert lanes_differ(game, lambda: {"distributor": OrderUpTo(900)}, [0]) == ""


def test_array_api_strict_is_equal() -> None:
    """The same files run on a namespace that has no more than the standard."""
    strict: Any = pytest.importorskip("array_api_strict")
    game = BeerGame.preset("poisson", opponents="smoothing:3")
    lanes, host = (game.lanes(range(5), ["retailer"], arrays=xp) for xp in (strict, None))
    for _ in range(2):
        steps, expected = (lane_steps(one, {"retailer": Typical(9)}) for one in (lanes, host))
        for lane in range(5):
            assert lane_answers(game, lanes, steps, lane) == lane_answers(
                game, host, expected, lane
            )
    assert lanes.metrics() == host.metrics()
    fork = lanes.fork(strict.asarray([4, 4, 0]))
    fork.redraw([1, 2, 3])
    assert [*map(float, fork.score())] == [float(host.score()[lane]) for lane in (4, 4, 0)]


def test_records_of_lanes_replay(tmp_path: Path) -> None:
    """`replay` accepts records whose decisions are those of lanes, with the digests of `play`."""
    count = 0
    for number in range(300, 317):
        game, makers = drawn_chain(number)
        make = makers["order_up_to"]
        lanes = game.lanes(range(5), [*make()])
        steps = lane_steps(lanes, make())
        for lane in range(5) if steps else ():
            played = play(game, make(), lane)
            decisions = lane_answers(game, lanes, steps, lane)
            file = tmp_path / f"{count}.jsonl"
            with Recorder(file) as record:
                record.head(played.header)
                for at, decision in zip(played.steps, decisions, strict=True):
                    record.step(Step(at.t, *decision, at.notes))
                assert played.result is not None
                record.result(played.result)
            assert replay(file).result == played.result
            count += 1
    assert count >= 50


@pytest.mark.parametrize("blind", [False, True])
@pytest.mark.parametrize("again", [False, True])
def test_forks_with_redrawn_futures_are_branches(*, blind: bool, again: bool) -> None:
    """Two hundred forks in all, of lanes or of forks, at several weeks, play on as branches do."""
    game = BeerGame.preset("poisson", horizon=20, blind=blind, opponents="smoothing:2")
    seats, draw = ["wholesaler", "factory"], Random(2)  # noqa: S311 (a test)
    for at in (0, 1, 5, 12, 19):
        seeds, policies = range(4), {seat: Scattered(3, 1) for seat in seats}
        lanes, asked = played_up_to(game, policies, seeds, at)
        before = [*map(float, lanes.score())]
        rows = [draw.randrange(4) for _ in range(10)]
        fork = lanes.fork(np.asarray(rows))
        if again:
            fork.redraw(range(10))
            fork = fork.fork(np.arange(10))
        fork.redraw(range(50, 60))
        asked = {seat: taken(seen, rows) for seat, seen in asked.items()}
        while asked:
            asked = fork.step({seat: policies[seat].decide_all(asked[seat]) for seat in asked})
        for lane, row in enumerate(rows):
            run = branched(play(game, policies, seeds[row]), at, [lane] * again + [50 + lane])
            play_on(run, policies)
            result = run.result()
            assert float(fork.score()[lane]) == result.score
            assert {name: each[lane] for name, each in fork.metrics().items()} == result.metrics
        assert [*map(float, lanes.score())] == before


def played_up_to(
    game: BeerGame, policies: Mapping[str, Any], seeds: Sequence[int], steps: int
) -> tuple[Any, Mapping[str, Columns]]:
    """Return lanes with the questions that are open after some steps."""
    lanes = game.lanes(seeds, [*policies])
    asked = lanes.reset()
    for _ in range(steps):
        asked = lanes.step({seat: policies[seat].decide_all(asked[seat]) for seat in asked})
    return lanes, asked


def taken(seen: Columns, rows: Sequence[int]) -> Columns:
    """Return the questions of some lanes."""
    arrays = {name: each[rows] if getattr(each, "ndim", 0) else each for name, each in seen.items()}
    return Columns(seen.kind, arrays)


def branched(episode: Episode, steps: int, futures: Sequence[int]) -> Run[Any]:
    """Return a branch of an episode after some steps of two seats, redrawn for each future."""
    run = branch(episode, 2 * steps)
    for future in futures:
        run.redraw(future)
    return run
