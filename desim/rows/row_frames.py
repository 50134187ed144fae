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

#: Keys of rows that identify episodes; results are not columns beside series.
_KEYS, _PREFIXES = {"model", "preset", POINT, GIVEN, "policy", "seed"}, ("params.", "policy.")


def frame_columns(rows: RowColumns, *, series: bool) -> dict[str, Any]:
    """Return the values of all lines of a frame by column; see `Rows.to_pandas`.

    Those of series are arrays, with NaN for a missing value.
    """
    paths = rows.gathered.paths
    if series:
        own = [name for name in paths if name in _KEYS or name.startswith(_PREFIXES)]
        of_series = {f"series.{name}": ("series", name) for name in _series_names(rows)}
        paths = {**{name: paths[name] for name in own}, "period": ("period",), **of_series}
    found: dict[str, Any] = {
        name: array("d") if path[0] == "series" else array("q") if name == "period" else []
        for name, path in shortened(paths).items()
    }
    for row in rows:
        of_row = (row.get("series") or {}) if series else {}
        count = max(map(len, of_row.values()), default=0) if series else 1
        for values, path in zip(found.values(), paths.values(), strict=True):
            if path[0] == "series":
                one = of_row.get(path[1]) or ()
                values.extend(math.nan if value is None else value for value in one)
                values.extend([math.nan] * (count - len(one)))
            elif path == ("period",):
                values.extend(range(1, count + 1))
            else:
                values.extend((plain_value(value_at(row, path)),) * count)
    return found


def series_by_group(
    rows: RowColumns, name: str, by: Sequence[str]
) -> "dict[Key, NDArray[float64]]":
    """Return a series as one array for each group; see `Rows.series`."""
    names = _series_names(rows)
    if name not in names:
        raise UsageError(f"there is no series {name!r}; {possible(name, names)}")
    values = [row.get("series", {}).get(name) for row in rows]
    return {
        key: _array([values[place] or () for place in group])
        for key, group in rows.places(by).items()
    }


def _series_names(rows: RowColumns) -> list[str]:
    names = dict.fromkeys(name for row in rows for name in row.get("series") or ())
    if not names and any("series" in row for row in rows):
        raise UsageError("no row holds series, as every episode failed")
    if not names:
        text = "the rows hold no series; play the sweep with series=True, or with --series"
        raise UsageError(text)
    return [*names]


def _array(series: Sequence[Sequence[float | None]]) -> "NDArray[float64]":
    """Return sequences of different lengths as one array, with NaN for missing numbers."""
    import numpy as np

    longest = max(map(len, series))
    array = np.full((len(series), longest), np.nan)
    for place, one in enumerate(series):
        array[place, : len(one)] = [np.nan if value is None else value for value in one]
    return array
