"""Sums and costs in integers are those of the operators of fractions, in their types too."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from models.beer_game.pipeline import cost, total

NUMBERS = st.one_of(
    st.integers(-(10**6), 10**6),
    st.floats(-1e6, 1e6).map(Fraction),
    st.fractions(-100, 100, max_denominator=60),
)


@given(st.lists(NUMBERS, min_size=1, max_size=4))
def test_a_total_is_the_sum(parts: list[int | Fraction]) -> None:
    """A fraction stays one where it becomes whole."""
    found, expected = total(*parts), sum(parts)
    assert (found, type(found)) == (expected, type(expected))


@given(NUMBERS, NUMBERS)
def test_a_cost_is_the_rounded_product(price: int | Fraction, units: int | Fraction) -> None:
    """Half a unit goes to the even one."""
    found = cost(price, units)
    assert type(found) is int
    assert found == round(price * units)
