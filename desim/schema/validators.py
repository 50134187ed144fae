"""Validators of numbers and texts for attrs fields; attrs has `ge`, `le`, `max_len` and so on.

Those of numbers refuse True and False, which Python counts as 1 and 0. Those of fields of actions
have a limit that every world can process and no sensible action reaches; the JSON Schema states it.
"""

import math
import sys
from collections.abc import Callable
from typing import Any

from attrs import Attribute
from attrs.validators import and_, deep_iterable, ge, instance_of, le, max_len

from desim.errors import UsageError
from desim.short_repr import short_repr

#: The largest whole number of an action: 64 bits hold the sum of several.
LARGEST = 10**18

#: The largest number of an action that need not be whole; a sum of several is still finite.
LARGEST_NUMBER = 1e300

#: Characters of a name, a key word or a search text in an action.
LONGEST_NAME = 1_000

#: Characters of a note, or of another text that a world keeps.
LONGEST_TEXT = 100_000

#: Entries of a list in an action.
LONGEST_LIST = 1_000

#: The largest float; a whole number beyond it fails as soon as a model computes with it.
_LARGEST = sys.float_info.max


def finite(_: object, attribute: "Attribute[Any]", value: Any) -> None:
    """Validate a field that holds a finite number, int or float."""
    # Comparisons with nan are False, so that nan is refused like the infinities.
    if type(value) is bool or not (
        isinstance(value, int | float) and -_LARGEST <= value <= _LARGEST
    ):
        raise ValueError(f"{attribute.name}={short_repr(value)} was given; it is a finite number")


def whole(_: object, attribute: "Attribute[Any]", value: Any) -> None:
    """Validate a field that holds a whole number; 3.0 is refused."""
    if type(value) is bool or not isinstance(value, int):
        raise ValueError(f"{attribute.name}={short_repr(value)} was given; it is a whole number")


def finite_numbers(count: int | None = None) -> Callable[[Any, "Attribute[Any]", Any], None]:
    """Return a validator of a field that holds a tuple of so many finite numbers; None of any."""

    def validate(instance: object, attribute: "Attribute[Any]", value: Any) -> None:
        if not isinstance(value, tuple) or count not in (None, len(value)):
            size = "" if count is None else f"{count} "
            text = f"was given; it is a tuple of {size}finite numbers"
            raise ValueError(f"{attribute.name}={short_repr(value)} {text}")
        for each in value:
            finite(instance, attribute, each)

    return validate


# For fields of actions.
bounded_whole: Any = and_(whole, ge(-LARGEST), le(LARGEST))
bounded_number: Any = and_(finite, ge(-LARGEST_NUMBER), le(LARGEST_NUMBER))
short_text: Any = and_(instance_of(str), max_len(LONGEST_NAME))
long_text: Any = and_(instance_of(str), max_len(LONGEST_TEXT))
short_texts: Any = and_(max_len(LONGEST_LIST), deep_iterable(short_text))


def not_negative(_: Any, attribute: "Attribute[Any]", value: float | None) -> None:
    """Validate a field of an attrs class: None, or a finite number of at least 0."""
    require_not_negative(**{attribute.name: value})


def require_not_negative(**values: float | None) -> None:
    """Raise a `UsageError` that names the first value that is neither None nor finite and >= 0."""
    for name, value in values.items():
        if value is not None and not 0 <= value < math.inf:
            raise UsageError(f"{name}={value:g} was given; it is at least 0")
