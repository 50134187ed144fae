"""Ranges over which a parameter is searched, as texts: `int:0:60`, `float:0.1:2`, `log:1:1e6`."""

import math
from collections.abc import Mapping
from typing import Any, Literal

from attrs import frozen

from desim.errors import UsageError
from desim.short_repr import short_repr
from desim.sweeps.combinations import refuse_duplicates

__all__ = ["Between", "OneOf", "Range", "read_range", "read_ranges"]

#: Most values of a choice, and most ranges of one search.
MAX_VALUES, MAX_RANGES = 1_000, 100

#: Values of a float range have so many significant digits, so that they can be read and repeated.
_DIGITS = 6

#: A value counts as on the edge within this share of the range.
_EDGE = 0.05

#: Largest size of an end: integers below it are exact as doubles.
_LARGEST_INT, _LARGEST = 2**53, 1e300

_FORMS = "int:LOW:HIGH, float:LOW:HIGH, log:LOW:HIGH (above 0) or choice:A|B|..."


@frozen
class Between:
    """Numbers from *low* to *high*, both included.

    Attributes:
        scale: `int` for whole numbers, `float`, or `log` for floats searched by their logarithm.
        low: The lower end.
        high: The upper end, above it.
    """

    scale: Literal["int", "float", "log"]
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.scale}:{self.low:.15g}:{self.high:.15g}"

    @property
    def probes(self) -> tuple[Any, ...]:
        """Both ends and a value between them."""
        middle = math.sqrt(self.low * self.high) if self.scale == "log" else self._mean
        return self.value(self.low), self.value(middle), self.value(self.high)

    def value(self, drawn: Any) -> Any:
        """Return a drawn number as a value of the parameter."""
        if self.scale == "int":
            return int(drawn)
        return min(self.high, max(self.low, float(f"{drawn:.{_DIGITS}g}")))

    def on_edge(self, value: Any) -> bool:
        """Return whether a value is so near to an end that the range may limit the result."""
        low, value, high = (
            (math.log(each) if self.scale == "log" else each)
            for each in (self.low, value, self.high)
        )
        return bool(min(value - low, high - value) <= _EDGE * (high - low))

    @property
    def _mean(self) -> float:
        return self.low + (self.high - self.low) / 2


@frozen
class OneOf:
    """Several values without an order.

    Attributes:
        values: Texts as `--set` takes them.
    """

    values: tuple[str, ...]

    def __str__(self) -> str:
        return f"choice:{'|'.join(self.values)}"

    @property
    def probes(self) -> tuple[Any, ...]:
        """The first, a middle and the last value."""
        return self.values[0], self.values[len(self.values) // 2], self.values[-1]

    def value(self, drawn: Any) -> Any:
        """Return the value itself."""
        return drawn

    def on_edge(self, value: Any) -> bool:  # noqa: ARG002 (as `Between`)
        """Return False: there is no end."""
        return False


Range = Between | OneOf


def read_ranges(
    given: Mapping[str, Any],
) -> tuple[dict[str, Range], dict[str, Any]]:
    """Return the ranges, and the parameters that have one value.

    Raises:
        UsageError: There is no range, there are too many, or one is wrong.

    >>> read_ranges({"policy.target": "int:0:60", "horizon": 26})
    ({'policy.target': Between(scale='int', low=0, high=60)}, {'horizon': 26})
    """
    ranges = {name: found for name, one in given.items() if (found := read_range(name, one))}
    if not 0 < len(ranges) <= MAX_RANGES:
        raise UsageError(
            f"{len(ranges)} ranges were given; give 1 to {MAX_RANGES}, as in "
            f"policy.target=int:0:60; possible: {_FORMS}"
        )
    return ranges, {name: one for name, one in given.items() if name not in ranges}


def read_range(name: str, given: Any) -> Range | None:
    """Return the range that a value describes; None for any other value.

    Args:
        name: Of the parameter, for errors.
        given: A range, or a text such as `int:0:60`. `LOW:HIGH` of two numbers is a float range.

    Raises:
        UsageError: A text begins as a range does, and is none.
    """
    if isinstance(given, Between | OneOf) or not isinstance(given, str):
        return given if isinstance(given, Between | OneOf) else None
    kind, _, rest = given.partition(":")
    match kind:
        case "choice":
            return _choice(name, given, rest)
        case "int" | "float" | "log":
            return _between(name, given, kind, rest)
        case _ if ":" in given and all(map(_is_number, given.split(":", 1))):
            return _between(name, given, "float", given)
        case _:
            return None


def _choice(name: str, given: str, rest: str) -> OneOf:
    values = tuple(text.strip() for text in rest.split("|"))
    if not 1 < len(values) <= MAX_VALUES or not all(values):
        raise UsageError(
            f"{name}={short_repr(given)} was given; a choice has 2 to {MAX_VALUES:,} values, as in "
            "choice:A|B"
        )
    refuse_duplicates(name, values)
    return OneOf(values)


def _between(name: str, given: str, scale: Literal["int", "float", "log"], rest: str) -> Between:
    try:
        low, high = (_number(text, scale) for text in rest.split(":"))
    except ValueError:
        raise UsageError(f"{name}={short_repr(given)} is no range; possible: {_FORMS}") from None
    if not low < high:
        raise UsageError(f"{name}={given} was given; a range begins below its end")
    if scale == "log" and low <= 0:
        raise UsageError(f"{name}={given} was given; a log range begins above 0")
    return Between(scale, low, high)


def _number(text: str, scale: str) -> float:
    number = int(text) if scale == "int" else float(text)
    if not abs(number) <= (_LARGEST_INT if scale == "int" else _LARGEST):
        raise ValueError(text)
    return number


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
