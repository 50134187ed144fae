"""What customers ask for, week by week, from a short text.

`step:LOW:HIGH:WEEK`, `constant:LEVEL`, `list:4:4:8`, `poisson:MEAN`, `normal:MEAN:SD`,
`csv:FILE[:COLUMN]`. A CSV is read when the model is made and becomes a list, so that a record holds
all it needs.
"""

import csv
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.random import Generator

__all__ = ["drawn", "opening", "read", "settled", "weekly"]

#: Kinds of demand and the numbers that follow the name.
_KINDS = {
    "step": ("low", "high", "week"),
    "constant": ("level",),
    "list": (),
    "poisson": ("mean",),
    "normal": ("mean", "sd"),
}

_FORMS = (
    "step:LOW:HIGH:WEEK, constant:LEVEL, list:U:U:..., poisson:MEAN, normal:MEAN:SD "
    "or csv:FILE[:COLUMN]"
)

#: Poisson means and demands stay where 64-bit draws and sums are exact.
_LARGEST = 1e15


def read(given: str | Sequence[int]) -> str:
    """Bring a demand into its one text form, or refuse it.

    Args:
        given: A text as above, or the weekly units themselves.

    Raises:
        ValueError: It is none of the forms, a number is negative, not finite or not whole where
            units are counted, or the file cannot be read.
    """
    if not isinstance(given, str):
        if not isinstance(given, Sequence):
            raise ValueError(f"demand={given!r} was given; it is {_FORMS}")  # noqa: TRY004 (one kind)
        given = ":".join(["list", *map(str, given)])
    kind, _, rest = given.partition(":")
    if kind == "csv":
        return read(_from_csv(rest))
    numbers = _numbers(kind, rest, given)
    return ":".join([kind, *(repr(n) if n % 1 else str(int(n)) for n in numbers)])


def weekly(demand: str, weeks: int, generator: "Callable[[], Generator]") -> list[int]:
    """Return the units customers want in each week; the last figure of a list stays.

    Args:
        demand: A text that `read` has returned.
        weeks: How many.
        generator: Called only where chance decides.
    """
    kind, _, rest = demand.partition(":")
    numbers = _numbers(kind, rest, demand)
    match kind:
        case "step":
            low, high, week = map(int, numbers)
            return [low if w < week else high for w in range(weeks)]
        case "poisson":
            return [int(u) for u in generator().poisson(numbers[0], weeks)]
        case "normal":
            # Demand cannot be negative and comes in whole units, so the tail is cut at zero.
            mean, sd = numbers
            return [max(0, round(u)) for u in generator().normal(mean, sd, weeks).tolist()]
        case _:
            units = [int(u) for u in numbers]
            return (units + [units[-1]] * weeks)[:weeks]


def opening(demand: str) -> int:
    """Return the level before the first week, rounded to a whole unit."""
    kind, _, rest = demand.partition(":")
    return round(_numbers(kind, rest, demand)[0])


def settled(demand: str) -> int:
    """Return the level demand stays at in the end, or its mean, rounded to a whole unit."""
    kind, _, rest = demand.partition(":")
    numbers = _numbers(kind, rest, demand)
    return round({"step": numbers[1:2], "list": numbers[-1:]}.get(kind, numbers)[0])


def drawn(demand: str) -> bool:
    """Whether chance has a part in it, so that the seed makes a difference."""
    return demand.partition(":")[0] in {"poisson", "normal"}


def _numbers(kind: str, rest: str, given: str) -> list[float]:
    names = _KINDS.get(kind)
    parts = rest.split(":") if rest else []
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        numbers = []
    if names is None or not numbers or (names and len(numbers) != len(names)):
        raise ValueError(f"demand={given!r} was given; it is {_FORMS}")
    for part, number in zip(parts, numbers, strict=True):
        counted = kind not in {"poisson", "normal"}
        if not 0 <= number <= _LARGEST or not math.isfinite(number) or (counted and number % 1):
            raise ValueError(
                f"demand={given!r}: {part} is no number of {'units' if counted else 'at least 0'}"
            )
    return numbers


def _from_csv(rest: str) -> list[int]:
    """Read a column: by its heading, or the first; a heading is not a demand."""
    file, _, column = rest.partition(":")
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
    """Read the rows that are not blank, each with the number of its line."""
    try:
        # Spreadsheets mark the byte order of what they write.
        with Path(file).open(newline="", encoding="utf-8-sig") as lines:
            reader = csv.reader(lines)
            return [(reader.line_num, row) for row in reader if row]
    except (OSError, UnicodeDecodeError, csv.Error) as fault:
        why = getattr(fault, "strerror", None) or fault
        raise ValueError(f"demand: cannot read {file!r}: {why}") from None


def _units(file: str, number: int, row: list[str], at: int) -> int:
    text = row[at].strip() if at < len(row) else ""
    if not _is_number(text) or float(text) % 1:
        raise ValueError(f"demand: {file!r}, line {number}: {text!r} is no number of units")
    return int(float(text))


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
