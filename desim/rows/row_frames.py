"""Rows as data frames of pandas and polars, and as Parquet files.

One line an episode, or one line an episode and period where the series of the rows are wanted.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from desim.engine.plan import Row
from desim.rows.columns import named_paths, plain_value
from desim.rows.row_series import TidySeries
from desim.show import frames

if TYPE_CHECKING:  # neither is needed but by those who ask for it
    import pandas as pd
    import polars as pl


def to_pandas(rows: Sequence[Row], *, series: bool = False) -> "pd.DataFrame":
    """Return a data frame of pandas; see `Rows.to_pandas`."""
    if not series:
        return frames.pandas_frame(_columns(rows))
    episodes, counts, numbers = TidySeries.of(rows).columns()
    frame = frames.pandas_frame(episodes)
    repeated = frame.loc[frame.index.repeat(counts)].reset_index(drop=True)
    return repeated.join(frames.pandas_frame(numbers))


def to_polars(rows: Sequence[Row], *, series: bool = False) -> "pl.DataFrame":
    """Return a data frame of polars; see `Rows.to_polars`."""
    if not series:
        return frames.polars_frame(_columns(rows))
    import numpy as np

    episodes, counts, numbers = TidySeries.of(rows).columns()
    repeated = frames.polars_frame(episodes)[np.repeat(np.arange(len(counts)), counts)]
    arrays = {name: np.asarray(one) for name, one in numbers.items()}
    return repeated.hstack(frames.polars_frame(arrays))


def write_parquet(rows: Sequence[Row], path: str | Path, *, series: bool = False) -> None:
    """Write a Parquet file, completely or not at all; see `Rows.write_parquet`."""
    frames.write_parquet(TidySeries.of(rows).lines() if series else _lines(rows), path)


def _lines(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """Yield for each row its values by column."""
    named = named_paths(rows)
    for row in rows:
        yield {name: plain_value(row, path) for name, path in named.items()}


def _columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Return by column its values of all rows."""
    found: dict[str, list[Any]] = {name: [] for name in named_paths(rows)}
    for line in _lines(rows):
        for name, value in line.items():
            found[name].append(value)
    return found
