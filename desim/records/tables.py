"""The series and the decisions of an episode as tidy columns of plain values."""

import contextlib
import datetime as dt
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, Literal, get_args

from desim.core.model import Model, model_of
from desim.core.result import flat
from desim.core.run import Run
from desim.errors import UsageError
from desim.faults import RAISED
from desim.records.kept_state import Inside
from desim.records.lines import Step
from desim.schema import tagged
from desim.show.column import Column

#: The tables of an episode.
What = Literal["series", "decisions"]
WHAT: tuple[str, ...] = get_args(What)

#: Columns of decisions: a stranger's record may name as many fields as it has decisions.
_MOST_COLUMNS = 2_000

_SERIES = ("part", "role", "name", "period", "time", "date", "value", "unit")
_STEP = ("number", "time", "date", "part", "role")

_MICROSECOND = dt.timedelta(microseconds=1)

_Row = tuple[Any, ...]
_Dated = Callable[[int | None], dt.date | None]


def series_columns(inside: Inside) -> dict[str, list[Any]]:
    """Return all series of an ended episode; see `Episode.columns`.

    First those of the model, period by period, then the points that were recorded.

    Raises:
        UsageError: See `Inside.series`.
        WrongResult: A series is not a sequence of numbers.
    """
    rows = list(_series_rows(inside))
    return {name: [row[at] for row in rows] for at, name in enumerate(_SERIES)}


def _series_rows(inside: Inside) -> Iterator[_Row]:
    model = inside.model
    dated, ended = _dates(model), _dates(model, ends=True)
    series, ends = inside.series
    for name, values in series.items():
        head, unit = _head(model, name)
        # Periods beyond the ends that the model reports have no end.
        ticks = chain(ends.get(name, ()), repeat(None))
        for period, (value, tick) in enumerate(zip(values, ticks, strict=False), 1):
            yield (*head, period, tick, ended(tick), _known(value), unit)
    for name, points in inside.points.items():
        head, unit = _head(model, name)
        for tick, value in zip(points.ticks, points.values, strict=True):
            yield (*head, None, tick, dated(tick), _known(value), unit)


def _head(model: Model[Any], name: str) -> tuple[tuple[str, str, str], str]:
    """Return part, role and name of a series, and its unit."""
    column = model.series_columns.get(name, Column())
    return (_part(model, name), column.role, name), column.unit


def decision_columns(steps: Iterable[Step], model: Model[Any] | None) -> dict[str, list[Any]]:
    """Return the decisions of an episode; see `Episode.columns`.

    Args:
        steps: The decisions.
        model: The model that was played; None leaves parts and dates out.

    Raises:
        UsageError: The decisions have too many fields.
    """
    dated = _dates(model)
    rows: list[dict[str, Any]] = []
    names: dict[str, None] = {}
    for number, step in enumerate(steps, 1):
        part = _part(model, step.role) if model else ""
        fields = dict(_fields(step))
        names |= dict.fromkeys(fields)
        if len(names) > _MOST_COLUMNS:
            raise UsageError(f"the decisions have more than {_MOST_COLUMNS:,} fields")
        own = (number, step.t, dated(step.t), part, step.role)
        rows.append({**fields, **dict(zip(_STEP, own, strict=True))})
    # Actions first: they are few, and observations may have many fields.
    ordered = sorted(names, key=lambda name: not name.startswith("action"))
    return {name: [row.get(name) for row in rows] for name in (*_STEP, *ordered)}


def decision_facts(run: Run[Any], steps: Sequence[Step]) -> dict[str, list[Any]]:
    """Return what the repeated run of a record tells of its decisions, by column.

    They are `role_time`, `possible` and `refused`; None where it is not known.
    """
    model, state = run.model, run.state
    refusals: dict[int, str | None] = {}
    last: dict[str, int] = {}
    for number, step in enumerate(steps):
        if step.role in last:
            refusals[last[step.role]] = _refusal(model, step)
        last[step.role] = number
    return {
        "role_time": [_role_time(model, state, step) for step in steps],
        "possible": [json.dumps(step.possible) if step.possible else None for step in steps],
        "refused": [refusals.get(number) for number in range(len(steps))],
    }


def _role_time(model: Model[Any], state: Any, step: Step) -> str | None:
    with contextlib.suppress(*RAISED):  # the table has no time then, as a page has none
        return model.role_time(state, step.role, step.t)
    return None


def _refusal(model: Model[Any], later: Step) -> str | None:
    """Return why the action before a decision of the same role was refused."""
    part, role = model_of(model, later.role)
    with contextlib.suppress(*RAISED):  # a stranger's record may hold another observation
        return part.refusal(role, json.loads(later.observed))
    return None


def _fields(step: Step) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a decision by column, nested ones by their path."""
    for head, wire in (("action", tagged(step.action)), ("observation", step.observed)):
        plain = json.loads(wire)
        inner = flat(plain, f"{head}.") if isinstance(plain, Mapping) else [(head, plain)]
        for name, one in inner:
            yield name, json.dumps(one) if isinstance(one, list | dict) else one


def _part(model: Model[Any], name: str) -> str:
    """Return the part in whose name a role's or a series' name begins; often empty."""
    inside = model_of(model, name)[1]
    return name[: len(name) - len(inside)].removesuffix(".") if inside else ""


def _dates(model: Model[Any] | None, *, ends: bool = False) -> _Dated:
    """Return a function that returns the day of a tick; None if the model has no dates.

    Args:
        model: The model that was played.
        ends: Whether the ticks end periods: one that ends at midnight belongs to the day before.
    """
    calendar = None
    if model and (ends or not model.date):
        with contextlib.suppress(ValueError):  # with these parameters it has none
            calendar = model.calendar

    def dated(tick: int | None) -> dt.date | None:
        if tick is None:
            return None
        with contextlib.suppress(OverflowError, ValueError):  # after year 9999
            if calendar is not None:
                return (calendar.moment(tick) - ends * _MICROSECOND).date()
            if model and model.date:
                return model.date(tick)
        return None

    return dated


def _known(value: float) -> float | None:
    return None if value != value else value  # noqa: PLR0124 (NaN)
