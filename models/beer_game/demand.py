"""The customers' demand by week, read from a short text.

The forms are `step:LOW:HIGH:WEEK`, `constant:LEVEL`, `list:4:4:8`, `poisson:MEAN`,
`normal:MEAN:SD` and `csv:FILE[:COLUMN]`. A CSV file is read when the model is built and becomes a
list, so a record of an episode does not depend on the file.

The weeks of a strike, read from a text `FIRST:LAST`.
"""

import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from desim.short_repr import short_repr
from desim.show.files import read_csv

if TYPE_CHECKING:
    from numpy.random import Generator


#: Kinds of demand and the names of their numbers; a list holds any number of them.
_KINDS = {
    "step": ("low", "high", "week"),
    "constant": ("level",),
    "list": (),
    "poisson": ("mean",),
    "normal": ("mean", "sd"),
}


_RANDOM = {"poisson", "normal"}


#: A file and a column; the path may begin with a drive of Windows.
_CSV = re.compile(r"csv:((?:[A-Za-z]:(?=[\\/]))?[^:]*)(?::(.*))?", re.DOTALL)


_FORMS = (
    "step:LOW:HIGH:WEEK, constant:LEVEL, list:U:U:..., poisson:MEAN, normal:MEAN:SD "
    "or csv:FILE[:COLUMN]"
)


#: Limit of every number, in units: 64-bit draws and sums are exact below it.
_LARGEST = 1e15


def file_of(given: object) -> str:
    """Return the file that `read` would open for a demand; empty if none."""
    found = _CSV.fullmatch(given) if isinstance(given, str) else None
    return found[1] if found else ""


def read(given: str | Sequence[int]) -> str:
    """Return a demand in its normal text form.

    Args:
        given: One of the forms above, or the units of each week.

    Raises:
        ValueError: *given* has another form, a number is negative or not finite, a count of units
            is not whole, or the file cannot be read.
    """
    if not isinstance(given, str):
        if not isinstance(given, Sequence):
            raise ValueError(f"demand={short_repr(given)} was given; it is {_FORMS}")  # noqa: TRY004 (one kind)
        given = ":".join(["list", *map(str, given)])
    if found := _CSV.fullmatch(given):
        return read(_from_csv(*found.groups("")))
    kind, _, rest = given.partition(":")
    numbers = _numbers(kind, rest, given)
    return ":".join([kind, *(repr(n) if n % 1 else str(int(n)) for n in numbers)])


def weekly(demand: str, weeks: int, generator: "Callable[[], Generator]") -> list[int]:
    """Return the demand in units for each week; a list that is too short repeats its last number.

    Args:
        demand: A text that `read` has returned.
        weeks: The number of weeks.
        generator: Returns the random numbers; called only for a random demand.
    """
    kind, _, rest = demand.partition(":")
    numbers = _numbers(kind, rest, demand)
    match kind:
        case "step":
            low, high, week = map(int, numbers)
            return [low if w < week else high for w in range(weeks)]
        case "poisson" | "normal":
            units: list[int] = drawer(demand, weeks)(generator()).tolist()
            return units
        case _:
            units = [int(u) for u in numbers]
            return (units + [units[-1]] * weeks)[:weeks]


def drawer(demand: str, weeks: int) -> "Callable[[Generator], Any]":
    """Return a function that draws a random demand in units for each week, as an array.

    Args:
        demand: A text that `read` has returned.
        weeks: The number of weeks.
    """
    kind, _, rest = demand.partition(":")
    numbers = _numbers(kind, rest, demand)
    if kind == "poisson":
        return lambda generator: generator.poisson(numbers[0], weeks)
    # Demand cannot be negative and comes in whole units, so the tail is cut at zero.
    mean, sd = numbers
    return lambda generator: generator.normal(mean, sd, weeks).clip(0).round().astype("int64")


def opening_level(demand: str) -> int:
    """Return the demand before its first change, or its mean, rounded to a whole unit."""
    kind, _, rest = demand.partition(":")
    return round(_numbers(kind, rest, demand)[0])


def final_level(demand: str) -> int:
    """Return the demand after its last change, or its mean, rounded to a whole unit."""
    kind, _, rest = demand.partition(":")
    numbers = _numbers(kind, rest, demand)
    return round({"step": numbers[1:2], "list": numbers[-1:]}.get(kind, numbers)[0])


def moments(demand: str) -> tuple[float, float]:
    """Return mean and standard deviation of a week's demand, in units.

    A demand that is not random has its final level as mean and no deviation. The tail of a normal
    demand that is cut at zero is not taken into account.
    """
    kind, _, rest = demand.partition(":")
    numbers = _numbers(kind, rest, demand)
    match kind:
        case "poisson":
            return numbers[0], math.sqrt(numbers[0])
        case "normal":
            return numbers[0], numbers[1]
        case _:
            return float(final_level(demand)), 0.0


def is_random(demand: str) -> bool:
    """Return whether the demand is drawn, so that it depends on the seed."""
    return demand.partition(":")[0] in _RANDOM


def _numbers(kind: str, rest: str, given: str) -> list[float]:
    names = _KINDS.get(kind)
    parts = rest.split(":") if rest else []
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        numbers = []
    if names is None or not numbers or (names and len(numbers) != len(names)):
        raise ValueError(f"demand={short_repr(given)} was given; it is {_FORMS}")
    for part, number in zip(parts, numbers, strict=True):
        counted = kind not in _RANDOM
        if not 0 <= number <= _LARGEST or not math.isfinite(number) or (counted and number % 1):
            raise ValueError(
                f"demand={short_repr(given)}: {part} is no number of "
                f"{'units' if counted else 'at least 0'}"
            )
    return numbers


def _from_csv(file: str, column: str) -> list[int]:
    """Read the column with a heading, or the first column, with or without one."""
    rows = _rows(file)
    if not rows:
        raise ValueError(f"demand: {file!r} is empty; it needs one row a week")
    head = rows[0][1]
    if column and column not in head:
        raise ValueError(f"demand: {file!r} has no column {column!r}; there is {', '.join(head)}")
    at = head.index(column) if column else 0
    weeks = rows if not column and _is_number(head[0]) else rows[1:]
    if not weeks:
        raise ValueError(f"demand: {file!r} holds a heading and no week under it")
    return [_units(file, line, row, at) for line, row in weeks]


def _rows(file: str) -> list[tuple[int, list[str]]]:
    """Return the rows that are not blank, each with its line number."""
    try:
        return read_csv(file)
    except OSError as fault:
        raise ValueError(f"demand: cannot read {file!r}: {fault.strerror or fault}") from None
    except ValueError as fault:
        raise ValueError(f"demand: cannot read {file!r}: {fault}") from None


def _units(file: str, number: int, row: list[str], at: int) -> int:
    text = row[at] if at < len(row) else ""
    if not _is_number(text) or float(text) % 1:
        raise ValueError(
            f"demand: {file!r}, line {number}: {short_repr(text)} is no number of units"
        )
    return int(float(text))


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


_FORM = re.compile(r"([0-9]{1,6}):([0-9]{1,6})")


def read_strike(given: object) -> str | None:
    """Return a strike in its normal text form; None stays None.

    Raises:
        ValueError: *given* is not a text of two week numbers, 1 or more, the second not below the
            first.
    """
    if given is None:
        return None
    found = _FORM.fullmatch(given) if isinstance(given, str) else None
    first, last = map(int, found.groups()) if found else (0, 0)
    if not 1 <= first <= last:
        raise ValueError(
            f"strike={short_repr(given)} was given; it is FIRST:LAST, two weeks from 1, the second "
            "not before the first, or None"
        )
    return f"{first}:{last}"


def weeks_of_strike(strike: str | None) -> range:
    """Return the weeks of a strike that `read_strike` has returned; empty for None."""
    if strike is None:
        return range(0)
    first, last = map(int, strike.split(":"))
    return range(first, last + 1)
