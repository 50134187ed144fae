"""Differences of two means, several at once, and the seeds that a precision needs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from desim.errors import UsageError
from desim.statistics.intervals import interval, seeds_for_difference
from desim.statistics.pairing import difference, paired, simultaneous
from desim.statistics.proportions import paired_share

numbers = st.floats(-1e6, 1e6)


def test_the_unpaired_width_and_the_correlation_are_scipys() -> None:
    """Welch's interval and Pearson's correlation."""
    draws = np.random.default_rng(3)
    mine, theirs = draws.normal(0, 1, 12), draws.normal(1, 4, 12)
    found = difference(list(mine), list(theirs), 0.9)
    between = stats.ttest_ind(mine, theirs, equal_var=False).confidence_interval(0.9)
    assert found.unpaired == pytest.approx((between.high - between.low) / 2)
    assert found.correlation == pytest.approx(stats.pearsonr(mine, theirs).statistic)
    assert found.paired == interval(list(mine - theirs), 0.9)


def test_pairs_of_one_case_are_no_independent_pairs() -> None:
    """The interval of six seeds of three cases rests on the means of the cases."""
    mine, clusters = [1.0, 2, 4, 1.5, 2.5, 5], "abcabc"
    found = difference(mine, [0.0] * 6, clusters=clusters).paired
    assert found.half == pytest.approx(interval([1.25, 2.25, 4.5]).half)
    assert (found.n, found.mean) == (6, pytest.approx(8 / 3))


def test_truth_values_are_compared_as_shares() -> None:
    """Only where they are said to be truth values."""
    mine, theirs = [1.0, 1, 0, 1], [0.0, 1, 0, 0]
    assert difference(mine, theirs, truth=True).paired == paired_share(mine, theirs)
    assert difference(mine, theirs).paired == interval([1, 0, 0, 1])
    assert difference([0.5, 1], [1, 1], truth=True).paired == interval([-0.5, 0])


def test_nine_identical_rivals_rarely_differ() -> None:
    """At most 5 % of tables show a difference to the reference; without Bonferroni 27 % do."""
    draws = np.random.default_rng(5).normal(size=(1_000, 20, 10))
    false = 0
    for table in draws:
        means = [
            difference(list(table[:, rival]), list(table[:, 0]), simultaneous(0.95, 9)).paired
            for rival in range(1, 10)
        ]
        false += any(one.low > 0 or one.high < 0 for one in means)  # type: ignore[operator]
    assert false <= 50


def test_so_many_seeds_tell_the_difference() -> None:
    """And one seed less does not, if mean and standard deviation stay."""
    known = interval(values := list(np.random.default_rng(6).normal(10, 20, 40)))
    n = seeds_for_difference(values)
    assert n is not None
    assert known.sd is not None
    for seeds, within in [(n, True), (n - 1, False)]:
        half = stats.t.ppf(0.975, seeds - 1) * known.sd / seeds**0.5
        assert bool(half <= known.mean / 2) is within


def test_what_cannot_be_told_is_none() -> None:
    """One value, equal values, no difference, or more seeds than anybody can play."""
    for values in ([1.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, 1.0 + 1e-9]):
        assert seeds_for_difference(values) is None
    assert seeds_for_difference([1.0, 1.0 + 1e-9]) == 2
    with pytest.raises(UsageError, match="pairs need as many"):
        difference([1.0], [1.0, 2.0])


@given(st.lists(st.tuples(numbers, numbers), min_size=2, max_size=20))
def test_a_paired_difference_is_the_interval_of_differences(
    pairs: list[tuple[float, float]],
) -> None:
    """As lists of values and as values by seed."""
    mine, theirs = zip(*pairs, strict=True)
    wanted = interval([a - b for a, b in pairs])
    assert paired(mine, theirs) == wanted
    assert paired(dict(enumerate(mine)), dict(enumerate(theirs))) == wanted


def test_only_seeds_that_both_have_are_paired() -> None:
    """A seed that one of the two failed is left out."""
    assert paired({1: 5.0, 2: 7.0, 3: 9.0}, {3: 8.0, 1: 3.0, 9: 0.0}) == interval([2.0, 1.0])


@pytest.mark.parametrize(
    ("mine", "theirs", "text"),
    [
        ([1, 2], [1], "2 and 1 values cannot be paired; give equally many, or by seed"),
        ({1: 1}, {2: 2}, "there is no common seed, so nothing can be paired"),
        ({1: 1}, [1], "values by seed cannot be paired with values in a list; give both alike"),
    ],
)
def test_values_without_pairs_are_refused(mine: object, theirs: object, text: str) -> None:
    """Values are paired by their position or by seed."""
    with pytest.raises(UsageError) as refused:
        paired(mine, theirs)  # type: ignore[arg-type]
    assert str(refused.value) == text
