"""The numbers of a role's decisions so far, as series for charts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import attrs
from attrs import field, frozen

from desim.core.roles import Role
from desim.records.lines import Step
from desim.schema import class_of, codec
from desim.schema.wire_types import TAG, members
from desim.show.column import Column, columns_of
from desim.show.labels import inner_label, is_moment, is_number, value_text

#: Series of one unit in one chart; more lines are hard to tell apart.
TOGETHER = 5

#: From a share of 1 to percent, and the decimals that are kept.
_PERCENT, _DIGITS = 100, 6

#: The priority of a number in an action without one.
_OF_ACTIONS = 0.5

_Row = dict[str, Any]


def _tuple(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(values)


@frozen
class Series:
    """Values over the decisions.

    Attributes:
        label: The name of the figure.
        values: One for each point, in the unit; None if a number is missing.
        unit: Such as "units", "dollars" or "%"; empty for none.
    """

    label: str
    values: tuple[Any, ...] = field(converter=_tuple)
    unit: str = ""


@frozen
class History:
    """The data of charts of a role's decisions.

    Attributes:
        axis: The horizontal axis: the time if it moves on between decisions, the last of several
            decisions at one time being shown; otherwise the number of the decision.
        series: The numbers that have varied: those of a higher priority in the observations, then
            those of the actions if the role has one class of actions, then the others. Nested
            values are left out.
        points: The point of the axis of each decision.
    """

    axis: Series
    series: tuple[Series, ...]
    points: tuple[Any, ...] = field(converter=_tuple)

    def charts(self) -> list[tuple[Series, ...]]:
        """Return the series that one chart shows: those of one unit, or a single one without."""
        by_unit: dict[str, list[Series]] = {}
        for number, series in enumerate(self.series):
            by_unit.setdefault(series.unit or f"{number}", []).append(series)
        starts = ((one, at) for one in by_unit.values() for at in range(0, len(one), TOGETHER))
        return [tuple(one[at : at + TOGETHER]) for one, at in starts]


def history(role: Role, steps: Sequence[Step], now: Any = None) -> History:
    """Return the history of one role.

    Args:
        role: The role.
        steps: Its decisions.
        now: The observation of the open decision, if there is one.
    """
    observations = [step.observation for step in steps] + ([] if now is None else [now])
    rows = [dict(_fields(each, role.observation)) for each in observations]
    columns = _columns(role.observation)
    label, points = _points([time_field(each, role.observation) for each in observations], columns)
    series = _numbers(_joined(rows, points), "", columns)
    series = [one for one in series if one[1].label != label]
    if len(codec(role.action).classes) == 1:
        actions: list[_Row] = [dict(_fields(s.action, type(s.action))) for s in steps]
        own = _columns(role.action)
        series += _numbers(_joined([*actions, {}][: len(rows)], points), "Your ", own)
    series.sort(key=lambda each: -each[0])
    varied = tuple(one for _, one in series if len({*one.values} - {None}) > 1)
    return History(Series(label, dict.fromkeys(points)), varied, points[: len(steps)])


def time_field(observation: Any, cls: Any) -> tuple[str, Any]:
    """Return name and value of an observation's first tick, or else of its first field."""
    fields = dict(_fields(observation, cls))
    columns = columns_of(class_of(observation, cls))
    ticks = (name for name in fields if name in columns and columns[name].kind == "tick")
    name = next(ticks, next(iter(fields), ""))
    return name, fields.get(name)


def _fields(value: Any, cls: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields of an instance, or of its plain mapping from a record."""
    if isinstance(value, Mapping):
        own = class_of(value, cls)
        order = [each.alias for each in attrs.fields(own)] if attrs.has(own) else value
        yield from ((name, value[name]) for name in order if name in value and name != TAG)
    else:
        for each in attrs.fields(type(value)):
            yield each.alias, getattr(value, each.name)


def _points(
    times: Sequence[tuple[str, Any]], columns: Mapping[str, Column]
) -> tuple[str, list[Any]]:
    """Return title and points of the axis: the time if it moves on, else 1, 2, 3, ..."""
    names, at = {name for name, _ in times}, [time for _, time in times]
    comparable = all(map(is_number, at)) or all(map(is_moment, at))
    moves = comparable and all(a <= b for a, b in pairwise(at)) and len({*at}) > 1
    if len(names) == 1 and moves:
        name = names.pop()
        points = [each if is_number(each) else value_text(each) for each in at]
        return columns.get(name, Column()).name(name), points
    return "Decision", list(range(1, len(times) + 1))


def _joined(rows: Sequence[_Row], points: Sequence[Any]) -> list[_Row]:
    """Join the rows of each point; keep the last value of each field."""
    joined: dict[Any, _Row] = {}
    for point, row in zip(points, rows, strict=True):
        joined[point] = joined.get(point, {}) | row
    return list(joined.values())


def _columns(classes: Any) -> dict[str, Column]:
    """Return what the classes of a role declare of their fields."""
    return {name: column for cls in members(classes) for name, column in columns_of(cls).items()}


def _numbers(
    rows: Sequence[_Row], prefix: str, columns: Mapping[str, Column]
) -> list[tuple[float, Series]]:
    """Return the numbers of rows as series, in the units that are shown, with their priority."""
    names = dict.fromkeys(n for row in rows for n, value in row.items() if is_number(value))
    of = {name: columns.get(name, Column()) for name in names}
    return [
        (
            column.priority or (_OF_ACTIONS if prefix else 0),
            Series(
                prefix + inner_label(column.name(name)) if prefix else column.name(name),
                _values(rows, name, column.scale * (_PERCENT if column.kind == "share" else 1)),
                "%" if column.kind == "share" else column.unit,
            ),
        )
        for name, column in of.items()
    ]


def _values(rows: Sequence[_Row], name: str, scale: float) -> Iterator[float | None]:
    for row in rows:
        value: Any = row.get(name)
        yield (value if scale == 1 else round(value * scale, _DIGITS)) if is_number(value) else None
