"""The series of one episode and the times of its decisions, with their places on an axis.

Time on an axis is in periods such as weeks, in dates, or in ticks.
"""

import contextlib
import datetime as dt
import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from attrs import frozen

from desim.core.model import Model, model_of
from desim.core.points import Recorded
from desim.core.reported import Time
from desim.records.lines import Step
from desim.show.column import Column
from desim.show.labels import label_text

#: The moment from which matplotlib counts the days of its axes.
_EPOCH, _DAY = dt.datetime(1970, 1, 1), dt.timedelta(days=1)  # noqa: DTZ001 (models have no zones)

_MIDNIGHT = dt.time()

#: Units that are converted: by unit, the unit drawn and the divisor.
_UNITS = {"cents": ("dollars", 100.0)}

#: Most places of decisions: more than a picture of this size can separate.
_MOST_MARKS = 400

#: Most roles whose decisions are marked; an untrusted record may name one for each decision.
_MOST_ROLES = 200

#: The share of a period below which the last one is not drawn: its counts would be a drop.
_HARDLY = 0.05


@frozen
class Timeline:
    """The positions of the ticks of a model on an axis.

    Attributes:
        label: The label of the axis; empty for dates.
        is_dated: Whether places are days since 1970.
        place: Returns the place of a tick; NaN if it has none.
        text: Returns a tick as text for a table.
    """

    label: str
    is_dated: bool
    place: Callable[[int], float]
    text: Callable[[int], str]

    @classmethod
    def of(cls, model: Model[Any], ends: Mapping[str, Sequence[int]]) -> "Timeline":
        """Return the timeline of an episode.

        The axis has the dates of the model if it has dates; else the periods of its series, if
        these all have the same name and end at the same ticks; else the dates of its calendar, if
        it has one; else ticks.

        Args:
            model: The model that was played.
            ends: The ticks at which periods end, by series.
        """
        columns, time = model.figures.series, model.time
        names = {columns.get(name, Column()).period for name in ends}
        known = {tuple(ticks) for ticks in ends.values() if ticks}
        if not time.date and len(names) == 1:
            longest = [0, *max(known, key=len, default=())]
            is_common = all([*ticks] == longest[1 : len(ticks) + 1] for ticks in known)
            if is_common and known and increases(longest):
                return _of_periods(longest, *names)
        if moment := _moments(time):
            return _of_dates(moment, time.date)
        return cls("tick", is_dated=False, place=float, text=lambda tick: f"t={tick:,}")


def increases(places: Sequence[float]) -> bool:
    """Return whether each place is greater than the one before."""
    return all(a < b for a, b in pairwise(places))


def _of_periods(ends: Sequence[int], name: str) -> Timeline:
    """Return a timeline on which a period is one unit long: the first is from 0 to 1."""

    def place(tick: int) -> float:
        # Ticks after the last known end are in a period as long as the last one.
        after = min(max(1, bisect_left(ends, tick)), len(ends) - 1)
        return after - 1 + (tick - ends[after - 1]) / (ends[after] - ends[after - 1])

    def text(tick: int) -> str:
        # A decision at this tick may belong to the period that ends or to the one that begins.
        if tick in ends[1:]:
            return f"end of {name} {place(tick):,.0f}"
        return f"{name} {math.floor(place(tick)) + 1:,}"

    return Timeline(name, is_dated=False, place=place, text=text)


def _moments(time: Time) -> Callable[[int], dt.datetime] | None:
    """Return the function from ticks to moments; None for a model without dates."""
    if time.calendar is not None:
        return time.calendar.moment
    if date := time.date:
        return lambda tick: dt.datetime.combine(date(tick), _MIDNIGHT)
    return None


def _of_dates(
    moment: Callable[[int], dt.datetime], date: Callable[[int], dt.date] | None
) -> Timeline:
    def place(tick: int) -> float:
        with contextlib.suppress(OverflowError, ValueError):  # after year 9999
            return (moment(tick) - _EPOCH) / _DAY
        return math.nan

    def text(tick: int) -> str:
        with contextlib.suppress(OverflowError, ValueError):
            when = moment(tick)
            if when.time() != _MIDNIGHT:
                return f"{when:%Y-%m-%d %H:%M}"
            # A model whose tick is a month defines which of its days is meant.
            return f"{date(tick) if date else when:%Y-%m-%d}"
        return f"t={tick:,}"

    return Timeline("", is_dated=True, place=place, text=text)


@frozen
class Line:
    """One series of one episode.

    Attributes:
        name: The name of the series.
        title: The measured quantity, in words.
        unit: The unit of the values; empty for a number without a unit.
        group: The role or the part whose series it is; empty for the whole world.
        places: The places on the axis, increasing.
        values: One for each place; NaN if not known.
        x: The label of the axis.
        is_dated: Whether places are days since 1970.
        in_time: Whether the axis is the episode's timeline, so that decisions have a place on it.
        is_held: Whether a value holds until the next place, as for points of `world.point`; the
            figures of periods are at the periods' ends.
    """

    name: str
    title: str
    unit: str
    group: str
    places: Sequence[float]
    values: Sequence[float]
    x: str
    is_dated: bool
    in_time: bool
    is_held: bool

    @property
    def axis(self) -> tuple[object, ...]:
        """The common properties of the lines of one plot."""
        return self.x, self.is_dated, self.in_time, self.unit


def is_unchanged(values: Sequence[float]) -> bool:
    """Return whether a series has several values, all of them equal."""
    return len(values) > 1 and all(value == values[0] for value in values)


@frozen
class EpisodeSeries:
    """The series and decisions of one episode that plots show.

    Attributes:
        timeline: The timeline of the episode.
        lines: The series of the model in its order, then those of `world.point` and monitors.
        decided: The places of each role's decisions on the timeline.
    """

    timeline: Timeline
    lines: tuple[Line, ...]
    decided: Mapping[str, Sequence[float]]

    @classmethod
    def of(
        cls,
        model: Model[Any],
        series: Mapping[str, Sequence[float]],
        ends: Mapping[str, Sequence[int]],
        points: Mapping[str, Recorded],
        steps: Iterable[Step],
    ) -> "EpisodeSeries":
        """Return the series and decisions of an episode.

        Args:
            model: The model that was played.
            series: A number for each period, by name.
            ends: The ticks at which periods end, by series.
            points: The recorded points, by name.
            steps: The decisions.
        """
        timeline = Timeline.of(model, ends)
        decided: dict[str, list[float]] = {}
        for step in steps:
            if step.role in decided or len(decided) < _MOST_ROLES:
                decided.setdefault(step.role, []).append(timeline.place(step.t))
        lines = (*_of_model(model, timeline, series, ends), *_points(model, timeline, points))
        return cls(timeline, lines, decided)

    @property
    def span(self) -> tuple[float, float] | None:
        """The first and the last place of its series and decisions; None unless they differ."""
        lines = [line.places for line in self.lines if line.in_time]
        each = [place for places in (*lines, *self.decided.values()) for place in places]
        known = [place for place in each if not math.isnan(place)]
        return (min(known), max(known)) if known and min(known) < max(known) else None

    def marks(self, group: str) -> list[float]:
        """Return the places of the decisions of a role or a part, or of all roles if it is empty.

        Each is there once; of very many those that a picture can separate.
        """
        roles = [role for role in self.decided if f"{role}.".startswith(f"{group}." * bool(group))]
        each = sorted({place for role in roles for place in self.decided[role] if place == place})  # noqa: PLR0124 (NaN)
        if len(each) <= _MOST_MARKS:
            return each
        step = (each[-1] - each[0]) / _MOST_MARKS
        return [*{round((place - each[0]) / step): place for place in each}.values()]


def _of_model(
    model: Model[Any],
    timeline: Timeline,
    series: Mapping[str, Sequence[float]],
    ends: Mapping[str, Sequence[int]],
) -> Iterator[Line]:
    """Yield the series that a model reports."""
    for name, values in series.items():
        ticks = ends.get(name, ())[: len(values)]
        known = values[: _drawn(ticks)] if len(ticks) == len(values) else values
        places = [timeline.place(tick) for tick in ticks[: len(known)]]
        # Without the ends of all periods, or if several end at one moment, periods are counted.
        in_time = len(places) == len(known) and increases(places)
        if not in_time:
            places = [float(number) for number in range(1, len(known) + 1)]
        yield _line(model, timeline, name, places, known, in_time=in_time, is_held=False)


def _points(
    model: Model[Any], timeline: Timeline, points: Mapping[str, Recorded]
) -> Iterator[Line]:
    """Yield the series of recorded points; the last of several points of a tick holds."""
    for name, found in points.items():
        last = dict(zip(found.ticks, found.values, strict=True))
        places = [timeline.place(tick) for tick in last]
        yield _line(model, timeline, name, places, [*last.values()], in_time=True, is_held=True)


def _line(
    model: Model[Any],
    timeline: Timeline,
    name: str,
    places: Sequence[float],
    values: Sequence[float],
    *,
    in_time: bool,
    is_held: bool,
) -> Line:
    column = model.figures.series.get(name, Column())
    unit, divisor = _UNITS.get(column.unit, (column.unit, 1.0))
    inside = model_of(model, name)[1] or name
    return Line(
        name,
        column.label or _words(inside, column.role, unit if divisor > 1 else ""),
        unit,
        column.role or name.removesuffix(inside).removesuffix("."),
        places,
        [value / divisor for value in values],
        timeline.label if in_time else column.period,
        timeline.is_dated and in_time,
        in_time,
        is_held,
    )


def _words(name: str, role: str, unit: str) -> str:
    """Return the name of a series in words, without the role and the unit shown next to it."""
    for said in (role.rpartition(".")[2], "cents" if unit else ""):
        if said and name != said:
            name = name.removesuffix(f"_{said}").removeprefix(f"{said}_")
    return label_text(name.replace(".", " "))


def _drawn(ticks: Sequence[int]) -> int:
    """Return how many periods are drawn: not the last, if the episode ended at its start."""
    if len(ticks) <= 1:
        return len(ticks)
    first, second, last = [0, *ticks][-3:]
    return len(ticks) - (0 < last - second < (second - first) * _HARDLY)
