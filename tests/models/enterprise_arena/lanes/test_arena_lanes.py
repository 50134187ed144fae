"""Lanes of EnterpriseArena equal `play`: every observation, score, metric, end and record."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from attrs import evolve
from support.arena_lanes import OFFICERS, Mixed, random_world
from support.lanes import lane_answers, lane_steps, lanes_differ

from desim import branch, play
from desim.cli import main
from desim.errors import UsageError, WrongAction
from desim.lanes.lane_columns import Columns
from desim.lanes.lane_protocols import HasLanes, NoLanes
from models.enterprise_arena import Command, EnterpriseArena, Pass, ReviewFinancialRecords
from models.enterprise_arena.lanes.lane_commands import CLOSE, PASS, REQUEST
from policies.heuristics.enterprise_arena import RaiseWhenFree

PRESETS = [*EnterpriseArena.presets]


@pytest.mark.parametrize("preset", PRESETS)
def test_lanes_of_a_preset_equal_play(preset: str) -> None:
    """Whoever decides, in whichever months lanes of one step are."""
    for make in OFFICERS.values():
        assert not lanes_differ(EnterpriseArena.preset(preset, horizon=40), make, range(3))


@pytest.mark.parametrize("officer", OFFICERS)
def test_lanes_of_random_worlds_equal_play(officer: str) -> None:
    """In thirty worlds, whose parameters are drawn from all sections of the rules."""
    for number in range(30):
        assert not lanes_differ(random_world(number, 24), OFFICERS[officer], (0, number))


@pytest.mark.slow
@pytest.mark.parametrize("officer", OFFICERS)
def test_lanes_of_a_thousand_random_worlds_equal_play(officer: str) -> None:
    """No combination of parameters tells lanes and episodes apart."""
    for number in range(1_000):
        assert not lanes_differ(random_world(number), OFFICERS[officer], (number, 1))


# -- records ---------------------------------------------------------------------------------------


def replayed(number: int, path: Path) -> int:
    """Write an episode of a random world with what a lane observed, did and scored; replay it."""
    model, seed, make = random_world(number), number, OFFICERS["mixed"]
    assert isinstance(model, HasLanes)
    lanes = model.lanes([seed, seed + 1], ["cfo"])
    decided = lane_answers(model, lanes, lane_steps(lanes, make()), 0)
    episode = play(model, make(), seed)
    assert episode.result is not None
    steps = [
        msgspec.structs.replace(step, observation=seen, action=action)
        for step, (_, seen, action) in zip(episode.steps, decided, strict=True)
    ]
    result = evolve(
        episode.result,
        score=float(lanes.score()[0]),
        metrics={name: column[0] for name, column in lanes.metrics().items()},
    )
    type(episode)(episode.header, steps, result).write(path)
    return main(["replay", str(path)])


def test_a_record_of_a_lane_replays(tmp_path: Path) -> None:
    """With the digest of the ledgers of `play`."""
    assert replayed(4, tmp_path / "episode.jsonl") == 0


@pytest.mark.slow
def test_fifty_records_of_lanes_replay(tmp_path: Path) -> None:
    """With the digests of the ledgers of `play`."""
    for number in range(50):
        assert replayed(number, tmp_path / f"{number}.jsonl") == 0


# -- forks and futures -----------------------------------------------------------------------------


def futures_differ(number: int, forks: int = 2) -> str:
    """Compare forks of a lane with redrawn futures to branches of its episode."""
    model, make = random_world(number), OFFICERS["mixed"]
    assert isinstance(model, HasLanes)
    episode = play(model, make(), number)
    lanes = model.lanes([number + 1, number], ["cfo"])
    steps = len(episode.steps)
    at, futures = number * 7 % steps, [number * 31 + each for each in range(forks)]
    officer, asked = Mixed(), lanes.reset()
    for _ in range(at):
        asked = lanes.step({"cfo": officer.decide_all(asked["cfo"])})
    ahead = lanes.fork(np.array([1] * forks))
    ahead.redraw(futures)
    before = lanes.questions()["cfo"].row(1, lanes.texts)
    asked, officer = ahead.questions(), Mixed(given=at)
    runs = [branch(episode, at, future=future) for future in futures]
    while asked:
        answers = officer.decide_all(asked["cfo"])
        for lane, run in enumerate(runs):
            if bool(run.open) != bool(asked["cfo"].asks[lane]):
                return f"world {number}, future {futures[lane]}: only one of them has ended"
            if run.open:
                if run.open[0].observation != asked["cfo"].row(lane, ahead.texts):
                    return f"world {number}, future {futures[lane]}: {run.open[0].observation}"
                columns = Columns(Command, answers)
                run.answer(run.open[0], columns.row(lane, ahead.texts))
                run.advance()
        asked = ahead.step({"cfo": answers})
    scores = [run.result().score for run in runs]
    if scores != ahead.score().tolist() or before != lanes.questions()["cfo"].row(1, lanes.texts):
        return f"world {number}: scores {scores}, lanes {ahead.score()}"
    return ""


def test_forks_with_redrawn_futures_equal_branches() -> None:
    """The lanes that were forked do not change."""
    for number in range(12):
        assert not futures_differ(number)


@pytest.mark.slow
def test_two_hundred_forks_equal_branches() -> None:
    """With two futures each, in a hundred worlds."""
    for number in range(100):
        assert not futures_differ(number)


def test_a_second_redraw_follows_the_first() -> None:
    """As in a branch with two futures; a third of the lanes' month is over by then."""
    model = EnterpriseArena.preset("regime", horizon=30)
    lanes, officer = model.lanes([5, 6], ["cfo"]), Mixed()
    run = branch(play(model, {"cfo": Mixed()}, 5), 0, future=8)
    asked = lanes.reset()
    lanes.redraw([8, 9])
    for step in range(20):
        if step == 9:
            run.redraw(77)
            lanes.redraw([77, 78])
        answers = officer.decide_all(asked["cfo"])
        run.answer(run.open[0], Columns(Command, answers).row(0, lanes.texts))
        run.advance()
        asked = lanes.step({"cfo": answers})
        assert asked["cfo"].row(0, lanes.texts) == run.open[0].observation


def test_forks_begin_again_as_their_seed() -> None:
    """A reset undoes a redraw: the episodes are those of the seeds."""
    model, make = EnterpriseArena.preset(horizon=8), OFFICERS["debt"]
    lanes = model.lanes([3, 4], ["cfo"])
    lanes.reset()
    ahead = lanes.fork(np.array([1, 0, 1]))
    ahead.redraw([1, 2, 3])
    lane_steps(ahead, make())
    played = [play(model, make(), seed).score for seed in (4, 3, 4)]
    assert ahead.score().tolist() == played


# -- refusals --------------------------------------------------------------------------------------


def begun(**changes: Any) -> Any:
    """Return lanes of three seeds at their first decision."""
    lanes = EnterpriseArena.preset(**changes).lanes([0, 1, 2], ["cfo"])
    lanes.reset()
    return lanes


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ({}, "no column 'do'"),
        ({"do": PASS + 0.5}, "float64; they are whole numbers"),
        ({"do": [PASS, PASS]}, "has (2,) values for 3 lanes"),
        ({"do": np.array([PASS, PASS, 99])}, "lane 2: do=99 was given; it is between 0 and 12"),
        ({"do": REQUEST}, "no column 'type'"),
        ({"do": REQUEST, "type": 2, "amount": 1.0}, "lane 0: type=2 was given"),
        ({"do": REQUEST, "type": 0, "amount": [1.0, np.nan, 1.0]}, "lane 1: amount=nan"),
        ({"do": REQUEST, "type": 0, "amount": -np.inf}, "lane 0: amount=-inf"),
        ({"do": REQUEST, "type": 0, "amount": [True, True, True]}, "bool; they are numbers"),
    ],
)
def test_a_wrong_command_changes_nothing(columns: dict[str, Any], text: str) -> None:
    """The error names the lane."""
    lanes = begun()
    before = [lanes.questions()["cfo"].row(lane) for lane in range(3)]
    with pytest.raises(WrongAction) as wrong:
        lanes.step({"cfo": columns})
    assert text in str(wrong.value)
    assert [lanes.questions()["cfo"].row(lane) for lane in range(3)] == before
    assert lanes.decisions.tolist() == [0, 0, 0]


def test_columns_of_one_class_need_no_number() -> None:
    """The class of the columns is that of the command."""
    lanes = begun()
    seen = lanes.step({"cfo": Columns(Pass, {})})
    assert seen["cfo"].row(0).reply.to == "pass"
    assert lanes.metrics()["passes"] == [1, 1, 1]


def test_a_command_without_lanes_is_refused() -> None:
    """Documents, market data, projections and notes belong to single episodes."""
    lanes = begun()
    with pytest.raises(NoLanes, match="review_financial_records has no lanes, and lane 0"):
        lanes.step({"cfo": Columns(ReviewFinancialRecords, {})})
    assert lanes.decisions.tolist() == [0, 0, 0]


def test_a_question_too_many_is_refused() -> None:
    """Where `play` raises `Stuck`, lanes raise `NoLanes` and keep their state."""
    lanes = begun(max_questions_per_tick=2)
    lanes.step({"cfo": {"do": 0}})
    with pytest.raises(NoLanes, match="asked more than 2 times"):
        lanes.step({"cfo": {"do": np.array([CLOSE, 0, CLOSE])}})
    assert lanes.decisions.tolist() == [1, 1, 1]


def test_amounts_beyond_the_exact_range_are_refused() -> None:
    """Before a lane has them: those of the world at once, those of decisions at their step."""
    with pytest.raises(NoLanes, match="2\\*\\*50 cents"):
        EnterpriseArena(opening_loans=1e12, opening_users=1e9, average_loan=1e6).lanes([0], ["cfo"])
    lanes = EnterpriseArena(forced_funding=dict.fromkeys(range(132), (True, 1.0, 1))).lanes(
        [0], ["cfo"]
    )
    with pytest.raises(NoLanes, match="2\\*\\*50 cents"):
        lane_steps(lanes, {"cfo": RaiseWhenFree("equity", 1e12)})
    assert 0 < lanes.questions()["cfo"].row(0).cash_balance < 2**50 / 100


@pytest.mark.parametrize(
    ("seeds", "roles", "fault"),
    [([], ["cfo"], NoLanes), ([-1], ["cfo"], UsageError), ([0], ["retailer"], UsageError)],
)
def test_lanes_need_seeds_and_the_officer(seeds: list[int], roles: list[str], fault: Any) -> None:
    """Seeds are whole numbers of at least 0, and the only role is the officer."""
    with pytest.raises(fault):
        EnterpriseArena().lanes(seeds, roles)


def test_lanes_are_those_of_numpy() -> None:
    """Another namespace of arrays is refused."""
    with pytest.raises(NoLanes, match="numpy arrays"):
        EnterpriseArena().lanes([0], ["cfo"], arrays=object())
