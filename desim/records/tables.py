"""The series and the decisions of an episode as tidy columns of plain values."""

import contextlib
import datetime as dt
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

from desim.core.calendar import TickCalendar
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
    declared = model.series_columns
    dated, ended = _dates(model), _dates(model, ends=True)
    series, ends = inside.series
    for name, values in series.items():
        column = declared.get(name, Column())
        head = (_part(model, name), column.role, name)
        # Periods beyond the ends that the model reports have no end.
        ticks = [*ends.get(name, ())[: len(values)]]
        known = [*ticks, *[None] * (len(values) - len(ticks))]
        for period, (tick, value) in enumerate(zip(known, values, strict=True), 1):
            yield (*head, period, tick, ended(tick), _known(value), column.unit)
    for name, points in inside.points.items():
        column = declared.get(name, Column())
        head = (_part(model, name), column.role, name)
        for tick, value in zip(points.ticks, points.values, strict=True):
            yield (*head, None, tick, dated(tick), _known(value), column.unit)


def decision_columns(steps: Iterable[Step], model: Model[Any] | None) -> dict[str, list[Any]]:
    """Return the decisions of an episode; see `Episode.columns`.

    Args:
        steps: The decisions.
        model: The model that was played; None leaves parts and dates out.

    Raises:
        UsageError: The decisions have too many fields.
    """
    dated = _dates(model)
    columns: dict[str, list[Any]] = {name: [] for name in _STEP}
    fields: dict[str, list[Any]] = {}
    number = 0
    for number, step in enumerate(steps, 1):
        part = _part(model, step.role) if model else ""
        for name, value in zip(
            _STEP, (number, step.t, dated(step.t), part, step.role), strict=True
        ):
            columns[name].append(value)
        for name, value in _fields(step):
            if name not in fields and len(fields) >= _MOST_COLUMNS:
                raise UsageError(f"the decisions have more than {_MOST_COLUMNS:,} fields")
            values = fields.setdefault(name, [])
            values += [None] * (number - 1 - len(values))
            values.append(value)
    for every in fields.values():
        every.extend([None] * (number - len(every)))
    # Actions first: they are few, and observations may have many fields.
    ordered = sorted(fields, key=lambda name: not name.startswith("action"))
    return columns | {name: fields[name] for name in ordered}


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
    calendar = _calendar(model) if ends or not (model and model.date) else None

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


def _calendar(model: Model[Any] | None) -> TickCalendar | None:
    if model:
        with contextlib.suppress(ValueError):  # with these parameters it has none
            return model.calendar
    return None


def _known(value: float) -> float | None:
    return None if value != value else value  # noqa: PLR0124 (NaN)
