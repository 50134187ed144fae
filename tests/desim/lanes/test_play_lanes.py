"""Lanes that are played with policies: the results of `play`, seed by seed."""

from typing import Any

import numpy as np
import pytest
from attrs import evolve, frozen
from hypothesis import given, settings
from hypothesis import strategies as st
from support.bakery import Bake, Bakery, Cautious, Failing, Generous, Level, Morning, Smoothing

from desim.core.result import flat
from desim.episodes.driver import play
from desim.lanes.lane_columns import Columns
from desim.lanes.lane_protocols import NoLanes
from desim.lanes.play_lanes import LaneResults, answers_all, lanes_of, play_lanes

SEEDS = [*range(8)]


def on_lanes(model: Any, policy: Any, seeds: list[int]) -> LaneResults:
    """The results of some seeds on lanes."""
    return play_lanes(lanes_of(model, ("baker",), seeds), {"baker": policy})


@settings(max_examples=25, deadline=None)
@given(
    days=st.integers(1, 30),
    cash=st.integers(0, 5_000),
    policy=st.one_of(st.builds(Level, st.integers(-3, 40)), st.builds(Smoothing, st.floats(0, 1))),
)
def test_results_on_lanes_are_those_of_play(days: int, cash: int, policy: Any) -> None:
    """Scores, ends, decisions and metrics are equal, with their types, also after bankruptcies."""
    model = Bakery(days=days, cash=cash)
    found = on_lanes(model, evolve(policy), SEEDS)
    for place, seed in enumerate(SEEDS):
        result = play(model, evolve(policy), seed).result
        assert result is not None
        assert (found.scores[place], found.end_reasons[place], found.decisions[place]) == (
            result.score,
            result.ended,
            result.decisions,
        )
        metrics = {name: column[place] for name, column in found.metrics.items()}
        assert repr(metrics) == repr(dict(flat(result.metrics)))


def test_lanes_go_on_from_open_questions() -> None:
    """Forks of one lane with redrawn futures are the branches of `play`."""
    lanes = lanes_of(Bakery(), ("baker",), [3])
    questions = lanes.reset()
    for _ in range(4):
        questions = lanes.step({"baker": Level().decide_all(questions["baker"])})
    forked = lanes.fork(np.zeros(3, int))
    forked.redraw([5, 6, 5])
    found = play_lanes(forked, {"baker": Level()}, {"baker": forked_question(questions, 3)})
    assert found.scores[0] == found.scores[2] != found.scores[1]
    whole = play(Bakery(), Level(), 3)
    assert (
        found.scores[0] != whole.score == play_lanes(lanes, {"baker": Level()}, questions).scores[0]
    )


def forked_question(questions: Any, count: int) -> Columns:
    """The question of one lane, that of several."""
    seen = questions["baker"]
    return Columns(
        Morning, {name: np.repeat(seen[name], count) for name in seen}, np.ones(count, bool)
    )


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (Bakery(loan=True), "a bakery with a loan has no lanes"),
        (Generous(), "Generous has no lanes of its own, and replaces score"),
    ],
)
def test_models_without_lanes_are_refused(model: Any, reason: str) -> None:
    """A model says why; a subclass that replaces a rule does not inherit lanes without it."""
    with pytest.raises(NoLanes, match=reason):
        lanes_of(model, ("baker",), SEEDS)


@frozen
class _Drawing(Level):
    draws = True


@frozen
class _Learning(Level):
    def after(self, episode: Any) -> None:
        """Learn nothing."""


def _function(morning: Morning) -> Bake:
    return Bake(1)


@pytest.mark.parametrize(
    ("policy", "answers"),
    [
        (Level(), True),
        (Level, True),
        (Smoothing, True),
        (Failing, True),
        (Cautious(), False),
        (_Drawing(), False),
        (_Learning, False),
        (_function, False),
    ],
)
def test_policies_that_cannot_answer_all_lanes(policy: Any, answers: bool) -> None:  # noqa: FBT001
    """Without `decide_all`, or with an inherited one, and where chance or an episode counts."""
    assert answers_all(policy) == answers


def test_faults_of_policies_and_lanes_are_raised() -> None:
    """A policy's exception and figures that lanes cannot hold."""
    with pytest.raises(ValueError, match="no flour"):
        on_lanes(Bakery(), Failing(faulty=0), SEEDS)
    with pytest.raises(NoLanes, match="more than 10000 loaves"):
        on_lanes(Bakery(), Failing(greedy=0), SEEDS)


@frozen
class _Writing(Level):
    """Writes to what it observes."""

    def decide_all(self, mornings: Columns) -> Any:
        """Empty the shelf."""
        mornings.stock[...] = 0
        return Level.decide_all(self, mornings)


def test_a_policy_cannot_write_to_the_arrays_of_the_lanes() -> None:
    """An observation may be an array of the lanes, so that writing to it would change the world."""
    with pytest.raises(ValueError, match="read-only"):
        on_lanes(Bakery(), _Writing(), SEEDS)
