"""Validators of numbers: what each accepts, and the one sentence with which it refuses the rest."""

import math
import re
from typing import Any

import numpy as np
import pytest
from attrs import field, frozen

from desim.schema.validators import finite, finite_numbers, whole
from desim.short_repr import short_repr


@frozen
class Terms:
    """One field of each kind."""

    rate: float = field(default=0.5, validator=finite)
    weeks: int = field(default=4, validator=whole)
    triangle: tuple[float, ...] = field(default=(0.0, 1.0, 2), validator=finite_numbers(3))
    shares: tuple[float, ...] = field(default=(), validator=finite_numbers())


@pytest.mark.parametrize("rate", [-3, 1e308, np.float64(0.5)])
def test_a_finite_number_is_an_int_or_a_float(rate: Any) -> None:
    """Numpy's float is a float; a whole number counts as well."""
    assert Terms(rate=rate).rate == rate


@pytest.mark.parametrize("rate", [math.nan, -math.inf, True, "1", 10**400])
def test_what_is_no_finite_number_is_refused(rate: Any) -> None:
    """The text names the field and the value; a number too large for a float is refused too."""
    text = re.escape(f"rate={short_repr(rate)} was given; it is a finite number")
    with pytest.raises(ValueError, match=f"^{text}$"):
        Terms(rate=rate)


@pytest.mark.parametrize("weeks", [3.0, True, None])
def test_what_is_no_whole_number_is_refused(weeks: Any) -> None:
    """A float is none, even where it has no fraction."""
    text = re.escape(f"weeks={weeks!r} was given; it is a whole number")
    with pytest.raises(ValueError, match=f"^{text}$"):
        Terms(weeks=weeks)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"triangle": (1, 2)}, "triangle=(1, 2) was given; it is a tuple of 3 finite numbers"),
        ({"triangle": [1, 2, 3]}, "triangle=[1, 2, 3] was given; it is a tuple of 3 finite"),
        ({"triangle": (1, True, 2)}, "triangle=True was given; it is a finite number"),
        ({"shares": 0.5}, "shares=0.5 was given; it is a tuple of finite numbers"),
        ({"shares": (0.5, math.nan)}, "shares=nan was given; it is a finite number"),
    ],
)
def test_a_tuple_of_numbers_is_checked_whole(fields: dict[str, Any], text: str) -> None:
    """Its kind, its length where that is fixed, and each number in it."""
    with pytest.raises(ValueError, match=re.escape(text)):
        Terms(**fields)
