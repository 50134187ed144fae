"""Paired differences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desim.errors import UsageError
from desim.statistics.intervals import interval
from desim.statistics.pairing import paired

numbers = st.floats(-1e6, 1e6)


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
