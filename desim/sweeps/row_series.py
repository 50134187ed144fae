"""The series in the rows of a sweep, as arrays by group."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from desim.errors import UsageError, possible
from desim.sweeps.columns import Key, places
from desim.sweeps.jobs import Row

if TYPE_CHECKING:  # `import desim` must not load numpy
    from numpy import float64
    from numpy.typing import NDArray

__all__ = ["NO_SERIES", "series_by_group"]

#: The sentence about rows without series.
NO_SERIES = "the rows hold no series; play the sweep with series=True, or with --series"


def series_by_group(
    rows: Sequence[Row], name: str, by: Sequence[str]
) -> "dict[Key, NDArray[float64]]":
    """Return a series as one array a group; see `Rows.series`.

    Raises:
        UsageError: There is no such series or column.
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
    """Return sequences of different lengths as one array, with NaN where there is no number."""
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
