"""Survival curves beside those of scipy, and their coverage by simulation."""

import math
import warnings

import numpy as np
import pytest
from scipy import stats

from desim.errors import UsageError
from desim.statistics.survival import survival


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_curve_and_its_intervals_are_those_of_scipy(seed: int, level: float) -> None:
    """With ties, and with events and cuts at one time."""
    rng = np.random.default_rng(seed)
    lives, cuts = rng.integers(1, 13, 60), rng.integers(1, 16, 60)
    times, events = np.minimum(lives, cuts), lives <= cuts
    found = survival(times.tolist(), events.tolist(), level)
    known = stats.ecdf(stats.CensoredData(uncensored=times[events], right=times[~events])).sf
    with warnings.catch_warnings():
        # At a share of 0, scipy warns that there is no interval.
        warnings.simplefilter("ignore", RuntimeWarning)
        ends = known.confidence_interval(level, method="log-log")
    assert len(found.steps) > 8
    for step in found.steps:
        assert step.share == pytest.approx(float(known.evaluate(step.time)))
        if step.low is not None:
            assert step.low == pytest.approx(float(ends.low.evaluate(step.time)))
            assert step.high == pytest.approx(float(ends.high.evaluate(step.time)))


def test_a_curve_by_hand() -> None:
    """Six companies: two fail, one is cut off at the time of the first failure."""
    found = survival([3, 3, 5, 8, 9, 9], [True, False, False, True, False, False])
    first, second = found.steps
    assert (first.time, first.share, first.at_risk, first.events) == (3, 5 / 6, 6, 1)
    assert (second.time, second.at_risk) == (8, 3)
    assert second.share == pytest.approx(5 / 6 * 2 / 3)
    assert found.at(2.9) is None
    assert (found.at(3), found.at(7.9), found.at(100)) == (first, first, second)
    assert found.median() is None


def test_nobody_is_left_after_the_last_event() -> None:
    """The share is 0, and has no interval."""
    found = survival([1, 2], [True, True])
    assert [(one.share, one.low is None) for one in found.steps] == [(0.5, False), (0.0, True)]
    assert found.median() == 1


def test_without_an_event_everybody_survives() -> None:
    """There is no step."""
    found = survival([4.0, 5.0], [False, False])
    assert (found.steps, found.at(9), found.median(), found.n) == ((), None, None, 2)


def test_intervals_cover_as_often_as_they_say() -> None:
    """The share at 0.7 of 50 exponential lives, a third of them cut off; 2,000 trials."""
    rng, held = np.random.default_rng(8), 0
    for _ in range(2_000):
        lives, cuts = rng.exponential(size=50), rng.exponential(2, 50)
        step = survival(np.minimum(lives, cuts).tolist(), (lives <= cuts).tolist()).at(0.7)
        assert step is not None
        assert step.low is not None
        held += step.low <= math.exp(-0.7) <= (step.high or 0)
    assert 0.93 <= held / 2_000 <= 0.97


@pytest.mark.parametrize(
    ("durations", "events", "text"),
    [
        ([], [], "no durations"),
        ([1.0], [], "1 durations and 0 events"),
        ([-1.0], [True], "negative or not finite"),
        ([math.nan], [True], "negative or not finite"),
        ([1.0], [2], "neither true nor false"),
    ],
)
def test_wrong_arguments_are_refused(durations: list[float], events: list[bool], text: str) -> None:
    """In one sentence."""
    with pytest.raises(UsageError, match=text):
        survival(durations, events)
