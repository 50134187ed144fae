"""The series in the rows of a sweep: arrays by group, or a line for each episode and period."""

import math
from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from desim.engine.plan import GIVEN, POINT, Row
from desim.errors import UsageError, possible
from desim.rows.columns import Key, Path, column_names, paths, places, plain_value, short_names

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray


#: The sentence about rows without series.
NO_SERIES = "the rows hold no series; play the sweep with series=True, or with --series"


def series_by_group(
    rows: Sequence[Row], name: str, by: Sequence[str]
) -> "dict[Key, NDArray[float64]]":
    """Return a series as one array for each group; see `Rows.series`.

    Raises:
        UsageError: The series or a column does not exist.
    """
    values = [row.get("series", {}).get(name) for row in rows]
    # Failed rows hold no series, so any name may be one.
    played = [row["error"] is None for row in rows]
    if any(played) and all(one is None for one in values):
        raise UsageError(_unknown(rows, name))
    return {
        key: _array([values[place] or () for place in group])
        for key, group in places(rows, by).items()
    }


def _array(series: Sequence[Sequence[float | None]]) -> "NDArray[float64]":
    """Return sequences of different lengths as one array, with NaN for missing numbers."""
    import numpy as np

    longest = max(map(len, series))
    array = np.full((len(series), longest), np.nan)
    for place, one in enumerate(series):
        array[place, : len(one)] = [np.nan if value is None else value for value in one]
    return array


def _unknown(rows: Sequence[Row], name: str) -> str:
    known = dict.fromkeys(one for row in rows for one in row.get("series", {}))
    if not known:
        return NO_SERIES
    return f"there is no series {name!r}; {possible(name, known)}"


#: Keys of rows that identify episodes; results are not columns here.
_KEYS = {"model", "preset", POINT, GIVEN, "policy", "seed"}


_PREFIXES = ("params.", "policy.")


#: The column with the number of the period, and the prefix of the full names of series.
_PERIOD, _SERIES = "period", "series."


@frozen
class TidySeries:
    """The series of rows.

    Attributes:
        rows: The rows of all episodes; failed ones have no series.
        of_episode: By column, the path of its value in a row.
        period: The name of the column with the periods, which are counted from 1.
        series: By column, the name of a series.
    """

    rows: Sequence[Row] = field(repr=False)
    of_episode: dict[str, Path]
    period: str
    series: dict[str, str]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> "TidySeries":
        """Name the columns: short, unless two would share a name.

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
        """Yield for each episode that did not fail its values, its periods and its series.

        A series that only the model of another episode reports is empty.
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
            The values of each episode by column; the number of each episode's periods; and the
            numbers of each episode and period by column, with NaN for missing ones.
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
