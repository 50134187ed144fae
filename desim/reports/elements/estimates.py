"""Means of a figure over groups of rows, each with its interval over seeds."""

from collections.abc import Iterable, Sequence
from typing import Any

from attrs import frozen

from desim.jobs.rows.columns import means_by_seed
from desim.jobs.rows.failures import counted
from desim.jobs.rows.groups import estimated
from desim.jobs.rows.rows import Rows
from desim.show.estimates import estimate_cells
from desim.statistics.intervals import Interval

#: The heads of the texts of `cells`.
HEADS = ("n", "mean", "95 % interval")


@frozen
class Estimates:
    """One column of numbers of a sweep, of which groups of rows have means.

    Attributes:
        seeds: The seed of every row.
        values: The figure of every row; a failed one has the worst score of its model, or None.
        failed: Whether a row is failed.
    """

    seeds: Sequence[int]
    values: Sequence[float | None]
    failed: Sequence[bool]

    @classmethod
    def of(cls, rows: Rows, figure: str = "score") -> "Estimates":
        """Return the column of some rows."""
        failed = [error is not None for error in rows.column("error")]
        return cls(rows.column("seed"), counted(rows, figure), failed)

    def mean(self, places: Iterable[int]) -> Interval | None:
        """Return the mean of the rows at some indices, several rows of a seed as one value.

        None without values, or if an episode failed and its model declares no worst
        score: a mean without the bad episodes proves nothing.
        """
        each = list(places)
        values = [self.values[place] for place in each]
        if any(self.failed[at] and v is None for at, v in zip(each, values, strict=True)):
            return None
        means = means_by_seed((self.seeds[at] for at in each), values, complete=False)
        return estimated(list(means.values()), 0.95)


def cells(estimate: Interval | None) -> list[Any]:
    """Return the number of seeds, the mean and its interval as cells."""
    return [estimate.n if estimate else None, *estimate_cells(estimate, sd=False)]
