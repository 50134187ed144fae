"""The customers' demand by week, and the weeks of a strike, each read from a short text."""

import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from desim.short_repr import short_repr
from desim.show.files import read_csv

if TYPE_CHECKING:
    from numpy.random import Generator

#: Kinds of demand and how many numbers each has; 0 for any number of them.
_KINDS = {"step": 3, "constant": 1, "list": 0, "poisson": 1, "normal": 2}

_RANDOM = {"poisson", "normal"}

#: A file and a column; the path may begin with a drive of Windows.
_CSV = re.compile(r"csv:((?:[A-Za-z]:(?=[\\/]))?[^:]*)(?::(.*))?", re.DOTALL)

_FORMS = (
    "step:LOW:HIGH:WEEK, constant:LEVEL, list:U:U:..., poisson:MEAN, normal:MEAN:SD "
    "or csv:FILE[:COLUMN]"
)

_STRIKE = re.compile(r"([0-9]{1,6}):([0-9]{1,6})")

#: Limit of every number, in units: 64-bit draws and sums are exact below it.
_LARGEST = 1e15


def file_of(given: object) -> str:
    """Return the file that `read` would open for a demand; empty if none."""
    found = _CSV.fullmatch(given) if isinstance(given, str) else None
    return found[1] if found else ""


def read(given: str | Sequence[int]) -> str:
    """Return a demand in its normal text form; a file is read now and becomes a list.

    Args:
        given: `step:LOW:HIGH:WEEK` (the first week of HIGH, from 0), `constant:LEVEL`,
            `list:4:4:8`, `poisson:MEAN`, `normal:MEAN:SD`, `csv:FILE[:COLUMN]`, or the units of
            each week.

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
    kind, numbers = _parts(given)
    return ":".join([kind, *(repr(n) if n % 1 else str(int(n)) for n in numbers)])


def weekly(demand: str, weeks: int, generator: "Callable[[], Generator]") -> list[int]:
    """Return the units of each week of a demand that `read` has returned.

    A list that is too short repeats its last number; *generator* is called for a random demand.
    """
    kind, numbers = _parts(demand)
    if kind == "step":
        low, high, week = map(int, numbers)
        return [low if w < week else high for w in range(weeks)]
    if kind not in _RANDOM:
        units = [int(u) for u in numbers]
        return (units + [units[-1]] * weeks)[:weeks]
    if kind == "poisson":
        drawn: Any = generator().poisson(numbers[0], weeks)
    else:  # demand cannot be negative and comes in whole units, so the tail is cut at zero
        drawn = generator().normal(numbers[0], numbers[1], weeks).clip(0).round()
    return [*drawn.astype("int64").tolist()]


def opening_level(demand: str) -> int:
    """Return the demand before its first change, or its mean, rounded to a whole unit."""
    return round(_parts(demand)[1][0])


def final_level(demand: str) -> int:
    """Return the demand after its last change, or its mean, rounded to a whole unit."""
    kind, numbers = _parts(demand)
    return round(numbers[{"step": 1, "list": -1}.get(kind, 0)])


def moments(demand: str) -> tuple[float, float]:
    """Return mean and standard deviation of a week's demand, in units.

    A demand that is not random has its final level as mean and no deviation. The tail of a normal
    demand that is cut at zero is not taken into account.
    """
    kind, numbers = _parts(demand)
    if kind not in _RANDOM:
        return float(final_level(demand)), 0.0
    return numbers[0], math.sqrt(numbers[0]) if kind == "poisson" else numbers[1]


def is_random(demand: str) -> bool:
    """Return whether the demand is drawn, so that it depends on the seed."""
    return demand.partition(":")[0] in _RANDOM


@lru_cache(100)  # read several times an episode
def _parts(demand: str) -> tuple[str, tuple[float, ...]]:
    """Return the kind and the numbers of a demand."""
    kind, _, rest = demand.partition(":")
    parts = rest.split(":") if rest else []
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        numbers = []
    count = _KINDS.get(kind)
    if count is None or not numbers or (count and len(numbers) != count):
        raise ValueError(f"demand={short_repr(demand)} was given; it is {_FORMS}")
    counted = kind not in _RANDOM
    for part, number in zip(parts, numbers, strict=True):
        if not 0 <= number <= _LARGEST or (counted and number % 1):
            what = "units" if counted else "at least 0"
            raise ValueError(f"demand={short_repr(demand)}: {part} is no number of {what}")
    return kind, tuple(numbers)


def _from_csv(file: str, column: str) -> list[int]:
    """Read the column with a heading, or the first column, with or without one."""
    try:
        rows = read_csv(file)
    except (OSError, ValueError) as fault:
        why = getattr(fault, "strerror", "") or fault
        raise ValueError(f"demand: cannot read {file!r}: {why}") from None
    if not rows:
        raise ValueError(f"demand: {file!r} is empty; it needs one row a week")
    head = rows[0][1]
    if column and column not in head:
        raise ValueError(f"demand: {file!r} has no column {column!r}; there is {', '.join(head)}")
    at = head.index(column) if column else 0
    weeks = rows if not column and math.isfinite(_number(head[0])) else rows[1:]
    if not weeks:
        raise ValueError(f"demand: {file!r} holds a heading and no week under it")
    for line, row in weeks:
        text = row[at] if at < len(row) else ""
        if _number(text) % 1 != 0:
            what = f"line {line}: {short_repr(text)} is no number of units"
            raise ValueError(f"demand: {file!r}, {what}")
    return [int(float(row[at])) for _, row in weeks]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def read_strike(given: object) -> str | None:
    """Return a strike in its normal text form; None stays None.

    Raises:
        ValueError: *given* is not a text of two week numbers, 1 or more, the second not below the
            first.
    """
    if given is None:
        return None
    found = _STRIKE.fullmatch(given) if isinstance(given, str) else None
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
