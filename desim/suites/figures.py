"""Figures of an outcome by name, and the value of a column."""

import math
from collections.abc import Callable
from typing import Any

from desim.suites.outcome import Played
from desim.suites.schema import Column

__all__ = ["column_value", "figure"]

_USAGE = "usage."


def _tokens(outcome: Played) -> float | None:
    read, written = (outcome.usage.get(f"{kind}_tokens") for kind in ("prompt", "completion"))
    return None if read is None or written is None else read + written


#: Figures of every episode, beside those of its world.
_USED: dict[str, Callable[[Played], float | None]] = {
    "cost": lambda outcome: outcome.usage.get("cost"),
    "tokens": _tokens,
    "minutes": lambda outcome: outcome.seconds_played / 60,
}


def figure(outcome: Played, name: str) -> Any:
    """Return a figure, named as `Column.figure` says.

    Returns:
        None where the outcome has none of that name.
    """
    if name in ("score", "ended", "decisions"):
        return getattr(outcome, name)
    if name in _USED:
        return _USED[name](outcome)
    if name.startswith(_USAGE):
        return outcome.usage.get(name.removeprefix(_USAGE))
    return outcome.metrics.get(name)


def column_value(outcome: Played, column: Column) -> float | None:
    """Return the number of a column; None where the figure is no number, or is missing."""
    value = figure(outcome, column.figure)
    if column.equals is not None:
        return column.scale if value == column.equals else 0.0
    number = _number(value)
    if number is not None and column.per:
        divisor = _number(figure(outcome, column.per))
        number = number / divisor if divisor else None
    return None if number is None else number * column.scale


def _number(value: Any) -> float | None:
    usable = isinstance(value, int | float) and math.isfinite(value)
    return float(value) if usable else None
