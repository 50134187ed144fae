"""Rows as columns of data frames, and their series as arrays.

A frame has one line an episode, or one an episode and period where the series are wanted.
"""

import math
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from desim.engine.plan import GIVEN, POINT
from desim.errors import UsageError, possible
from desim.rows.columns import Key, RowColumns, plain_value, shortened, value_at

if TYPE_CHECKING:  # `import desim` must not load numpy
    from numpy import float64
    from numpy.typing import NDArray

#: The sentence about rows without series.
NO_SERIES = "the rows hold no series; play the sweep with series=True, or with --series"

#: Keys of rows that identify episodes; results are not columns beside series.
_KEYS, _PREFIXES = {"model", "preset", POINT, GIVEN, "policy", "seed"}, ("params.", "policy.")


def frame_columns(rows: RowColumns, *, series: bool) -> dict[str, Any]:
    """Return the values of all lines of a frame by column; see `Rows.to_pandas`.

    Those of series are arrays, with NaN for a missing value.

    Raises:
        UsageError: *series* are wanted and the rows hold none.
    """
    if series:
        return _columns_of_series(rows)
    paths = rows.gathered.paths
    found: dict[str, Any] = {name: [] for name in shortened(paths)}
    for row in rows:
        for values, path in zip(found.values(), paths.values(), strict=True):
            values.append(plain_value(value_at(row, path)))
    return found


def _columns_of_series(rows: RowColumns) -> dict[str, Any]:
    """Return the columns of a frame with one line an episode and period."""
    names = dict.fromkeys(name for row in rows for name in row.get("series") or ())
    if not names:
        wanted = any("series" in row for row in rows)
        raise UsageError("no row holds series, as every episode failed" if wanted else NO_SERIES)
    known = rows.gathered.paths.items()
    paths = {name: path for name, path in known if name in _KEYS or name.startswith(_PREFIXES)}
    paths |= {"period": ("period",), **{f"series.{name}": ("series", name) for name in names}}
    found: dict[str, Any] = {
        name: array("d") if path[0] == "series" else array("q") if name == "period" else []
        for name, path in shortened(paths).items()
    }
    for row in rows:
        of_row = row.get("series") or {}
        count = max(map(len, of_row.values()), default=0)
        for values, path in zip(found.values(), paths.values(), strict=True):
            if path[0] == "series":
                one = of_row.get(path[1]) or ()
                values.extend(math.nan if value is None else value for value in one)
                values.extend([math.nan] * (count - len(one)))
            elif path == ("period",):
                values.extend(range(1, count + 1))
            else:
                values.extend([plain_value(value_at(row, path))] * count)
    return found


def series_by_group(
    rows: RowColumns, name: str, by: Sequence[str]
) -> "dict[Key, NDArray[float64]]":
    """Return a series as one array for each group; see `Rows.series`."""
    values = [row.get("series", {}).get(name) for row in rows]
    # Failed rows hold no series, so any name may be one.
    if None in rows.column("error") and all(one is None for one in values):
        known = dict.fromkeys(one for row in rows for one in row.get("series", {}))
        hint = f"there is no series {name!r}; {possible(name, known)}"
        raise UsageError(hint if known else NO_SERIES)
    return {
        key: _array([values[place] or () for place in group])
        for key, group in rows.places(by).items()
    }


def _array(series: Sequence[Sequence[float | None]]) -> "NDArray[float64]":
    """Return sequences of different lengths as one array, with NaN for missing numbers."""
    import numpy as np

    longest = max(map(len, series))
    array = np.full((len(series), longest), np.nan)
    for place, one in enumerate(series):
        array[place, : len(one)] = [np.nan if value is None else value for value in one]
    return array
