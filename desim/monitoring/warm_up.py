"""Common parts of statistics: a warm-up, finite numbers."""

import contextlib
import math
from typing import Any

from desim.errors import UsageError
from desim.short_repr import short_repr


def checked_warm_up(ticks: int) -> int:
    """Return the length of a warm-up.

    Raises:
        UsageError: The length is not a whole number of at least 0.
    """
    if type(ticks) is not int or ticks < 0:
        raise UsageError(
            f"a warm-up of {short_repr(ticks)} was given; it is a whole number of ticks, at least 0"
        )
    return ticks


def finite(value: Any) -> float:
    """Return a number as Python's float.

    Raises:
        UsageError: The value is not a finite number.
    """
    # A text is refused although float("7") is a number.
    if not isinstance(value, str | bytes):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            if math.isfinite(number := float(value)):
                return number
    raise UsageError(f"{short_repr(value)} was given to a statistic; it is a finite number")


def plain(value: float | None) -> float | None:
    """Return a statistic as a plain JSON value: None in the place of NaN."""
    return None if value is None or value != value else value  # noqa: PLR0124 (NaN)
