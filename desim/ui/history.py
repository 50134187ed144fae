"""The numbers of a role's decisions so far, as series for charts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import attrs
from attrs import field, frozen

from desim.core.roles import Role
from desim.records.lines import Step
from desim.schema import class_of, codec
from desim.schema.class_types import members
from desim.schema.wire_types import TAG
from desim.show.column import Column, columns_of
from desim.show.labels import inner_label, is_moment, is_number, label_text, value_text

_Row = dict[str, Any]


def _tuple(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(values)


@frozen
class Series:
    """Values over the decisions.

    Attributes:
        label: Their title.
        values: One for each point; None if a number is missing.
    """

    label: str
    values: tuple[Any, ...] = field(converter=_tuple)


@frozen
class History:
    """The data of charts of a role's decisions.

    Attributes:
        axis: The horizontal axis: the time if it moves on between decisions, the last of several
            decisions at one time being shown; otherwise the number of the decision.
        series: The numbers that have varied, from the observations, then from the actions if the
            role has one class of actions. Nested values are left out.
    """

    axis: Series
    series: tuple[Series, ...]


def history(role: Role, steps: Sequence[Step], now: Any = None) -> History:
    """Return the history of one role.

    Args:
        role: The role.
        steps: Its decisions.
        now: The observation of the open decision, if there is one.
    """
    observations = [step.observation for step in steps] + ([] if now is None else [now])
    rows = [dict(_fields(each, role.observation)) for each in observations]
    label, points = _points(rows)
    series = _numbers(_joined(rows, points), "", _columns(role.observation))
    series = [one for one in series if one.label != label]
    if len(codec(role.action).classes) == 1:
        actions: list[_Row] = [dict(_fields(s.action, type(s.action))) for s in steps]
        own = _columns(role.action)
        series += _numbers(_joined([*actions, {}][: len(rows)], points), "Your ", own)
    varied = tuple(one for one in series if len({*one.values} - {None}) > 1)
    return History(Series(label, dict.fromkeys(points)), varied)


def first_field(observation: Any, cls: Any) -> tuple[str, Any]:
    """Return name and value of an observation's first field, by convention the time."""
    return next(_fields(observation, cls), ("", None))


def _fields(value: Any, cls: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields of an instance, or of its plain mapping from a record."""
    if isinstance(value, Mapping):
        own = class_of(value, cls)
        order = [each.alias for each in attrs.fields(own)] if attrs.has(own) else value
        yield from ((name, value[name]) for name in order if name in value and name != TAG)
    else:
        for each in attrs.fields(type(value)):
            yield each.alias, getattr(value, each.name)


def _points(rows: Sequence[_Row]) -> tuple[str, list[Any]]:
    """Return title and points of the axis: the time if it moves on, else 1, 2, 3, ..."""
    names = {next(iter(row), "") for row in rows}
    times: list[Any] = [next(iter(row.values()), None) for row in rows]
    comparable = all(map(is_number, times)) or all(map(is_moment, times))
    moves = comparable and all(a <= b for a, b in pairwise(times)) and len({*times}) > 1
    if len(names) == 1 and moves:
        points = [each if is_number(each) else value_text(each) for each in times]
        return label_text(names.pop()), points
    return "Decision", list(range(1, len(rows) + 1))


def _joined(rows: Sequence[_Row], points: Sequence[Any]) -> list[_Row]:
    """Join the rows of each point; keep the last value of each field."""
    joined: dict[Any, _Row] = {}
    for point, row in zip(points, rows, strict=True):
        joined[point] = joined.get(point, {}) | row
    return list(joined.values())


def _columns(classes: Any) -> dict[str, Column]:
    """Return what the classes of a role declare of their fields."""
    return {name: column for cls in members(classes) for name, column in columns_of(cls).items()}


def _numbers(rows: Sequence[_Row], prefix: str, columns: Mapping[str, Column]) -> list[Series]:
    """Return the numbers of rows as series, in the units that are shown."""
    names = dict.fromkeys(n for row in rows for n, value in row.items() if is_number(value))
    return [
        Series(
            prefix + inner_label(column.title(name)) if prefix else column.title(name),
            _values(rows, name, column.scale),
        )
        for name in names
        for column in (columns.get(name, Column()),)
    ]


def _values(rows: Sequence[_Row], name: str, scale: float) -> Iterator[float | None]:
    for row in rows:
        value: Any = row.get(name)
        yield (value if scale == 1 else value * scale) if is_number(value) else None
