"""What the quick check accepts fits; what does not fit it never accepts."""

from typing import Any, Literal

import numpy as np
import pytest
from attrs import field, frozen

from desim.errors import SchemaError
from desim.schema import check_observation, type_check


@frozen
class Part:
    """A field's class.

    Attributes:
        size: A number.
    """

    size: float


@frozen
class Seen:
    """One field of each kind that the check tells apart."""

    week: int = 1
    cash: float = 2.5
    colour: Literal["red", "blue"] = "red"
    parts: tuple[Part, ...] = (Part(1),)
    names: tuple[str, ...] = ("a", "b")
    codes: dict[str, float] = field(factory=lambda: {"a": 1.0})
    last: Part | None = None
    either: Part | int = 3
    nested: dict[str, tuple[Part, ...]] = field(factory=lambda: {"a": (Part(2.0),)})
    anything: Any = None


FITS = [
    Seen(),
    Seen(cash=3),
    Seen(parts=(), names=(), codes={}, nested={}),
    Seen(last=Part(2.0), either=Part(0.5), anything=object()),
]

#: A value of the field that does not fit, and one that fits but is left to msgspec.
WRONG = {
    "week": ["1", 1.5, None],
    "cash": ["2", None],
    "colour": ["green", 1, ["red"]],
    "parts": [(Part(1), 2), None, (Part("x"),)],  # type: ignore[arg-type]
    "names": [("a", 1), "ab", None],
    "codes": [{"a": "b"}, []],
    "last": [3, Part("x")],  # type: ignore[arg-type]
    "either": ["3", None],
    "nested": [{"a": (Part(1), 1)}, {"a": Part(1)}],
}


@pytest.mark.parametrize("seen", FITS)
def test_what_fits_is_accepted(seen: Seen) -> None:
    """Without a look by msgspec."""
    check = type_check(Seen)
    assert check is not None
    assert check(seen)


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in WRONG.items() for value in values]
)
def test_what_does_not_fit_is_refused(name: str, value: Any) -> None:
    """By both checks."""
    check = type_check(Seen)
    assert check is not None
    seen = Seen(**{name: value})
    assert not check(seen)
    with pytest.raises(SchemaError):
        check_observation(seen, Seen)


def test_doubtful_cases_are_left_to_the_slower_check() -> None:
    """A numpy scalar, a key that is written as text; a bool for a number of a Literal."""
    check = type_check(Seen)
    assert check is not None
    for seen in (Seen(week=np.int64(3)), Seen(codes={1: 1.0})):  # type: ignore[arg-type,dict-item]
        assert not check(seen)
        check_observation(seen, Seen)
    one = type_check(Literal[1, 2])
    assert one is not None
    assert [one(value) for value in (1, 2, 3, True, 1.0)] == [True, True, False, False, False]


def test_every_value_fits_any() -> None:
    """So no function is called."""
    assert type_check(Any) is None
    assert type_check(int | Any) is None
