"""The points that a world records: (tick, value) by series, up to a limit."""

import contextlib
import math
import re
from array import array
from typing import Any

from attrs import frozen

from desim.errors import UsageError
from desim.short_repr import short_repr

#: Points that an episode may have, 16 bytes each, and series.
MOST_POINTS, MOST_SERIES = 2_000_000, 10_000

_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")


@frozen
class Recorded:
    """The points of one series: ticks, which never decrease, and a value for each, or NaN."""

    ticks: tuple[int, ...]
    values: tuple[float, ...]


class Points:
    """The points of an episode by series."""

    def __init__(self) -> None:
        self._count = 0
        self._series: dict[str, tuple[array[int], array[float]]] = {}

    def add(self, tick: int, name: str, value: Any, *, replace: bool = False) -> None:
        """Append a point to a series; its tick is at least that of the last one.

        With *replace* it takes the place of the last one if that has the same tick.

        Raises:
            UsageError: The value is infinite or not a number, the name is not words in snake_case
                joined by dots, or the episode has too many series or points.
        """
        number = _number(name, value)
        ticks, values = self._series.get(name) or self._new(name)
        if replace and ticks and ticks[-1] == tick:
            values[-1] = number
            return
        if self._count >= MOST_POINTS:
            raise UsageError(
                f"the point of series {name!r} at t={tick} is one too many: an episode has at most "
                f"{MOST_POINTS:,}; play it without points, or record fewer"
            )
        self._count += 1
        ticks.append(tick)
        values.append(number)

    def read(self) -> dict[str, Recorded]:
        """Return the points by series, in the order in which the series began."""
        return {
            name: Recorded((*ticks,), (*values,)) for name, (ticks, values) in self._series.items()
        }

    def _new(self, name: str) -> "tuple[array[int], array[float]]":
        if len(self._series) >= MOST_SERIES:
            raise UsageError(
                f"series {short_repr(name)} is one too many: an episode has at most "
                f"{MOST_SERIES:,}; do not number their names"
            )
        self._series[checked_name(name)] = new = array("q"), array("d")
        return new


def checked_name(name: Any, what: str = "the name of a series") -> str:
    """Return a name, or raise a `UsageError` if it is not words in snake_case, joined by dots."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise UsageError(
            f"{short_repr(name)} was given as {what}; a name is words in snake_case, joined by dots"
        )
    return name


def _number(name: str, value: Any) -> float:
    # A text is refused although float("7") is a number.
    if not isinstance(value, str | bytes):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            if not math.isinf(number := float(value)):
                return number
    raise UsageError(
        f"series {name!r} was given {short_repr(value)}; a point is a finite number, or NaN where "
        "it is not known"
    )
