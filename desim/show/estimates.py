"""Cells of tables: means and intervals."""

from typing import Any

from desim.show.labels import estimate_text
from desim.show.table import Printed
from desim.statistics.intervals import Interval

#: The head of the column with the seeds that would tell two means apart.
TO_TELL = "n to tell"

#: The head of half a confidence interval, with spaces at which rich does not fold.
HALF = "±\N{NO-BREAK SPACE}95\N{NO-BREAK SPACE}%"

#: The heads of `seeded_cells`.
SEEDED_HEADS = ("n", "mean", "95 % interval")

#: The texts of an interval where all values are equal, where all means of cases are, and where one
#: seed stands for all.
SAME, ALIKE, EXACT = "all equal", "all cases alike", "exact"


def better_note(figure: str, better: str) -> list[str]:
    """Return the sentence on which values of a figure are better; none for the score."""
    return [] if figure == "score" else [f"{figure}: {better} is better"]


def interval_head(level: float) -> str:
    """Return the head of a column of intervals."""
    return f"{100 * level:g} % interval"


def estimate_cells(estimate: Interval | None, *, sd: bool, exact: bool = False) -> list[Any]:
    """Return the mean, the standard deviation if *sd*, and the interval as cells.

    Args:
        estimate: None has empty cells.
        sd: Whether the standard deviation has a cell.
        exact: Whether the figure is known to be the same on every seed.
    """
    if estimate is None:
        return [None] * (3 if sd else 2)
    deviation = None if is_equal(estimate) else number_cell(estimate.sd, estimate.half)
    mean = number_cell(estimate.mean, estimate.half)
    return [mean, *([deviation] if sd else []), _interval_cell(estimate, exact=exact)]


def seeded_cells(estimate: Interval | None) -> list[Any]:
    """Return the number of seeds, the mean and its interval as cells, below `SEEDED_HEADS`."""
    return [estimate.n if estimate else None, *estimate_cells(estimate, sd=False)]


def _interval_cell(estimate: Interval, *, exact: bool) -> Printed | None:
    if is_equal(estimate) or (exact and estimate.n == 1):
        return Printed((estimate.low, estimate.high), _equal_text(estimate, exact=exact))
    return ends_cell(estimate.low, estimate.high)


def _equal_text(estimate: Interval, *, exact: bool) -> str:
    return EXACT if exact else ALIKE if estimate.sd else SAME


def ends_cell(low: float | None, high: float | None) -> Printed | None:
    """Return two ends as a cell, with as many digits as half their distance justifies."""
    if low is None or high is None:
        return None
    texts = [estimate_text(end, (high - low) / 2) for end in (low, high)]
    return Printed((low, high), f"[{', '.join(texts)}]")


def half_cells(estimate: Interval | None, *, exact: bool = False) -> list[Any]:
    """Return the mean and half the width of its interval as cells; see `estimate_cells`."""
    if estimate is None:
        return [None, None]
    half = estimate.half
    equal = is_equal(estimate) or (exact and estimate.n == 1)
    text = _equal_text(estimate, exact=exact) if equal else ""
    spread = Printed(half, text) if equal else number_cell(half, half)
    return [number_cell(estimate.mean, half), spread]


def number_cell(value: float | None, half: float | None = None) -> Printed | None:
    """Return a number as a cell, with as many digits as half its interval justifies."""
    return None if value is None else Printed(value, estimate_text(value, half))


def short_cell(value: float | None) -> Printed | None:
    """Return a number of four digits as a cell, such as a cost."""
    return None if value is None else Printed(value, f"{value:.4g}")


def is_equal(estimate: Interval) -> bool:
    """Return whether all of several values are equal and have no interval of their own."""
    return estimate.low is not None and estimate.low == estimate.high
