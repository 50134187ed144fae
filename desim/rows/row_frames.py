"""Rows as data frames of pandas and polars, as Parquet files, and their series as arrays.

A frame has one line an episode, or one an episode and period where the series are wanted.
"""

import math
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from attrs import frozen

from desim.engine.plan import GIVEN, POINT
from desim.errors import UsageError, possible
from desim.rows.columns import Key, Path, RowColumns, paths, plain_value, short_names, value_at
from desim.show import frames

if TYPE_CHECKING:  # none is needed but by those who ask for it
    import pandas as pd
    import polars as pl
    from numpy import float64
    from numpy.typing import NDArray

#: The sentence about rows without series.
NO_SERIES = "the rows hold no series; play the sweep with series=True, or with --series"

#: Keys of rows that identify episodes; results are not columns beside series.
_KEYS, _PREFIXES = {"model", "preset", POINT, GIVEN, "policy", "seed"}, ("params.", "policy.")

#: The column with the number of the period, and the prefix of the full names of series.
_PERIOD, _SERIES = "period", "series."


def to_pandas(columns: RowColumns, *, series: bool = False) -> "pd.DataFrame":
    """Return a data frame of pandas; see `Rows.to_pandas`."""
    if not series:
        return frames.pandas_frame(_columns(columns))
    episodes, counts, numbers = _TidySeries.of(columns).columns()
    frame = frames.pandas_frame(episodes)
    repeated = frame.loc[frame.index.repeat(counts)].reset_index(drop=True)
    return repeated.join(frames.pandas_frame(numbers))


def to_polars(columns: RowColumns, *, series: bool = False) -> "pl.DataFrame":
    """Return a data frame of polars; see `Rows.to_polars`."""
    if not series:
        return frames.polars_frame(_columns(columns))
    import numpy as np

    episodes, counts, numbers = _TidySeries.of(columns).columns()
    repeated = frames.polars_frame(episodes)[np.repeat(np.arange(len(counts)), counts)]
    arrays = {name: np.asarray(one) for name, one in numbers.items()}
    return repeated.hstack(frames.polars_frame(arrays))


def write_parquet(columns: RowColumns, path: str | FilePath, *, series: bool = False) -> None:
    """Write a Parquet file, completely or not at all; see `Rows.write_parquet`."""
    frames.write_parquet(_TidySeries.of(columns).lines() if series else _lines(columns), path)


def series_by_group(
    columns: RowColumns, name: str, by: Sequence[str]
) -> "dict[Key, NDArray[float64]]":
    """Return a series as one array for each group; see `Rows.series`.

    Raises:
        UsageError: The series or a column does not exist.
    """
    values = [row.get("series", {}).get(name) for row in columns.rows]
    # Failed rows hold no series, so any name may be one.
    if None in columns.column("error") and all(one is None for one in values):
        known = dict.fromkeys(one for row in columns.rows for one in row.get("series", {}))
        hint = f"there is no series {name!r}; {possible(name, known)}"
        raise UsageError(hint if known else NO_SERIES)
    return {
        key: _array([values[place] or () for place in group])
        for key, group in columns.places(by).items()
    }


def _array(series: Sequence[Sequence[float | None]]) -> "NDArray[float64]":
    """Return sequences of different lengths as one array, with NaN for missing numbers."""
    import numpy as np

    longest = max(map(len, series))
    array = np.full((len(series), longest), np.nan)
    for place, one in enumerate(series):
        array[place, : len(one)] = [np.nan if value is None else value for value in one]
    return array


def _lines(columns: RowColumns) -> Iterator[dict[str, Any]]:
    """Yield for each row its values by column."""
    named = columns.named_paths()
    for row in columns.rows:
        yield {name: plain_value(value_at(row, path)) for name, path in named.items()}


def _columns(columns: RowColumns) -> dict[str, list[Any]]:
    """Return by column its values of all rows."""
    found: dict[str, list[Any]] = {name: [] for name in columns.named_paths()}
    for line in _lines(columns):
        for values, value in zip(found.values(), line.values(), strict=True):
            values.append(value)
    return found


@frozen
class _TidySeries:
    """The series of rows.

    Attributes:
        rows: The columns of all episodes; failed ones have no series.
        of_episode: By column, the path of its value in a row.
        period: The name of the column with the periods, which are counted from 1.
        series: By column, the name of a series.
    """

    rows: RowColumns
    of_episode: dict[str, Path]
    period: str
    series: dict[str, str]

    @classmethod
    def of(cls, rows: RowColumns) -> "_TidySeries":
        """Name the columns: short, unless two would share a name.

        Raises:
            UsageError: The rows hold no series.
        """
        known = _series_names(rows)
        full = [n for n in rows.names() if n in _KEYS or n.startswith(_PREFIXES)]
        names = iter(short_names([*full, _PERIOD, *(f"{_SERIES}{name}" for name in known)]))
        of_episode = {next(names): path for path in paths(full)}
        period = next(names)
        return cls(rows, of_episode, period, dict(zip(names, known, strict=True)))

    def episodes(self) -> Iterator[tuple[list[Any], int, list[Sequence[float | None]]]]:
        """Yield for each episode that did not fail its values, its periods and its series.

        A series that only the model of another episode reports is empty.
        """
        for row in self.rows.rows:
            found = row.get("series") or {}
            if count := max(map(len, found.values()), default=0):
                values = [plain_value(value_at(row, path)) for path in self.of_episode.values()]
                yield values, count, [found.get(name) or () for name in self.series.values()]

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield one mapping of columns to values for each episode and period."""
        for values, count, series in self.episodes():
            common = dict(zip(self.of_episode, values, strict=True))
            for place in range(count):
                numbers = [one[place] if place < len(one) else None for one in series]
                yield {
                    **common,
                    self.period: place + 1,
                    **dict(zip(self.series, numbers, strict=True)),
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


def _series_names(columns: RowColumns) -> list[str]:
    names: dict[str, None] = {}
    wanted = False
    for row in columns.rows:
        wanted = wanted or "series" in row
        names.update(dict.fromkeys(row.get("series") or ()))
    if not names:
        raise UsageError("no row holds series, as every episode failed" if wanted else NO_SERIES)
    return list(names)
