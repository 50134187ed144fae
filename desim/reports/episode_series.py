"""The series of one episode and the places of its decisions, ready to be drawn."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import frozen

from desim.core.model_protocols import Model
from desim.core.points import Recorded
from desim.records.lines import Step
from desim.reports.measured import Measured, measured
from desim.reports.timeline import Timeline

__all__ = ["EpisodeSeries", "played"]

#: Roles whose decisions are marked; a stranger's record may name as many as it has decisions.
_MOST_ROLES = 200

#: The share of a period from which on its figures say something about it.
_HARDLY = 0.05


def played(
    series: Mapping[str, Sequence[float]], ends: Mapping[str, Sequence[int]], end: int
) -> tuple[dict[str, Sequence[float]], dict[str, Sequence[int]]]:
    """Return series and the ends of their periods up to the end of the episode.

    A company that went bankrupt in May may report all months of its year, for tables that need
    them; a line up to December would show it at work until then. The period in which the episode
    ended ends with it, and is left out where hardly any of it was played.

    Args:
        series: A number a period, by name; without the ends of all its periods one stays whole.
        ends: The ticks at which periods end, by series.
        end: The tick at which the episode ended.
    """
    kept = {name: _played(ticks, end) for name, ticks in ends.items()}
    values = {
        name: each[: len(kept[name])] if len(ends.get(name, ())) == len(each) else each
        for name, each in series.items()
    }
    return values, kept


def _played(ticks: Sequence[int], end: int) -> Sequence[int]:
    whole = [tick for tick in ticks if tick <= end]
    if len(whole) == len(ticks):
        return ticks
    last, cut = whole[-1] if whole else 0, ticks[len(whole)]
    return [*whole, end] if end - last > (cut - last) * _HARDLY else whole


@frozen
class EpisodeSeries:
    """What plots show of one episode.

    Attributes:
        timeline: Of the episode.
        series: In the order of the model, then those of `world.series` and monitors.
        decided: The places of each role's decisions on the timeline.
    """

    timeline: Timeline
    series: tuple[Measured, ...]
    decided: Mapping[str, Sequence[float]]

    @property
    def span(self) -> tuple[float, float] | None:
        """The first and the last place of its series and decisions; None where there are none."""
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
        """Return what plots show; arguments as of `measured`, and the decisions."""
        timeline = Timeline.of(model, ends)
        decided: dict[str, list[float]] = {}
        for step in steps:
            if step.role in decided or len(decided) < _MOST_ROLES:
                decided.setdefault(step.role, []).append(timeline.place(step.t))
        found = tuple(measured(model, timeline, series, ends, points))
        return cls(timeline, found, decided)
