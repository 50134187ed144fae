"""The numbers of a seat's past: what was seen and answered, decision by decision."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import attrs
from attrs import field, frozen

from desim.doors.words import humanised, is_moment, told
from desim.episode import Step
from desim.kernel import Role
from desim.mirror import TAG
from desim.schema import codec

__all__ = ["Axis", "Past", "Series", "first", "past"]

_Row = dict[str, Any]


def _tuple(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(values)


@frozen
class Axis:
    """What decisions are counted by.

    Attributes:
        label: What it is, for people.
        values: One a point.
    """

    label: str
    values: tuple[Any, ...] = field(converter=_tuple)


@frozen
class Series:
    """A number over the decisions.

    Attributes:
        label: What it is, for people.
        values: One a point; None where it was not there.
    """

    label: str
    values: tuple[float | None, ...] = field(converter=_tuple)


@frozen
class Past:
    """What can be drawn of a seat's past.

    Attributes:
        axis: The time where that moves on, of which the last decision stands for all; else the
            decisions are counted.
        series: The numbers that have varied: first those that were seen, then those that were
            answered, where the role has one kind of action. What is nested is left out.
    """

    axis: Axis
    series: tuple[Series, ...]


def past(role: Role, steps: Sequence[Step], now: Any = None) -> Past:
    """Read the past of one seat.

    Args:
        role: The seat's.
        steps: Its decisions.
        now: What it sees at the open decision, if there is one.
    """
    observations = [step.observation for step in steps] + ([] if now is None else [now])
    rows = [dict(_fields(each, role.sees)) for each in observations]
    label, counted = _counted(rows)
    found = _numbers(_joined(rows, counted), "", label)
    if len(codec(role.does).classes) == 1:
        answers: list[_Row] = [dict(_fields(s.action, type(s.action))) for s in steps]
        found += _numbers(_joined([*answers, {}][: len(rows)], counted), "your ", label)
    varied = tuple(one for one in found if len({*one.values} - {None}) > 1)
    return Past(Axis(label, dict.fromkeys(counted)), varied)


def first(observation: Any, sees: type) -> tuple[str, Any]:
    """Return name and value of an observation's first field: by custom, the time."""
    return next(_fields(observation, sees), ("", None))


def _fields(value: Any, cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the fields of an instance, or of the plain values that a record has of it."""
    if isinstance(value, Mapping):
        order = [each.alias for each in attrs.fields(cls)] if attrs.has(cls) else value
        yield from ((name, value[name]) for name in order if name in value and name != TAG)
    else:
        for each in attrs.fields(type(value)):
            yield each.alias, getattr(value, each.name)


def _counted(rows: Sequence[_Row]) -> tuple[str, list[Any]]:
    """Return what decisions are counted by and its value at each: the time, if it moves on."""
    names = {next(iter(row), "") for row in rows}
    times: list[Any] = [next(iter(row.values()), None) for row in rows]
    clocks = all(map(_is_number, times)) or all(map(is_moment, times))
    moves = clocks and all(a <= b for a, b in pairwise(times)) and len({*times}) > 1
    if len(names) == 1 and moves:
        return humanised(names.pop()), [each if _is_number(each) else told(each) for each in times]
    return "Decision", list(range(1, len(rows) + 1))


def _joined(rows: Sequence[_Row], counted: Sequence[Any]) -> list[_Row]:
    """Join the rows of one time; the last value of each field stands."""
    joined: dict[Any, _Row] = {}
    for time, row in zip(counted, rows, strict=True):
        joined[time] = joined.get(time, {}) | row
    return list(joined.values())


def _numbers(rows: Sequence[_Row], prefix: str, counted: str) -> list[Series]:
    """Return the numbers of rows as series, but not the one that they are counted by."""
    names = dict.fromkeys(n for row in rows for n, value in row.items() if _is_number(value))
    found = [Series(humanised(prefix + name), _column(rows, name)) for name in names]
    return [one for one in found if one.label != counted]


def _column(rows: Sequence[_Row], name: str) -> Iterator[float | None]:
    for row in rows:
        value = row.get(name)
        yield value if _is_number(value) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
