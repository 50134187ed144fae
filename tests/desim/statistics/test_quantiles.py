"""Quantiles and the mean of the worst share: exact probabilities, and coverage by simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from desim.errors import UsageError
from desim.statistics.quantiles import quantile, worst_mean

TRIALS = 2_000


@pytest.mark.parametrize(("n", "share"), [(20, 0.5), (50, 0.5), (60, 0.25), (100, 0.1), (100, 0.9)])
def test_the_interval_covers_as_often_as_it_says(n: int, share: float) -> None:
    """The probability that is told is the measured one, and at least the level."""
    drawn = np.random.default_rng(n).random((TRIALS, n))
    found = [quantile(values, share) for values in drawn.tolist()]
    assert {one.coverage for one in found} == {found[0].coverage}
    assert 0.95 <= found[0].coverage < 0.98
    covered = np.mean([(one.low or 0) <= share <= (one.high or 1) for one in found])
    error = math.sqrt(found[0].coverage * (1 - found[0].coverage) / TRIALS)
    assert abs(covered - found[0].coverage) < 4 * error


@pytest.mark.parametrize(("n", "share"), [(1, 0.5), (5, 0.5), (9, 0.3), (40, 0.5), (73, 0.95)])
def test_ends_are_the_innermost_order_statistics(n: int, share: float) -> None:
    """By enumeration: at most half of the rest is beyond each end, and one further in is more."""
    found, below = quantile([float(k) for k in range(1, n + 1)], share), stats.binom(n, share)
    low, high = int(found.low or 0), int(found.high or n + 1)
    # The k-th value is above the quantile if fewer than k are below it.
    assert below.cdf(low - 1) <= 0.025 < below.cdf(low)
    assert below.sf(high - 1) <= 0.025 < below.sf(high - 2)
    assert found.coverage == pytest.approx(below.cdf(high - 1) - below.cdf(low - 1))


def test_the_lower_quantile_mirrors_the_upper_one() -> None:
    """Of the negative values."""
    values = np.random.default_rng(1).normal(size=64)
    one, other = quantile(list(values), 0.2), quantile(list(-values), 0.8)
    assert one.low is not None
    assert other.high is not None
    assert (one.value, one.low) == pytest.approx((-other.value, -other.high))


def test_few_values_have_no_ends() -> None:
    """Three values say nothing of the range of a median at 95 %."""
    found = quantile([1.0, 2.0, 3.0], 0.5)
    assert (found.value, found.low, found.high, found.coverage) == (2.0, None, None, 1.0)


def test_the_mean_of_the_worst_share_is_that_of_the_lowest_values() -> None:
    """A value on the border counts in part; the share 1 is the mean of all."""
    values = [4.0, 1.0, 3.0, 2.0]
    assert worst_mean(values, 0.25).value == 1.0
    assert worst_mean(values, 0.5).value == pytest.approx(1.5)
    assert worst_mean(values, 0.375).value == pytest.approx((1 + 2 / 2) / 1.5)
    assert worst_mean(values, 1).value == pytest.approx(2.5)
    assert worst_mean([7.0], 0.1).value == pytest.approx(7)


def test_the_interval_of_the_worst_share_is_wider_than_a_plain_percentile_one() -> None:
    """By about as much as Student's is; its coverage is measured by `interval_coverage.py`."""
    values = np.random.default_rng(2).normal(size=20).tolist()
    found, plain = worst_mean(values, 0.5), plain_percentiles(values)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high
    assert 1.05 < (found.high - found.low) / (plain[1] - plain[0]) < 1.4


def plain_percentiles(values: list[float]) -> tuple[float, float]:
    """Return the percentile interval of the mean of the worst half, drawn independently."""
    drawn = np.random.default_rng(5).choice(values, (4000, len(values)))
    means = np.sort(drawn, axis=1)[:, : len(values) // 2].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


@pytest.mark.parametrize("call", [quantile, worst_mean])
@pytest.mark.parametrize(
    ("values", "share", "text"),
    [
        ([], 0.5, "without values"),
        ([1.0, math.inf], 0.5, "not finite"),
        ([1.0], 0, "share 0 was given"),
        ([1.0], 1.5, "share 1.5 was given"),
        ([1.0], math.nan, "share nan was given"),
    ],
)
def test_wrong_arguments_are_refused(
    call: object, values: list[float], share: float, text: str
) -> None:
    """In one sentence."""
    assert callable(call)
    with pytest.raises(UsageError, match=text):
        call(values, share)
