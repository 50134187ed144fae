"""Arrays by week, which the forks of lanes share."""

import numpy as np

from desim.lanes.lane_columns import Array


class PastWeeks:
    """The arrays of past weeks, with the lanes along their last axis.

    A fork keeps its own weeks and reads earlier ones in the log that it continues, whose arrays
    never change; the entries of its lanes are taken when a week is read.
    """

    def __init__(self) -> None:
        self._own: list[Array] = []
        self._first = 0
        self._before: PastWeeks | None = None
        self._rows: Array = None

    def __len__(self) -> int:
        return self._first + len(self._own)

    def append(self, week: Array) -> None:
        """Add the array of the next week."""
        self._own.append(week)

    def __getitem__(self, week: int) -> Array:
        log, rows = self, None
        while log._before is not None and week < log._first:
            rows = log._rows if rows is None else np.take(log._rows, rows)
            log = log._before
        found = log._own[week - log._first]  # noqa: SLF001 (another log)
        return found if rows is None else np.take(found, rows, axis=-1)

    def fork(self, rows: Array) -> "PastWeeks":
        """Return a log that continues this one with these lanes."""
        fork = PastWeeks()
        fork._first, fork._before, fork._rows = len(self), self, rows
        return fork
