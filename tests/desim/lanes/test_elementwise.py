"""Functions of numbers return the same for an array, entry by entry."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from desim.lanes.elementwise import at_least, at_most, where, whole

numbers = st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=5) | st.lists(
    st.floats(-1e9, 1e9), min_size=1, max_size=5
)


@given(numbers=numbers, limit=st.integers(-100, 100))
def test_an_array_has_the_results_of_its_entries(numbers: list[float], limit: int) -> None:
    """Limits, the whole number below, and a choice."""
    array = np.asarray(numbers)
    assert at_least(limit, array).tolist() == [at_least(limit, one) for one in numbers]
    assert at_most(limit, array).tolist() == [at_most(limit, one) for one in numbers]
    assert whole(array * 1.0).tolist() == [whole(one) for one in numbers]
    chosen = [where(one > limit, one, limit) for one in numbers]
    assert where(array > limit, array, limit).tolist() == chosen


@pytest.mark.parametrize("number", [3, 3.5])
def test_one_number_stays_a_number_of_python(number: float) -> None:
    """No array is made of it."""
    assert type(at_least(0, number)) is type(number)
    assert type(whole(number)) is int
