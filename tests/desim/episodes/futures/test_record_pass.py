"""Courses of a record that continue one repetition of it have the scores of `outcome`."""

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.ways_ahead import always_forks

from desim import Episode, play
from desim.core.limits import Limits
from desim.core.run import Run
from desim.episodes.futures import record_pass
from desim.episodes.futures.branched_record import play_branch
from desim.episodes.futures.past import Arm, Past
from desim.episodes.futures.record_pass import RecordPass
from desim.episodes.futures.what_if import outcome, players_of_all
from models.beer_game import BeerGame, Order

GAME = BeerGame.preset("poisson", horizon=12, whole_units=True)


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Play all courses in child processes; what these return."""
    return always_forks(monkeypatch, record_pass)


@pytest.fixture(scope="module")
def episode() -> Episode:
    """Play a game."""
    return play(GAME, "typical", 4)


def arms(past: Past, at: int) -> Iterator[Arm]:
    """Yield another order, the record's, and one of a rule, at a decision."""
    for rule in ("order_up_to", "moving_average", "random"):
        then = players_of_all(past, rule, redrawn=True)
        yield Arm(at, Order(9), then)
        yield Arm(at, None, then)
    yield Arm(at, Order(7), None)


def test_scores_are_those_of_repetitions(episode: Episode, children: list[Any]) -> None:
    """Decisions in order and back again, with and without redrawn futures, observing the past."""
    past = Past.read(episode)
    one = RecordPass(past.bare())
    for at in (0, 3, 4, 11, 2):
        for arm in arms(past, at):
            for future in (None, 0, 1):
                assert one.outcome(arm, future) == outcome(past, arm, future)
    assert len(children) == 5 * 7 * 3
    assert None not in children


def test_the_record_is_repeated_once(
    episode: Episode, children: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many of its decisions are judged."""
    past = Past.read(episode)
    runs: list[Any] = []

    def made(*arguments: Any) -> Run[Any]:
        runs.append(arguments)
        return Run(*arguments)

    monkeypatch.setattr(record_pass, "Run", made)
    one = RecordPass(past)
    then = players_of_all(past, "typical", redrawn=True)
    for at in range(12):
        one.outcome(Arm(at, Order(1), then), 0)
    assert len(runs) == 1
    assert len(children) == 12


def test_with_limits_or_redraws_on_record_each_course_repeats_it(
    children: list[Any], tmp_path: Path
) -> None:
    """Limits count the repeated part of a course, too."""
    file = tmp_path / "run.jsonl"
    limited = play(GAME, "typical", 4, record=file)
    redrawn = play_branch(file, 5, future=3)
    for past in (Past.read(limited, limits=Limits(decisions=50)), Past.read(redrawn)):
        arm = Arm(4, Order(9), players_of_all(past, "typical", redrawn=True))
        assert RecordPass(past).outcome(arm, 1) == outcome(past, arm, 1)
    assert not children


# -- on lanes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["order_up_to", "moving_average"])
def test_courses_on_lanes_have_the_scores_of_repetitions(rule: str) -> None:
    """Those who decided together with the changed one keep their recorded answers."""
    past = Past.read(play(GAME, dict.fromkeys(GAME.stages, "typical"), 4))
    one, then = RecordPass(past.bare()), players_of_all(past, rule, redrawn=True)
    for at in (0, 6, 7, 43, 5):
        for seeds in ([None], [0, 1, 2]):
            arms = [Arm(at, Order(units), then) for units in (0, 9)]
            for courses in (arms, [Arm(at, None, then)]):
                assert one.on_lanes(courses, seeds) == [
                    [outcome(past, arm, seed) for seed in seeds] for arm in courses
                ]


def test_what_lanes_cannot_play(episode: Episode) -> None:
    """Chance, roles that begin afresh, the record itself, and what is behind its end."""
    past = Past.read(episode)
    one = RecordPass(past)
    typical, chance = (players_of_all(past, rule, redrawn=True) for rule in ("typical", "random"))
    for arm in (
        Arm(3, Order(1), chance),
        Arm(3, Order(1), typical, frozenset({"retailer"})),
        Arm(3, Order(1), None),
        Arm(12, None, typical),
    ):
        assert one.on_lanes([arm], [0]) is None
    assert one.on_lanes([Arm(3, Order(1), typical)], [0]) is not None


def test_a_worker_begins_a_pass_of_its_own(episode: Episode, children: list[Any]) -> None:
    """A pickled one holds the record alone."""
    past = Past.read(episode)
    one = RecordPass(past)
    arm = Arm(3, Order(9), players_of_all(past, "typical", redrawn=True))
    score = one.outcome(arm, 0)
    assert pickle.loads(pickle.dumps(one)).outcome(arm, 0) == score  # noqa: S301 (made here)
    assert len(children) == 2
