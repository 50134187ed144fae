"""`Tally` and `TimeWeighted`: against numpy and exact fractions, with warm-ups, without time."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from desim import World
from desim.errors import UsageError
from desim.monitoring import Tally, TimeWeighted, tally


class Clock:
    """A clock that a test sets."""

    now = 0


def test_a_tally_agrees_with_numpy() -> None:
    """Also where the mean is a billion times the deviation."""
    draws = np.random.default_rng(1).normal(size=1_000)
    for shift in (0.0, 1e9):
        values, found = draws + shift, Tally()
        for value in values:
            found.add(value)
        assert found.count == 1_000
        assert found.mean == pytest.approx(values.mean(), rel=1e-14)
        assert found.variance == pytest.approx(values.var(ddof=1), rel=1e-9)
        assert found.sd == pytest.approx(values.std(ddof=1), rel=1e-9)
        assert (found.smallest, found.largest) == (values.min(), values.max())
        for share in (0, 0.05, 0.5, 0.951, 1):
            assert found.quantile(share) == pytest.approx(np.quantile(values, share), rel=1e-12)


def test_a_tally_without_observations_knows_nothing() -> None:
    """NaN and no exception; one observation has no variance."""
    found = Tally()
    for value in (found.mean, found.variance, found.sd, found.smallest, found.quantile(0.5)):
        assert math.isnan(value)
    found.add(3)
    assert (found.mean, found.smallest, found.quantile(0.9)) == (3, 3, 3)
    assert math.isnan(found.variance)


def test_a_long_tally_keeps_every_second_observation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only quantiles are of these; memory is bounded."""
    monkeypatch.setattr(tally, "MOST_KEPT", 100)
    found = Tally()
    for value in range(1_000):
        found.add(value)
    assert (found.count, found.mean) == (1_000, 499.5)
    assert found.quantile(0.5) == pytest.approx(499.5, abs=16)
    assert len(found._kept) <= 100


def test_a_warm_up_counts_nowhere() -> None:
    """Neither in the number nor in the figures."""
    clock = Clock()
    found = Tally(clock, warm_up=10)
    for clock.now, value in [(0, 5), (9, 5), (10, 1), (11, 3)]:
        found.add(value)
    assert (found.count, found.mean, found.largest) == (2, 2, 3)


def test_time_weighted_figures_are_those_of_exact_fractions() -> None:
    """Steps of random lengths, at ticks in the billions."""
    rng = np.random.default_rng(2)
    clock = Clock()
    clock.now = start = 10**12
    level = TimeWeighted(clock, 7)
    spans = []
    for length, value in zip(rng.integers(1, 10**9, 500), rng.integers(-50, 50, 500), strict=True):
        spans.append((int(length), int(level.current)))
        clock.now += int(length)
        level.set(int(value))
    ticks = sum(length for length, _ in spans)
    mean = Fraction(sum(length * value for length, value in spans), ticks)
    squares = sum(length * (value - mean) ** 2 for length, value in spans)
    assert level.ticks == ticks == clock.now - start
    assert level.mean == pytest.approx(float(mean), rel=1e-12)
    assert level.variance == pytest.approx(float(squares / ticks), rel=1e-12)
    assert level.smallest == min(value for _, value in spans)
    assert level.largest == max(value for _, value in spans)


def test_a_value_that_lasted_no_tick_counts_nowhere() -> None:
    """An event at the tick of another one changes no extreme."""
    clock = Clock()
    level = TimeWeighted(clock)
    level.add(9)
    level.add(-8)
    clock.now = 4
    level.set(100)
    assert (level.mean, level.smallest, level.largest, level.current) == (1, 1, 1, 100)


def test_without_time_there_is_no_average() -> None:
    """NaN and no division by zero: at the start and during a warm-up."""
    world = World()
    warm = TimeWeighted(world, 3, warm_up=100)
    world.run(until=world.timeout(50))
    for each in (TimeWeighted(world, 3), warm):
        assert each.ticks == 0
        assert all(map(math.isnan, (each.mean, each.variance, each.smallest, each.largest)))
        assert each.current == 3


def test_a_warm_up_is_cut_off_at_its_tick() -> None:
    """The value that it left counts from there on."""
    clock = Clock()
    level = TimeWeighted(clock, 1, warm_up=10)
    for clock.now, value in [(4, 50), (20, 2), (30, 0)]:
        level.set(value)
    assert (level.ticks, level.mean) == (20, (10 * 50 + 10 * 2) / 20)
    assert (level.smallest, level.largest) == (2, 50)


@pytest.mark.parametrize("value", [math.nan, math.inf, "7", None], ids=str)
def test_only_numbers_are_observed(value: Any) -> None:
    """A statistic with a NaN in it would be NaN for good."""
    level = TimeWeighted(Clock())
    with pytest.raises(UsageError, match="it is a finite number"):
        Tally().add(value)
    with pytest.raises(UsageError, match="it is a finite number"):
        level.set(value)
    assert level.current == 0


def test_what_is_no_warm_up_or_quantile_is_refused() -> None:
    """One sentence each."""
    with pytest.raises(UsageError, match="a whole number of ticks, at least 0"):
        TimeWeighted(Clock(), warm_up=-1)
    with pytest.raises(UsageError, match="a warm-up needs a clock"):
        Tally(warm_up=3)
    with pytest.raises(UsageError, match="0 to 1 is possible"):
        Tally().quantile(math.nan)
