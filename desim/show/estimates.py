"""Cells of tables: means, intervals, and the seeds that an interval needs."""

from typing import Any

from desim.show.labels import estimate_text
from desim.show.table import Printed
from desim.statistics.intervals import Interval, seeds_needed

#: Half the width of an interval, as a share of the mean, for which tables state the seeds needed.
_PRECISION = 0.05

#: The head of the column with these seeds.
PRECISION = f"n for {100 * _PRECISION:g}\N{NO-BREAK SPACE}%"

#: The head of half a confidence interval, with spaces at which rich does not fold.
HALF = "±\N{NO-BREAK SPACE}95\N{NO-BREAK SPACE}%"

#: The heads of `seeded_cells`.
SEEDED_HEADS = ("n", "mean", "95 % interval")

#: The text of an interval where all values are equal.
SAME = "all equal"


def interval_head(level: float) -> str:
    """Return the head of a column of intervals."""
    return f"{100 * level:g} % interval"


def estimate_cells(estimate: Interval | None, *, sd: bool) -> list[Any]:
    """Return the mean, the standard deviation if *sd*, and the interval as cells."""
    if estimate is None:
        return [None] * (3 if sd else 2)
    deviation = None if is_equal(estimate) else number_cell(estimate.sd, estimate.half)
    mean = number_cell(estimate.mean, estimate.half)
    return [mean, *([deviation] if sd else []), interval_cell(estimate)]


def seeded_cells(estimate: Interval | None) -> list[Any]:
    """Return the number of seeds, the mean and its interval as cells, below `SEEDED_HEADS`."""
    return [estimate.n if estimate else None, *estimate_cells(estimate, sd=False)]


def interval_cell(estimate: Interval) -> Printed | None:
    """Return the ends of an interval as a cell."""
    if is_equal(estimate):
        return Printed((estimate.low, estimate.high), SAME)
    return ends_cell(estimate.low, estimate.high)


def ends_cell(low: float | None, high: float | None) -> Printed | None:
    """Return two ends as a cell, with as many digits as half their distance justifies."""
    if low is None or high is None:
        return None
    texts = [estimate_text(end, (high - low) / 2) for end in (low, high)]
    return Printed((low, high), f"[{', '.join(texts)}]")


def half_cells(estimate: Interval | None) -> list[Any]:
    """Return the mean and half the width of its interval as cells."""
    if estimate is None:
        return [None, None]
    half = estimate.half
    spread = Printed(half, SAME) if is_equal(estimate) else number_cell(half, half)
    return [number_cell(estimate.mean, half), spread]


def number_cell(value: float | None, half: float | None = None) -> Printed | None:
    """Return a number as a cell, with as many digits as half its interval justifies."""
    return None if value is None else Printed(value, estimate_text(value, half))


def short_cell(value: float | None) -> Printed | None:
    """Return a number of four digits as a cell, such as a cost."""
    return None if value is None else Printed(value, f"{value:.4g}")


def seeds_cell(estimate: Interval | None) -> int | None:
    """Return the seeds with which half the interval is `_PRECISION` of the mean."""
    if estimate is None or not estimate.mean:
        return None
    return seeds_needed(estimate, _PRECISION * abs(estimate.mean))


def is_equal(estimate: Interval) -> bool:
    """Return whether all of several values are equal and have no interval of their own."""
    return estimate.n > 1 and estimate.low == estimate.high
