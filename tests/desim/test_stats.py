"""Intervals, paired differences and the selection of the best, against scipy.stats and by trial."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from desim.errors import UsageError
from desim.stats import Interval, best, interval, paired

numbers = st.floats(-1e6, 1e6)
samples = st.lists(numbers, min_size=2, max_size=30)


@given(samples, st.floats(0.5, 0.999))
def test_an_interval_is_that_of_student(values: list[float], level: float) -> None:
    """Mean, deviation and ends are those of scipy.stats."""
    found, n = interval(values, level), len(values)
    scale = max(1.0, *map(abs, values))
    quantile = stats.t.ppf((1 + level) / 2, n - 1)
    half = quantile * np.std(values, ddof=1) / math.sqrt(n)
    assert found.mean == pytest.approx(np.mean(values), abs=1e-12 * scale)
    assert found.sd == pytest.approx(np.std(values, ddof=1), abs=1e-9 * scale)
    ends = (found.mean - half, found.mean + half)
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-9 * scale * quantile)


def test_equal_values_have_an_interval_without_width() -> None:
    """What never varies is known."""
    assert interval([7, 7, 7]) == Interval(7.0, 0.0, 7.0, 7.0, 3)


def test_one_value_says_nothing_of_its_spread() -> None:
    """The interval of a single value is unknown, not empty."""
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
def test_what_has_no_interval_is_refused(values: list[float], level: float, text: str) -> None:
    """Nothing, something infinite, or a level that is none."""
    with pytest.raises(UsageError) as refused:
        interval(values, level)
    assert str(refused.value) == text


def test_an_interval_holds_the_truth_as_often_as_it_says() -> None:
    """Of 4000 intervals at 90 %, those with the true mean are a binomial number.

    Four standard deviations of it: a right interval fails once in 16,000 choices of the seed.
    """
    trials, level = 4000, 0.9
    draws = np.random.default_rng(1).normal(3, 2, (trials, 5)).tolist()
    found = [interval(draw, level) for draw in draws]
    hits = sum(one.low <= 3 <= one.high for one in found if one.low is not None and one.high)
    assert abs(hits - trials * level) <= 4 * math.sqrt(trials * level * (1 - level))


@given(st.lists(st.tuples(numbers, numbers), min_size=2, max_size=20))
def test_a_paired_difference_is_the_interval_of_differences(
    pairs: list[tuple[float, float]],
) -> None:
    """Both as values in a row and by seed."""
    mine, theirs = zip(*pairs, strict=True)
    wanted = interval([a - b for a, b in pairs])
    assert paired(mine, theirs) == wanted
    assert paired(dict(enumerate(mine)), dict(enumerate(theirs))) == wanted


def test_only_seeds_that_both_have_are_paired() -> None:
    """A failed episode takes its pair with it."""
    assert paired({1: 5.0, 2: 7.0, 3: 9.0}, {3: 8.0, 1: 3.0, 9: 0.0}) == interval([2.0, 1.0])


@pytest.mark.parametrize(
    ("mine", "theirs", "text"),
    [
        ([1, 2], [1], "2 and 1 values cannot be paired; give one a seed each, or by seed"),
        ({1: 1}, {2: 2}, "there is no seed that all have, so nothing can be paired"),
        ({1: 1}, [1], "values by seed cannot be paired with values in a row; give both alike"),
    ],
)
def test_what_has_no_pairs_is_refused(mine: object, theirs: object, text: str) -> None:
    """Values belong together by place or by seed."""
    with pytest.raises(UsageError) as refused:
        paired(mine, theirs)  # type: ignore[arg-type]
    assert str(refused.value) == text


def correlated(rng: np.random.Generator, means: list[float], seeds: int) -> NDArray[np.float64]:
    """Rows of alternatives that share the better part of their noise, as common seeds make them."""
    shared = rng.normal(0, 3, seeds)
    return np.array([mean + shared + rng.normal(0, 1, seeds) for mean in means])


def test_alternatives_that_differ_clearly_are_told_apart() -> None:
    """Common noise, however large, does not hide a difference in pairs."""
    rows = correlated(np.random.default_rng(2), [0.0, 2.0, 4.0], 20)
    assert best(dict(zip("abc", rows.tolist(), strict=True))) == ("c",)


def test_the_best_is_lost_as_seldom_as_promised() -> None:
    """Equal means are the hardest case: each of 2000 trials may lose the named best at alpha.

    The count of losses is at most binomial with alpha; four standard deviations on top.
    """
    trials, alpha, rng = 2000, 0.1, np.random.default_rng(3)
    lost = sum(
        "a"
        not in best(dict(zip("abc", correlated(rng, [0, 0, 0], 8).tolist(), strict=True)), alpha)
        for _ in range(trials)
    )
    assert 0 < lost <= trials * alpha + 4 * math.sqrt(trials * alpha * (1 - alpha))


def test_the_selection_is_a_paired_t_test_against_each_other_alternative() -> None:
    """One is dropped exactly where scipy's one-sided paired test says so at alpha / (k - 1)."""
    rng, alpha = np.random.default_rng(4), 0.2
    dropped = 0
    for _ in range(50):
        rows = dict(zip("abc", correlated(rng, [0, 0.3, 0.6], 6).tolist(), strict=True))
        for name, values in rows.items():
            tests = [
                stats.ttest_rel(other, values, alternative="greater").pvalue
                for rival, other in rows.items()
                if rival != name
            ]
            assert (name in best(rows, alpha)) == (min(tests) >= alpha / 2)
            dropped += name not in best(rows, alpha)
    assert 20 < dropped < 130  # both answers occurred


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        ({"a": [1.0], "b": [9.0]}, ("b", "a")),
        ({"a": [1.0, 2.0], "b": [2.0, 3.0]}, ("b",)),
        ({"a": [1.0, 2.0], "b": [1.0, 2.0]}, ("a", "b")),
        ({"a": {1: 1.0, 2: 2.0, 3: 99.0}, "b": {1: 2.0, 2: 3.0}}, ("b",)),
        ({"a": [1.0, 2.0]}, ("a",)),
    ],
)
def test_small_selections(values: dict[str, list[float]], kept: tuple[str, ...]) -> None:
    """One seed tells nothing, a constant difference everything, equals stay together."""
    assert best(values) == kept


@pytest.mark.parametrize(
    ("values", "alpha", "text"),
    [
        ({}, 0.05, "there is nothing to choose from"),
        ({"a": [1.0]}, 0, "alpha 0 was given; it is above 0 and below 1"),
    ],
)
def test_a_selection_needs_something(
    values: dict[str, list[float]], alpha: float, text: str
) -> None:
    """Alternatives, and a probability of error."""
    with pytest.raises(UsageError) as refused:
        best(values, alpha)
    assert str(refused.value) == text


def test_intervals_need_no_import_of_a_second() -> None:
    """`scipy.stats` stays out, and scipy altogether until an interval is asked for."""
    code = (
        "import sys, desim.stats; assert 'scipy' not in sys.modules;"
        "desim.stats.interval([1, 2]); assert 'scipy.special' in sys.modules;"
        "assert 'scipy.stats' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("value", [0.1, 0.934027777777778, 1e300, -3])
@pytest.mark.parametrize("n", [2, 3, 20])
def test_equal_values_do_not_scatter(value: float, n: int) -> None:
    """Rounding makes no deviation where there is none."""
    estimate = interval([value] * n)
    assert (estimate.mean, estimate.sd, estimate.low, estimate.high) == (value, 0, value, value)
