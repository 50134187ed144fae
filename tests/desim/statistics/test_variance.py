"""Variance components and runs needed, against known ones by simulation and against tables."""

import math

import numpy as np
import pytest
from scipy import stats

from desim.errors import UsageError
from desim.statistics.variance import MOST_RUNS, runs_needed, variance_components

#: Groups of different sizes, of which one has a single value.
SIZES = (1, 2, 2, 3, 5, 8)


def drawn(between: float, within: float, times: int) -> list[list[list[float]]]:
    """Samples with known variances: *times* layouts of groups."""
    rng = np.random.default_rng(7)
    return [
        [
            list(effect + rng.normal(0, math.sqrt(within), size))
            for size, effect in zip(
                SIZES, rng.normal(0, math.sqrt(between), len(SIZES)), strict=True
            )
        ]
        for _ in range(times)
    ]


@pytest.mark.parametrize(("between", "within"), [(25.0, 1.0), (4.0, 0.1), (1.0, 0.0)])
def test_components_are_known_ones_on_average(between: float, within: float) -> None:
    """Within four standard errors; where groups differ much, hardly an estimate is cut at 0."""
    found = [one for groups in drawn(between, within, 1500) if (one := variance_components(groups))]
    assert sum(one.negative for one in found) < 5
    for name, known in (("between", between), ("within", within)):
        estimates = [getattr(one, name) for one in found]
        error = np.std(estimates) / math.sqrt(len(estimates))
        assert abs(np.mean(estimates) - known) <= 4 * error + 1e-12


def test_without_effects_half_the_estimates_are_negative_and_said_to_be() -> None:
    """They are 0."""
    found = [one for groups in drawn(0.0, 1.0, 400) if (one := variance_components(groups))]
    negative = [one for one in found if one.negative]
    assert 0.4 < len(negative) / len(found) < 0.75
    assert {one.between for one in negative} == {0.0}
    assert all(one.between > 0 for one in found if not one.negative)


def test_mean_squares_are_those_of_the_analysis_of_variance() -> None:
    """F of scipy is the ratio of the mean squares, from which the estimate follows."""
    groups = drawn(2.0, 1.0, 1)[0]
    found = variance_components(groups)
    assert found is not None
    ratio = stats.f_oneway(*groups).statistic
    size = (sum(SIZES) - sum(n * n for n in SIZES) / sum(SIZES)) / (len(SIZES) - 1)
    assert found.between == pytest.approx((ratio - 1) * found.within / size)


@pytest.mark.parametrize("groups", [[], [[1.0, 2.0]], [[1.0], [2.0]], [[1.0, 2.0], []]])
def test_what_cannot_be_split_is_not(groups: list[list[float]]) -> None:
    """One group, or none with two values."""
    assert variance_components(groups) is None


@pytest.mark.parametrize(
    ("difference", "sd", "samples", "published"),
    # Two samples: Cohen (1988), table 2.4.1.
    [
        (0.5, 1.0, 2, 64),
        (0.8, 1.0, 2, 26),
        (1.0, 1.0, 2, 17),
        (0.5, 1.0, 1, 34),
        (-1.0, 2.0, 1, 34),
    ],
)
def test_runs_needed_are_those_of_tables(
    difference: float, sd: float, samples: int, published: int
) -> None:
    """At 95 % and a power of 0.8."""
    assert runs_needed(difference, samples * sd**2, samples=samples) == published


def test_so_many_runs_find_the_difference_that_often() -> None:
    """By simulation, and one run less finds it less often."""
    needed = runs_needed(0.7, 1.0)
    assert needed is not None
    values = np.random.default_rng(1).normal(0.7, 1.0, (20_000, needed))
    half = stats.t.ppf(0.975, needed - 1) * values.std(axis=1, ddof=1) / math.sqrt(needed)
    assert 0.79 < np.mean(values.mean(axis=1) - half > 0) < 0.83


def test_extremes_have_a_number_or_none() -> None:
    """No difference, too small a one, no variance, a huge difference."""
    assert runs_needed(0.0, 1.0) is None
    assert runs_needed(1e-9, 1.0) is None
    assert runs_needed(1.0, 0.0) == runs_needed(1e9, 1e-9) == 2
    found = runs_needed(0.01, 1.0)
    assert found is not None
    assert 78_000 < found < MOST_RUNS


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"difference": math.nan}, "difference nan"),
        ({"variance": -1.0}, "variance -1.0"),
        ({"variance": math.inf}, "variance inf"),
    ],
)
def test_what_is_out_of_range_is_refused(change: dict[str, float], says: str) -> None:
    """One sentence."""
    with pytest.raises(UsageError, match=says):
        runs_needed(**{"difference": 1.0, "variance": 1.0, **change})  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="not finite"):
        variance_components([[1.0, math.nan], [2.0]])
