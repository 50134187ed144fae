"""The series in the rows of a sweep, one line an episode and period, as data frames take them."""

import math
from array import array
from collections.abc import Iterator, Sequence
from typing import Any

from attrs import field, frozen

from desim.errors import UsageError
from desim.sweeps.columns import Path, column_names, paths
from desim.sweeps.frame_columns import plain_value, short_names
from desim.sweeps.jobs import GIVEN, POINT, Row
from desim.sweeps.row_series import NO_SERIES

__all__ = ["TidySeries"]

#: Keys of rows that tell episodes apart; what they have led to is no column here.
_KEYS = {"model", "preset", POINT, GIVEN, "policy", "seed"}
_PREFIXES = ("params.", "policy.")

#: The column with the number of the period, and the prefix of the full names of series.
_PERIOD, _SERIES = "period", "series."


@frozen
class TidySeries:
    """The series of rows.

    Attributes:
        rows: Those of all episodes; failed ones have no series.
        of_episode: By column, where a row has its value.
        period: The name of the column with the periods, which are counted from 1.
        series: By column, the name of a series.
    """

    rows: Sequence[Row] = field(repr=False)
    of_episode: dict[str, Path]
    period: str
    series: dict[str, str]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> "TidySeries":
        """Name the columns: short, but where two would share a name.

        Raises:
            UsageError: The rows hold no series.
        """
        known = _series_names(rows)
        full = [n for n in column_names(rows) if n in _KEYS or n.startswith(_PREFIXES)]
        names = iter(short_names([*full, _PERIOD, *(f"{_SERIES}{name}" for name in known)]))
        of_episode = {next(names): path for path in paths(full)}
        period = next(names)
        return cls(rows, of_episode, period, dict(zip(names, known, strict=True)))

    def episodes(self) -> Iterator[tuple[list[Any], int, list[Sequence[float | None]]]]:
        """Yield for each episode that was played its values, its periods and its series.

        A series that the model of another episode reports is empty.
        """
        for row in self.rows:
            found = row.get("series") or {}
            if count := max(map(len, found.values()), default=0):
                values = [plain_value(row, path) for path in self.of_episode.values()]
                yield values, count, [found.get(name) or () for name in self.series.values()]

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield one mapping of columns to values for each episode and period."""
        for values, count, series in self.episodes():
            common = dict(zip(self.of_episode, values, strict=True))
            for place in range(count):
                yield {
                    **common,
                    self.period: place + 1,
                    **{
                        name: one[place] if place < len(one) else None
                        for name, one in zip(self.series, series, strict=True)
                    },
                }

    def columns(self) -> "tuple[dict[str, list[Any]], array[int], dict[str, array[Any]]]":
        """Return the series by column.

        Returns:
            Of each episode the values by column, and the number of its periods; of each episode and
            period the numbers by column, NaN where there is none.
        """
        common: dict[str, list[Any]] = {name: [] for name in self.of_episode}
        counts, periods = array("q"), array("q")
        numbers = {name: array("d") for name in self.series}
        for values, count, series in self.episodes():
            for column, value in zip(common.values(), values, strict=True):
                column.append(value)
            counts.append(count)
            periods.extend(range(1, count + 1))
            for line, one in zip(numbers.values(), series, strict=True):
                line.extend(math.nan if value is None else value for value in one)
                line.extend([math.nan] * (count - len(one)))
        return common, counts, {self.period: periods, **numbers}


def _series_names(rows: Sequence[Row]) -> list[str]:
    names: dict[str, None] = {}
    wanted = False
    for row in rows:
        wanted = wanted or "series" in row
        names.update(dict.fromkeys(row.get("series") or ()))
    if not names:
        raise UsageError("no row holds series, as every episode failed" if wanted else NO_SERIES)
    return list(names)
