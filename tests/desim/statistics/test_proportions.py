"""Intervals of shares: against scipy's, and their coverage by simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from desim.errors import UsageError
from desim.statistics.proportions import paired_share, share


@given(st.integers(1, 400), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_a_share_has_the_interval_that_scipy_computes(
    n: int, data: st.DataObject, level: float
) -> None:
    """Wilson's score interval without a correction."""
    hits = data.draw(st.integers(0, n))
    mine = share([1] * hits + [0] * (n - hits), level)
    theirs = stats.binomtest(hits, n).proportion_ci(level, method="wilson")
    assert (mine.low, mine.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert mine.low is not None
    assert mine.high is not None
    assert 0 <= mine.low <= mine.mean <= mine.high <= 1


@pytest.mark.parametrize("rate", [0.03, 0.2, 0.5, 0.9])
def test_a_share_is_covered(rate: float) -> None:
    """At 20 seeds, also where half of all samples hold no event; Student's covers 0.45 there."""
    draws = np.random.default_rng(1).random((2_000, 20)) < rate
    found = [share([float(v) for v in each]) for each in draws]
    covered = np.mean([one.low <= rate <= one.high for one in found])  # type: ignore[operator]
    # Shares of few seeds are lumpy: the coverage of Wilson's interval waves about its level.
    assert 0.90 < covered < 0.995


@pytest.mark.parametrize(("p", "q", "both"), [(0.1, 0.02, 0.3), (0.3, 0.3, 0.2), (0.02, 0.0, 0.0)])
def test_a_difference_of_paired_shares_is_covered(p: float, q: float, both: float) -> None:
    """Of 30 pairs with probabilities *p* and *q* of the two discordant kinds."""
    draws = np.random.default_rng(2).random((2_000, 30))
    covered = 0
    for each in draws:
        mine = (each < p) | (each > 1 - both)
        theirs = ((each >= p) & (each < p + q)) | (each > 1 - both)
        one = paired_share([float(v) for v in mine], [float(v) for v in theirs])
        assert one.low is not None
        assert one.high is not None
        covered += one.low <= p - q <= one.high
    assert 0.93 < covered / 2_000 <= 1


def test_values_that_are_no_truth_values_are_refused() -> None:
    """As are numbers of values that cannot be paired, and levels out of range."""
    for wrong in ([0.5], [2], []):
        with pytest.raises(UsageError):
            share(wrong)
    with pytest.raises(UsageError, match="2 and 1 values"):
        paired_share([1, 0], [1])
    with pytest.raises(UsageError, match="neither 0 nor 1"):
        paired_share([1, 0], [1, 3])
    with pytest.raises(UsageError, match="level 1"):
        share([1], 1)
