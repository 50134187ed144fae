"""Series of a sweep as fans: the median and the band from 5 to 95 % of the episodes."""

import math
import warnings
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from desim.engine.plan import SERIES_COLUMNS
from desim.errors import SchemaError
from desim.reports.charts import Fan, fans
from desim.reports.page import Figure, Given, cleaned
from desim.rows.rows import Rows
from desim.schema import from_plain
from desim.show.column import Column
from desim.show.labels import estimate_text

if TYPE_CHECKING:  # `import desim.reports` must not load numpy
    from numpy import float64
    from numpy.typing import NDArray


#: Series, and groups of one, that are shown.
_MOST_SERIES, _MOST_GROUPS = 24, 12

#: Periods that a picture shows; of a longer series every second, third, ... is taken.
_MOST_PERIODS = 400

_TERMS = (
    "each cell: the median and, in brackets, the 5 and 95 % quantiles in that period",
    (
        "n: episodes with a value in the first and the last period shown; an episode "
        "that has ended has none"
    ),
)

#: The quantiles of a band and its median.
_QUANTILES = (0.05, 0.5, 0.95)


def series_fans(rows: Rows) -> Iterator[Given]:
    """Yield a figure for each series of the rows of one world, a panel for each policy."""
    names = dict.fromkeys(name for row in rows for name in row.get("series", {}))
    declared = _declared(rows)
    groups = {name: rows.series(name) for name in islice(names, _MOST_SERIES)}
    scales: dict[str, tuple[float, float]] = {}
    for name, found in groups.items():
        quantity = _quantity(name, declared.get(name))
        low, high = scales.get(quantity, (math.inf, -math.inf))
        ends = [end for values in islice(found.values(), _MOST_GROUPS) for end in _ends(values)]
        scales[quantity] = min([low, *ends]), max([high, *ends])
    for name, found in groups.items():
        column = declared.get(name)
        yield from _figure(name, column, found, scales[_quantity(name, column)])
    if len(names) > _MOST_SERIES:
        more = islice(names, _MOST_SERIES, None)
        yield cleaned(["further series"], ([name] for name in more))


def _quantity(name: str, column: Column | None) -> str:
    """Return what a series measures, without its role: series of one quantity share a scale."""
    role = column.role.rpartition(".")[2] if column else ""
    return name.removesuffix(f"_{role}") if role else name


def _ends(values: "NDArray[float64]") -> list[float]:
    """Return the lowest and the highest end of the bands of a series; empty without a value."""
    import numpy as np

    low, _, high = _quantiles(values)
    known = np.concatenate([low, high])
    known = known[np.isfinite(known)]
    return [float(known.min()), float(known.max())] if known.size else []


def _figure(
    name: str,
    column: Column | None,
    groups: "Mapping[Any, NDArray[float64]]",
    limits: tuple[float, float],
) -> Iterator[Figure]:
    """Yield the figure of a series, unless no episode has a value of it."""
    title, period = (column.title(name), column.period) if column else (name, "period")
    shown = dict(islice(groups.items(), _MOST_GROUPS))
    bands = {str(policy): _quantiles(values) for policy, values in shown.items()}
    periods = max(len(band[0]) for band in bands.values())
    if not periods:
        return
    step = -(-periods // _MOST_PERIODS)
    each = [Fan(policy, *(quantile[::step] for quantile in b)) for policy, b in bands.items()]
    marked = _table_periods(periods)
    is_cut = len(groups) > len(shown)
    cut = [f"{len(shown)} of {len(groups):,} policies are shown"] if is_cut else []
    xs = range(1, periods + 1, step)
    yield Figure(
        f"{title} by {period}: median, and the band from 5 to 95 % of the episodes",
        fans(_padded(each, len(xs)), xs, period, title, limits),
        f"The median and the band from 5 to 95 % of {name} over {periods} periods, "
        f"a panel for each of {len(shown)} policies.",
        cleaned(
            ["policy", "n", *(f"{period} {number:,}" for number in marked)],
            (
                [policy, _counts(values, marked), *_cells(bands[str(policy)], marked)]
                for policy, values in shown.items()
            ),
            notes=cut,
            legend=_TERMS,
        ),
    )


def _declared(rows: Rows) -> dict[str, Column]:
    """Return what the series measure, where the rows say so; they may come from a stranger."""
    given: dict[str, Any] = {}
    for row in rows:
        columns = row.get(SERIES_COLUMNS)
        given = (columns | given) if isinstance(columns, dict) else given
    each = {name: _column(one) for name, one in given.items()}
    return {name: column for name, column in each.items() if column is not None}


def _column(given: object) -> Column | None:
    try:
        column: Column = from_plain(given, Column)
    except SchemaError:
        return None
    return column


def _quantiles(values: "NDArray[float64]") -> "list[NDArray[float64]]":
    """Return three quantiles of every period; NaN if no episode has a value."""
    import numpy as np

    if not values.size:
        return [np.empty(0)] * len(_QUANTILES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # numpy's for a period without any value
        return list(np.nanquantile(values, _QUANTILES, axis=0))


def _padded(each: "list[Fan]", length: int) -> "list[Fan]":
    """Return fans of the same length: policies end at different periods."""
    import numpy as np

    def filled(values: "NDArray[float64]") -> "NDArray[float64]":
        return np.concatenate([values, np.full(length - len(values), np.nan)])

    return [
        Fan(fan.label, *(filled(np.asarray(one)) for one in (fan.low, fan.median, fan.high)))
        for fan in each
    ]


def _table_periods(periods: int) -> list[int]:
    """Return the periods of a table: the first, the quarters, the last."""
    return sorted({1, *(max(1, round(periods * part / 4)) for part in (1, 2, 3)), periods})


def _counts(values: "NDArray[float64]", periods: list[int]) -> str:
    """Return how many episodes have a value in the first and in the last period of a table."""
    import numpy as np

    known = np.isfinite(values).sum(axis=0)
    first, last = (
        int(known[at - 1]) if at <= len(known) else 0 for at in (periods[0], periods[-1])
    )
    return f"{first:,}" if first == last else f"{first:,} to {last:,}"


def _cells(band: "list[NDArray[float64]]", periods: list[int]) -> list[str | None]:
    return [_cell([one[at - 1] for one in band] if at <= len(band[0]) else []) for at in periods]


def _cell(found: list[float]) -> str | None:
    """Return the median with the two quantiles around it."""
    if not found or not all(map(math.isfinite, found)):
        return None
    low, median, high = (estimate_text(float(one)) for one in found)
    return f"{median} [{low}, {high}]"
