"""Factors of a design: a parameter with the range or the values that it takes."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from attrs import frozen

from desim.errors import UsageError
from desim.short_repr import short_repr
from desim.sweeps.combinations import from_numpy, refuse_duplicates

__all__ = ["Choices", "Factor", "Range", "is_factor", "read_factors"]

#: How a range is covered: evenly, evenly by whole numbers, or evenly on a logarithmic scale.
Scale = Literal["float", "int", "log"]

#: Values of a range are rounded to so many digits of its width, so that tables stay readable.
_DIGITS = 7

#: Whole numbers beyond this are not all doubles.
_LARGEST_WHOLE = 2**53

_RANGE = re.compile(r"\s*(?:(int|log|float):)?([^:]*):([^:]*)")

#: Most values that a factor may take, and most factors of a design.
_MAX_CHOICES, _MAX_FACTORS = 1_000, 1_000


@frozen
class Range:
    """All numbers between two ends, which are included.

    Attributes:
        low: The lower end; above 0 on a logarithmic scale.
        high: The upper end, above *low*.
        scale: "float"; "int" for whole numbers; "log" for ratios that are equally likely.

    Raises:
        UsageError: The ends are no such numbers.
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
            value = math.exp(math.log(self.low) + place * math.log(self.high / self.low))
            return self._inside(value, value)
        return self._inside(self.low + place * width, width)

    def place(self, value: float) -> float:
        """Return the place of a value, from 0 at the lower end to 1 at the upper one."""
        if self.scale == "log":
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends as values of the parameter."""
        return self.value(0.0), self.value(1.0)

    def _inside(self, value: float, size: float) -> float:
        digits = _DIGITS - 1 - math.floor(math.log10(size))
        return min(self.high, max(self.low, round(value, digits)))


@frozen
class Choices:
    """Several values without an order.

    Raises:
        UsageError: There are fewer than two, or more than 1,000, or one comes twice.
    """

    values: tuple[Any, ...]

    def __attrs_post_init__(self) -> None:
        if not 1 < len(self.values) <= _MAX_CHOICES:
            raise UsageError(
                f"{len(self.values):,} values were given; a parameter of a design has a range "
                f"low:high, or 2 to {_MAX_CHOICES:,} values"
            )
        for value in self.values:
            if isinstance(value, float) and not math.isfinite(value):
                raise UsageError(f"value {value} was given; values of a design are finite")
        refuse_duplicates("value", map(repr, self.values))

    def value(self, place: float) -> Any:
        """Return the value at a place from 0 to 1; each has a share of the same size."""
        return self.values[min(len(self.values) - 1, math.floor(place * len(self.values)))]


@frozen
class Factor:
    """A parameter that a design varies.

    Attributes:
        name: As `--set` names it: `opening_cash`, `scenario.fixed_cost`, `policy.retailer.target`.
        over: The range or the values that it takes.
    """

    name: str
    over: Range | Choices

    @property
    def levels(self) -> tuple[Any, ...]:
        """The ends of its range, or all its values."""
        return self.over.ends if isinstance(self.over, Range) else self.over.values


def read_factors(given: Mapping[str, Any] | Sequence[Factor]) -> tuple[Factor, ...]:
    """Return factors from ranges and lists of values by parameter.

    Args:
        given: For each parameter a `Range`, a text `low:high`, `int:low:high` or `log:low:high`, or
            a list of values; or factors.

    Raises:
        UsageError: There is none or too many, or a range or a list is wrong.

    >>> [str(factor.over) for factor in read_factors({"weeks": "int:1:9", "cash": "log:10:1e6"})]
    ['int:1:9', 'log:10:1000000']
    """
    if isinstance(given, Mapping):
        found = tuple(Factor(name, _over(name, from_numpy(value))) for name, value in given.items())
    else:
        found = tuple(given)
        refuse_duplicates("parameter", (factor.name for factor in found))
    if not found:
        raise UsageError(
            "a design varies at least one parameter; give a range, as in --set KEY=low:high, or "
            "several values"
        )
    if len(found) > _MAX_FACTORS:
        raise UsageError(f"{len(found):,} parameters vary; a design has up to {_MAX_FACTORS:,}")
    return found


def is_factor(value: Any) -> bool:
    """Return whether a value of `set` is a range or a list, and not a single value."""
    if isinstance(value, str):
        return _read_range(value) is not None
    return isinstance(value, Range | Choices) or isinstance(from_numpy(value), list | tuple | range)


def _over(name: str, value: Any) -> Range | Choices:
    try:
        return value if isinstance(value, Range | Choices) else _read(value)
    except UsageError as fault:
        raise UsageError(f"{name}: {fault}") from None


def _read(value: Any) -> Range | Choices:
    if isinstance(value, str):
        if found := _read_range(value):
            scale, low, high = found
            return Range(low, high, scale)
        raise UsageError(
            f"{short_repr(value)} is no range; write low:high, int:low:high or log:low:high"
        )
    return Choices(tuple(map(from_numpy, value)) if isinstance(value, Sequence) else (value,))


def _read_range(text: str) -> tuple[Scale, float, float] | None:
    """Return the parts of a range; None for other texts, such as a path with a colon."""
    match = _RANGE.fullmatch(text)
    if not match:
        return None
    scale, low, high = match.groups()
    try:
        ends = float(low), float(high)
    except ValueError:
        if scale in {"int", "log"}:
            raise UsageError(
                f"range {short_repr(text)} was given; write {scale}:low:high with two numbers"
            ) from None
        return None
    # One of the three, as the pattern has no others.
    return cast("Scale", scale or "float"), *ends


def _is_whole(value: float) -> bool:
    return float(value).is_integer() and abs(value) <= _LARGEST_WHOLE
