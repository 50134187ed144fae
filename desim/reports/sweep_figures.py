"""The figures of a sweep over what varies in it: means over parameters, series over periods."""

import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from desim import catalog
from desim.engine.plan import SERIES_COLUMNS
from desim.errors import SchemaError
from desim.reports.charts import fans, lines
from desim.reports.page import Figure, Given, cleaned, note_of_cut
from desim.rows.rows import Rows
from desim.schema import from_plain
from desim.schema.wire_types import attribute_texts
from desim.show.column import Column
from desim.show.estimates import SEEDED_HEADS, seeded_cells
from desim.show.labels import estimate_text, is_number
from desim.statistics.intervals import Interval

if TYPE_CHECKING:  # `import desim.reports` must not load numpy
    from numpy import float64
    from numpy.typing import NDArray


#: The prefix of the columns that are arguments of policies.
_ARGUMENT = "policy."

#: Lines of a figure.
_MOST_CURVES = 8

#: Series, and groups of one, that are shown.
_MOST_SERIES, _MOST_GROUPS = 24, 12

#: Periods that a picture shows; of a longer series every second, third, ... is taken.
_MOST_PERIODS = 400

#: The quantiles of a band and its median.
_QUANTILES = (0.05, 0.5, 0.95)

_TERMS = (
    "each cell: the median and, in brackets, the 5 and 95 % quantiles in that period",
    "n: episodes with a value in the first and the last period; one that has ended has none",
)


# -- parameters ------------------------------------------------------------------------------------


def varied(rows: Rows) -> dict[str, str]:
    """Return the columns that distinguish the worlds of a sweep, with their full names.

    A parameter may share its name with an argument or a metric; only the full name is unique.
    """
    params = {name for row in rows for name in row["params"]}
    return {name: f"params.{name}" if name in params else name for name in rows.varying}


def over_parameters(rows: Rows, figure: str = "score") -> Iterator[Given]:
    """Yield the mean of a figure over each number that varies, a line for each policy.

    Nothing for a sweep of several models: scores of different worlds have no common mean.
    """
    for name, column in _numbers(rows).items():
        curves: dict[str, dict[Any, Interval | None]] = {}
        for line in rows.table(by=("policy", column), show=figure).lines:
            policy, level = line.group
            if level is not None:  # a policy without the argument has no line
                curves.setdefault(_without(str(policy), name), {})[level] = line.estimate
        curves = {policy: dict(sorted(each.items())) for policy, each in curves.items()}
        shown = dict(islice(curves.items(), _MOST_CURVES))
        text = _descriptions(rows).get(name)
        yield Figure(
            f"Mean {figure} against {name}, with 95 % intervals",
            lines(shown, name, figure),
            f"Mean {figure} over {name}, a line for each of {len(shown)} policies.",
            cleaned(
                ["policy", name, *SEEDED_HEADS],
                (
                    [policy, level, *seeded_cells(mean)]
                    for policy, each in curves.items()
                    for level, mean in each.items()
                ),
                notes=[*[text] * bool(text), *note_of_cut(shown, curves, "policies")],
            ),
        )


def _numbers(rows: Rows) -> dict[str, str]:
    """Return the parameters and arguments that are several numbers, with their columns."""
    names = varied(rows)
    if "model" in names:
        return {}
    names |= {name: name for name in rows.columns if name.startswith(_ARGUMENT)}
    found: dict[str, str] = {}
    known: list[Sequence[Any]] = []
    for name, column in names.items():
        levels = rows.column(column)
        given = [level for level in levels if level is not None]
        # An argument that all seats share is also a column for each of them.
        if all(map(is_number, given)) and len({*given}) > 1 and levels not in known:
            found[name] = column
            known.append(levels)
    return found


def _without(label: str, column: str) -> str:
    """Return a label without an argument; a label with roles has `role=name,...` for each.

    >>> _without("base_stock,target=3,floor=1", "policy.target"), _without("a,x=1", "horizon")
    ('base_stock,floor=1', 'a,x=1')
    >>> _without("a=b,x=1 c=b,x=2", "policy.a.x")
    'a=b c=b,x=2'
    """
    if not column.startswith(_ARGUMENT):
        return label
    role, _, argument = column.removeprefix(_ARGUMENT).rpartition(".")
    pattern = re.compile(rf",{re.escape(argument)}=[^,]*")
    return " ".join(
        pattern.sub("", part) if not role or part.startswith(f"{role}=") else part
        for part in label.split(" ")
    )


def _descriptions(rows: Rows) -> Mapping[str, str]:
    """Return the parameter descriptions of a model of desim; a user's model is not imported."""
    name = str(rows[0]["model"])
    ours = ":" not in name and catalog.is_at_hand(name)
    return attribute_texts(catalog.model_class(name)) if ours else {}


# -- series ----------------------------------------------------------------------------------------


def series_fans(rows: Rows) -> Iterator[Given]:
    """Yield a figure for each series of the rows of one world, a panel for each policy."""
    names = list(dict.fromkeys(name for row in rows for name in row.get("series", {})))
    declared = _declared(rows)
    for name in names[:_MOST_SERIES]:
        yield from _fans(name, declared.get(name), rows.series(name))
    if more := names[_MOST_SERIES:]:
        yield f"{len(more):,} further series are left out: {', '.join(more)}."


def _fans(
    name: str, column: Column | None, groups: "Mapping[Any, NDArray[float64]]"
) -> Iterator[Figure]:
    """Yield the figure of a series, unless no episode has a value of it."""
    title, period = (column.title(name), column.period) if column else (name, "period")
    shown = dict(islice(groups.items(), _MOST_GROUPS))
    bands = {str(policy): _quantiles(values) for policy, values in shown.items()}
    periods = max(len(low) for low, _, _ in bands.values())
    if not periods:
        return
    step = -(-periods // _MOST_PERIODS)
    each = {policy: [quantile[::step] for quantile in band] for policy, band in bands.items()}
    marked = sorted({max(1, round(periods * part / 4)) for part in range(5)})
    yield Figure(
        f"{title} by {period}: median, and the band from 5 to 95 % of the episodes",
        fans(each, step, period),
        f"The median and the band from 5 to 95 % of {name} over {periods} periods, "
        f"a panel for each of {len(shown)} policies.",
        cleaned(
            ["policy", "n", *(f"{period} {number:,}" for number in marked)],
            (
                [
                    policy,
                    _counts(values, periods),
                    *(_cell(bands[str(policy)], at) for at in marked),
                ]
                for policy, values in shown.items()
            ),
            notes=note_of_cut(shown, groups, "policies"),
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


def _counts(values: "NDArray[float64]", periods: int) -> str:
    """Return how many episodes have a value in the first and in the last period of a figure."""
    import numpy as np

    known = np.isfinite(values).sum(axis=0)
    first, last = (int(known[at]) if at < len(known) else 0 for at in (0, periods - 1))
    return f"{first:,}" if first == last else f"{first:,} to {last:,}"


def _cell(band: "list[NDArray[float64]]", period: int) -> str | None:
    """Return the median of a period with the two quantiles around it."""
    found = [float(one[period - 1]) for one in band if period <= len(one)]
    if not found or not all(map(math.isfinite, found)):
        return None
    low, median, high = map(estimate_text, found)
    return f"{median} [{low}, {high}]"
