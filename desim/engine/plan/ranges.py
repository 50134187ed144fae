"""Ranges and choices of a parameter, for searches and designs.

As texts: `0.1:2` or `float:0.1:2`, `int:0:60`, `log:1:1e6`, `choice:A|B`.
"""

import math
from collections.abc import Mapping
from typing import Any, Literal

from attrs import frozen

from desim.engine.plan.parameter_values import refuse_duplicates
from desim.errors import UsageError
from desim.short_repr import short_repr

#: The scale of a range: even, even over whole numbers, or even in the logarithm.
Scale = Literal["float", "int", "log"]

#: Most values of a choice, and most ranges of one search.
_MAX_CHOICES, _MAX_RANGES = 1_000, 100

#: Values of a range are rounded to so many digits of its width, so that tables stay readable; of a
#: logarithmic one, to so many digits of the value.
_DIGITS = 7

#: Whole numbers beyond this are not all doubles.
_LARGEST_WHOLE = 2**53

#: A value counts as on the edge within this share of the range.
_EDGE = 0.05

_FORMS = "low:high, int:low:high, log:low:high (above 0) or choice:A|B|..."


@frozen
class Range:
    """All numbers between two ends, which are included.

    Attributes:
        low: The lower end; above 0 on a logarithmic scale.
        high: The upper end, above *low*.
        scale: "float"; "int" for whole numbers; "log" for equally likely ratios.

    Raises:
        UsageError: The ends do not meet these conditions.
    """

    low: float
    high: float
    scale: Scale = "float"

    def __attrs_post_init__(self) -> None:
        text = f"range {self} was given"
        if not (math.isfinite(self.low) and math.isfinite(self.high)):
            raise UsageError(f"{text}; both ends of a range are finite numbers")
        if not self.low < self.high:
            raise UsageError(f"{text}; its lower end comes first and is below the upper one")
        if not math.isfinite(self.high - self.low):
            raise UsageError(f"{text}; it is wider than a number can be")
        if self.scale == "log" and self.low <= 0:
            raise UsageError(f"{text}; a logarithmic range begins above 0")
        if self.scale == "int" and not all(_is_whole(end) for end in (self.low, self.high)):
            raise UsageError(f"{text}; both ends of an int range are whole numbers up to 2**53")

    def __str__(self) -> str:
        scale = "" if self.scale == "float" else f"{self.scale}:"
        return f"{scale}{self.low:.15g}:{self.high:.15g}"

    def value(self, place: float) -> float:
        """Return the value at a place from 0 to 1."""
        width = self.high - self.low
        if self.scale == "int":
            return int(min(self.high, self.low + math.floor(place * (width + 1))))
        if self.scale == "log":
            return self.rounded(math.exp(math.log(self.low) + place * self._logarithms))
        return self.rounded(self.low + place * width)

    def place(self, value: float) -> float:
        """Return the place of a value, from 0 at the lower end to 1 at the upper one."""
        if self.scale == "log":
            return math.log(value / self.low) / self._logarithms
        return (value - self.low) / (self.high - self.low)

    def rounded(self, number: float) -> float:
        """Return a number between the ends as a value of the parameter."""
        if self.scale == "int":
            return int(number)
        size = number if self.scale == "log" else self.high - self.low
        digits = _DIGITS - 1 - math.floor(math.log10(size))
        return min(self.high, max(self.low, round(number, digits)))

    def on_edge(self, value: float) -> bool:
        """Return whether a value is so near an end that the range may limit a search."""
        place = self.place(value)
        return min(place, 1 - place) <= _EDGE

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends as values of the parameter."""
        return self.value(0.0), self.value(1.0)

    @property
    def _logarithms(self) -> float:
        return math.log(self.high / self.low)


@frozen
class Choices:
    """Several values without an order.

    Raises:
        UsageError: There are fewer than 2 or more than 1,000 values, or one occurs twice.
    """

    values: tuple[Any, ...]

    def __attrs_post_init__(self) -> None:
        if not 1 < len(self.values) <= _MAX_CHOICES:
            raise UsageError(
                f"{len(self.values):,} values were given; a parameter that varies has a range "
                f"low:high, or 2 to {_MAX_CHOICES:,} values"
            )
        for value in self.values:
            if isinstance(value, float) and not math.isfinite(value):
                raise UsageError(f"value {value} was given; values are finite")
        refuse_duplicates("value", map(repr, self.values))

    def __str__(self) -> str:
        return f"choice:{'|'.join(map(str, self.values))}"

    def value(self, place: float) -> Any:
        """Return the value at a place from 0 to 1; each has a share of the same size."""
        return self.values[min(len(self.values) - 1, math.floor(place * len(self.values)))]

    def rounded(self, value: Any) -> Any:
        """Return the value itself."""
        return value

    def on_edge(self, value: Any) -> bool:  # noqa: ARG002 (as `Range`)
        """Return False, as choices have no ends."""
        return False


def read_range(text: str) -> Range | Choices | None:
    """Return the range or choices of a text; None for other texts, such as a path with a colon.

    Raises:
        UsageError: The text begins like a range or a choice, but is malformed.

    >>> str(read_range("int:0:60")), read_range("csv:file.csv:demand")
    ('int:0:60', None)
    """
    kind, _, rest = text.strip().partition(":")
    match kind:
        case "choice":
            return _choices(text, rest)
        case "int" | "log" | "float":
            if (ends := _ends(rest)) is None:
                raise UsageError(
                    f"range {short_repr(text)} was given; write {kind}:low:high with two numbers"
                )
            return Range(*ends, kind)
        case _:
            ends = _ends(text)
            return Range(*ends) if ends else None


def read_ranges(given: Mapping[str, Any]) -> tuple[dict[str, Range | Choices], dict[str, Any]]:
    """Return the ranges of a search, and the parameters that have one value.

    Args:
        given: By parameter: a range, a choice, a text of one, or any other value.

    Raises:
        UsageError: No ranges or too many are given, or one is wrong.

    >>> read_ranges({"policy.target": "int:0:60", "horizon": 26})
    ({'policy.target': Range(low=0.0, high=60.0, scale='int')}, {'horizon': 26})
    """
    ranges = {name: found for name, one in given.items() if (found := _range_of(name, one))}
    if not 0 < len(ranges) <= _MAX_RANGES:
        raise UsageError(
            f"{len(ranges)} ranges were given; give 1 to {_MAX_RANGES}, as in "
            f"policy.target=int:0:60; possible: {_FORMS}"
        )
    return ranges, {name: one for name, one in given.items() if name not in ranges}


def _range_of(name: str, given: Any) -> Range | Choices | None:
    if isinstance(given, Range | Choices):
        return given
    try:
        return read_range(given) if isinstance(given, str) else None
    except UsageError as fault:
        raise UsageError(f"{name}: {fault}") from None


def _choices(text: str, rest: str) -> Choices:
    values = tuple(each.strip() for each in rest.split("|"))
    if not 1 < len(values) <= _MAX_CHOICES or not all(values):
        raise UsageError(
            f"{short_repr(text)} was given; a choice has 2 to {_MAX_CHOICES:,} values, as in "
            "choice:A|B"
        )
    return Choices(values)


def _ends(text: str) -> tuple[float, float] | None:
    """Return the numbers of `low:high`; None for any other text."""
    try:
        low, high = map(float, text.split(":"))
    except ValueError:
        return None
    return low, high


def _is_whole(value: float) -> bool:
    return float(value).is_integer() and abs(value) <= _LARGEST_WHOLE
