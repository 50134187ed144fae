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


class Derived(Seen):
    """One that adds nothing."""


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
    assert type_check(Seen)(seen)


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in WRONG.items() for value in values]
)
def test_what_does_not_fit_is_refused(name: str, value: Any) -> None:
    """By both checks."""
    check = type_check(Seen)
    seen = Seen(**{name: value})
    assert not check(seen)
    with pytest.raises(SchemaError):
        check_observation(seen, Seen)


def test_doubtful_cases_are_left_to_the_slower_check() -> None:
    """A numpy scalar, a class inside a union of several, an instance of a derived class."""
    for seen in (Seen(week=np.int64(3)), Derived()):  # type: ignore[arg-type]
        assert not type_check(Seen)(seen)
        check_observation(seen, Seen)


def test_each_class_of_a_union_is_checked_as_such() -> None:
    """A role may have several classes of observations."""
    check = type_check(Seen | Part)
    assert check(Seen())
    assert check(Part(1))
    assert not check(Part("x"))  # type: ignore[arg-type]
    assert not check(3)
