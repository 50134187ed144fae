"""Intervals of a mean, against scipy.stats and by repeated sampling."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from desim.errors import UsageError
from desim.statistics.intervals import Interval, interval

samples = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30)


@given(samples, st.floats(0.5, 0.999))
def test_an_interval_is_that_of_student(values: list[float], level: float) -> None:
    """Mean, standard deviation and ends are those of scipy.stats."""
    found, n = interval(values, level), len(values)
    scale = max(1.0, *map(abs, values))
    quantile = stats.t.ppf((1 + level) / 2, n - 1)
    half = quantile * np.std(values, ddof=1) / math.sqrt(n)
    assert found.mean == pytest.approx(np.mean(values), abs=1e-12 * scale)
    assert found.sd == pytest.approx(np.std(values, ddof=1), abs=1e-9 * scale)
    ends = (found.mean - half, found.mean + half)
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-9 * scale * quantile)


def test_equal_values_have_an_interval_without_width() -> None:
    """Their standard deviation is 0."""
    assert interval([7, 7, 7]) == Interval(7.0, 0.0, 7.0, 7.0, 3)


def test_one_value_has_no_standard_deviation() -> None:
    """The interval of a single value is None, not of width 0."""
    assert interval([3]) == Interval(3.0, None, None, None, 1)
    assert interval([3]).half is None


def test_truth_counts_as_one() -> None:
    """The mean of truth values is their share."""
    assert interval([True, False, True, True]).mean == 0.75


@given(st.permutations([0.1, 0.2, 0.3, 1e6, -1e6, 7e-9]))
def test_the_order_of_values_changes_no_bit(values: list[float]) -> None:
    """Sums are exactly rounded."""
    assert interval(values) == interval(sorted(values))


@pytest.mark.parametrize(
    ("values", "level", "text"),
    [
        ([], 0.95, "no values were given; a mean needs at least one"),
        ([1.0, math.nan], 0.95, "a value is not finite; leave it out or mend the figure"),
        ([1.0, 2.0], 1.0, "level 1.0 was given; a level is above 0 and below 1"),
        ([1.0, 2.0], 0, "level 0 was given; a level is above 0 and below 1"),
    ],
)
def test_values_without_an_interval_are_refused(
    values: list[float], level: float, text: str
) -> None:
    """No values, one that is not finite, or a level that is no probability."""
    with pytest.raises(UsageError) as refused:
        interval(values, level)
    assert str(refused.value) == text


def test_an_interval_covers_the_mean_as_often_as_its_level() -> None:
    """The number of 4000 intervals at 90 % that hold the true mean is binomial.

    The tolerance is four of its standard deviations: a correct interval fails for one seed of the
    generator in 16,000.
    """
    trials, level = 4000, 0.9
    draws = np.random.default_rng(1).normal(3, 2, (trials, 5)).tolist()
    found = [interval(draw, level) for draw in draws]
    hits = sum(one.low <= 3 <= one.high for one in found if one.low is not None and one.high)
    assert abs(hits - trials * level) <= 4 * math.sqrt(trials * level * (1 - level))


def test_intervals_do_not_import_what_is_slow() -> None:
    """`scipy.stats` is never imported, and `scipy.special` only for the first interval."""
    code = (
        "import sys, desim.statistics; assert 'scipy' not in sys.modules;"
        "desim.statistics.interval([1, 2]); assert 'scipy.special' in sys.modules;"
        "assert 'scipy.stats' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("value", [0.1, 0.934027777777778, 1e300, -3])
@pytest.mark.parametrize("n", [2, 3, 20])
def test_equal_values_have_no_deviation_by_rounding(value: float, n: int) -> None:
    """The mean of equal doubles is that double."""
    estimate = interval([value] * n)
    assert (estimate.mean, estimate.sd, estimate.low, estimate.high) == (value, 0, value, value)
