"""The series and the decisions of an episode as tidy columns of plain values."""

import contextlib
import datetime as dt
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, repeat
from typing import Any, Literal

from desim.core.model import Model, model_of
from desim.core.points import Recorded
from desim.core.reported import Time
from desim.core.result import Series, Ticks
from desim.errors import UsageError
from desim.records.lines import Step
from desim.schema import tagged
from desim.show.column import Column
from desim.show.labels import flat

#: The tables of an episode.
What = Literal["series", "decisions"]

#: Columns of decisions: a stranger's record may name as many fields as it has decisions.
_MOST_COLUMNS = 2_000

_SERIES = ("part", "role", "name", "period", "time", "date", "value", "unit")
_STEP = ("number", "time", "date", "part", "role")

_MICROSECOND = dt.timedelta(microseconds=1)

_Row = tuple[Any, ...]


def series_columns(
    model: Model[Any], series: Series, ends: Ticks, points: Mapping[str, Recorded]
) -> dict[str, list[Any]]:
    """Return all series of an ended episode, then its points, by `Episode.columns`."""
    rows = list(_series_rows(model, series, ends, points))
    return {name: [row[at] for row in rows] for at, name in enumerate(_SERIES)}


def _series_rows(
    model: Model[Any], series: Series, ends: Ticks, points: Mapping[str, Recorded]
) -> Iterator[_Row]:
    time, columns = model.time, model.figures.series
    for name, values in series.items():
        *head, unit = _head(model, columns, name)
        # Periods beyond the ends that the model reports have no end.
        ticks = chain(ends.get(name, ()), repeat(None))
        for period, (value, tick) in enumerate(zip(values, ticks, strict=False), 1):
            yield (*head, period, tick, _day(time, tick, ends=True), _known(value), unit)
    for name, recorded in points.items():
        *head, unit = _head(model, columns, name)
        for tick, value in zip(recorded.ticks, recorded.values, strict=True):
            yield (*head, None, tick, _day(time, tick), _known(value), unit)


def _head(model: Model[Any], columns: Mapping[str, Column], name: str) -> tuple[str, ...]:
    column = columns.get(name, Column())
    return _part(model, name), column.role, name, column.unit


def decision_columns(steps: Iterable[Step], model: Model[Any] | None) -> dict[str, list[Any]]:
    """Return decisions by the columns of `Episode.columns`; without a model no parts and dates."""
    time = model.time if model else None
    rows: list[dict[str, Any]] = []
    names: dict[str, None] = {}
    for number, step in enumerate(steps, 1):
        fields = dict(_fields(step))
        names |= dict.fromkeys(fields)
        if len(names) > _MOST_COLUMNS:
            raise UsageError(f"the decisions have more than {_MOST_COLUMNS:,} fields")
        part = _part(model, step.role) if model else ""
        own = (number, step.t, _day(time, step.t) if time else None, part, step.role)
        rows.append({**fields, **dict(zip(_STEP, own, strict=True))})
    # Actions first: they are few, and observations may have many fields.
    ordered = sorted(names, key=lambda name: not name.startswith("action"))
    return {name: [row.get(name) for row in rows] for name in (*_STEP, *ordered)}


def _fields(step: Step) -> Iterator[tuple[str, Any]]:
    for head, wire in (("action", tagged(step.action)), ("observation", step.observed)):
        plain = json.loads(wire)
        inner = flat(plain, f"{head}.") if isinstance(plain, Mapping) else [(head, plain)]
        for name, one in inner:
            yield name, json.dumps(one) if isinstance(one, list | dict) else one


def _part(model: Model[Any], name: str) -> str:
    """Return the part in whose name a role's or a series' name begins; often empty."""
    inside = model_of(model, name)[1]
    return name[: len(name) - len(inside)].removesuffix(".") if inside else ""


def _day(time: Time, tick: int | None, *, ends: bool = False) -> dt.date | None:
    """Return the day of a tick; a period that *ends* at midnight belongs to the day before."""
    with contextlib.suppress(OverflowError, ValueError):  # after year 9999
        if tick is not None and time.date and not (ends and time.calendar):
            return time.date(tick)
        if tick is not None and time.calendar:
            return (time.calendar.moment(tick) - ends * _MICROSECOND).date()
    return None


def _known(value: float) -> float | None:
    return None if value != value else value  # noqa: PLR0124 (NaN)
