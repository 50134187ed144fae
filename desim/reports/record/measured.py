"""The series of one episode and the places of its decisions, ready to be drawn.

A series has a title, a unit, places on the axis and values.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from desim.core.model import Model, model_of
from desim.core.points import Recorded
from desim.records.lines import Step
from desim.reports.record.timeline import Timeline, columns_of, increases
from desim.show.column import Column
from desim.show.estimates import number_cell
from desim.show.labels import label_text
from desim.show.table import Printed

#: Most points of a line; of a longer one the extremes of each stretch are drawn.
_MOST_POINTS = 1_500

#: Most marks of decisions in a panel: more than a picture of this size can separate.
_MOST_MARKS = 400

#: The heads of `extremes`.
EXTREMES = ("first", "lowest", "highest", "last")

#: Units that are converted: by unit, the unit drawn and the divisor.
_UNITS = {"cents": ("dollars", 100.0)}


@frozen
class Measured:
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


def measured(
    model: Model[Any],
    timeline: Timeline,
    series: Mapping[str, Sequence[float]],
    ends: Mapping[str, Sequence[int]],
    points: Mapping[str, Recorded],
) -> Iterator[Measured]:
    """Yield the series of an episode: those of the model, then those that were recorded.

    Args:
        model: The model that was played.
        timeline: The timeline of the episode.
        series: A number for each period, by name.
        ends: The ticks at which periods end, by series.
        points: The recorded points, by name.
    """
    columns = columns_of(model)
    for name, values in series.items():
        column, ticks = columns.get(name, Column()), ends.get(name, ())[: len(values)]
        if len(ticks) == len(values):
            ticks = ticks[: _drawn(ticks)]
            values = values[: len(ticks)]  # noqa: PLW2901 (of the last period, if it is drawn)
        places = [timeline.place(tick) for tick in ticks]
        # Without the ends of all periods, or if several end at one moment, periods are counted.
        in_time = len(places) == len(values) and increases(places)
        if not in_time:
            places = [float(number) for number in range(1, len(values) + 1)]
        yield _one(model, name, column, places, values, timeline, in_time=in_time, is_held=False)
    for name, found in points.items():
        column = columns.get(name, Column())
        # The last of several points of a tick holds; the others held for no time.
        last = dict(zip(found.ticks, found.values, strict=True))
        places, values = [timeline.place(tick) for tick in last], [*last.values()]
        yield _one(model, name, column, places, values, timeline, in_time=True, is_held=True)


def _one(
    model: Model[Any],
    name: str,
    column: Column,
    places: Sequence[float],
    values: Sequence[float],
    timeline: Timeline,
    *,
    in_time: bool,
    is_held: bool,
) -> Measured:
    unit, divisor = _UNITS.get(column.unit, (column.unit, 1.0))
    inside = model_of(model, name)[1] or name
    part = name.removesuffix(inside).removesuffix(".")
    title = column.label or _words(inside, column.role, unit if divisor > 1 else "")
    kept = _thinned(values)
    return Measured(
        name,
        title,
        unit,
        column.role or part,
        [places[at] for at in kept],
        [values[at] / divisor for at in kept],
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


def _thinned(values: Sequence[float]) -> list[int]:
    """Return which values are drawn: the lowest and the highest of each stretch of a long series.

    This keeps all peaks, which drawing every tenth value would lose.
    """
    if len(values) <= _MOST_POINTS:
        return list(range(len(values)))
    step = -(-2 * len(values) // _MOST_POINTS)
    kept = {0, len(values) - 1}
    for start in range(0, len(values), step):
        stretch = [at for at in range(start, min(start + step, len(values))) if _known(values[at])]
        if stretch:
            kept |= {min(stretch, key=values.__getitem__), max(stretch, key=values.__getitem__)}
    return sorted(kept)


def _known(value: float) -> bool:
    return not math.isnan(value)


def is_unchanged(values: Sequence[float]) -> bool:
    """Return whether a series has several values, all of them equal."""
    return len(values) > 1 and all(value == values[0] for value in values)


def extremes(values: Sequence[float]) -> list[Printed | None]:
    """Return cells below `EXTREMES`; empty if no value is known."""
    known = [value for value in values if _known(value)]
    if not known:
        return [None] * 4
    return [number_cell(one) for one in (known[0], min(known), max(known), known[-1])]


def marks(group: str, decided: Mapping[str, Sequence[float]]) -> list[float]:
    """Return the places of the decisions that belong to a group.

    Args:
        group: A role, a part, or empty for all.
        decided: The places of each role's decisions.

    Returns:
        The places in order, each once; if there are very many, those that a picture can separate.
    """
    roles = [role for role in decided if group in {"", role} or role.startswith(f"{group}.")]
    each = sorted({place for role in roles for place in decided[role] if _known(place)})
    if len(each) <= _MOST_MARKS:
        return each
    step = (each[-1] - each[0]) / _MOST_MARKS
    kept = each[:1]
    for place in each:
        if place - kept[-1] >= step:
            kept.append(place)
    return kept


#: Most roles whose decisions are marked; an untrusted record may name one for each decision.
_MOST_ROLES = 200


#: The least share of a period from which its figures are drawn.
_HARDLY = 0.05


def _drawn(ticks: Sequence[int]) -> int:
    """Return how many periods are drawn: the last is left out if the episode ended at its start.

    The counts of so short a period would be a drop at the end of a line.
    """
    if len(ticks) <= 1:
        return len(ticks)
    first, second, last = [0, *ticks][-3:]
    return len(ticks) - (0 < last - second < (second - first) * _HARDLY)


@frozen
class EpisodeSeries:
    """The series and decisions of one episode that plots show.

    Attributes:
        timeline: The timeline of the episode.
        series: Those of the model in its order, then those of `world.point` and monitors.
        decided: The places of each role's decisions on the timeline.
    """

    timeline: Timeline
    series: tuple[Measured, ...]
    decided: Mapping[str, Sequence[float]]

    @property
    def span(self) -> tuple[float, float] | None:
        """The first and the last place of its series and decisions; None unless they differ."""
        lines = [line.places for line in self.series if line.in_time]
        each = [place for places in (*lines, *self.decided.values()) for place in places]
        known = [place for place in each if not math.isnan(place)]
        return (min(known), max(known)) if known and min(known) < max(known) else None

    @classmethod
    def of(
        cls,
        model: Model[Any],
        series: Mapping[str, Sequence[float]],
        ends: Mapping[str, Sequence[int]],
        points: Mapping[str, Recorded],
        steps: Iterable[Step],
    ) -> "EpisodeSeries":
        """Return the series and decisions; the arguments are those of `measured`, and decisions."""
        timeline = Timeline.of(model, ends)
        decided: dict[str, list[float]] = {}
        for step in steps:
            if step.role in decided or len(decided) < _MOST_ROLES:
                decided.setdefault(step.role, []).append(timeline.place(step.t))
        found = tuple(measured(model, timeline, series, ends, points))
        return cls(timeline, found, decided)
