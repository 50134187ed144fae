"""Time on the axis of a plot of an episode: dates, periods such as weeks, or ticks."""

import contextlib
import datetime as dt
import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from attrs import frozen

from desim.core.model import Model
from desim.core.reported import Time
from desim.show.column import Column

#: The moment from which matplotlib counts the days of its axes.
_EPOCH, _DAY = dt.datetime(1970, 1, 1), dt.timedelta(days=1)  # noqa: DTZ001 (models have no zones)

_MIDNIGHT = dt.time()


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
        columns = columns_of(model)
        names = {columns[name].period if name in columns else "period" for name in ends}
        known = {tuple(ticks) for ticks in ends.values() if ticks}
        time = model.time
        if not time.date and len(names) == 1:
            longest = max(known, key=len, default=())
            if all(longest[: len(ticks)] == ticks for ticks in known) and increases(longest):
                return _of_periods(longest, *names)
        moment = _moments(time)
        if moment is not None:
            return _of_dates(moment, time.date)
        return cls("tick", is_dated=False, place=float, text=lambda tick: f"t={tick:,}")


def columns_of(model: Model[Any]) -> Mapping[str, Column]:
    """Return the columns that a model declares for its series; empty if it declares none."""
    return model.figures.series


def increases(places: Sequence[float]) -> bool:
    """Return whether each place is greater than the one before."""
    return all(a < b for a, b in pairwise(places))


def _of_periods(ends: Sequence[int], name: str) -> Timeline:
    """Return a timeline on which a period is one unit long: the first is from 0 to 1."""
    # Periods before the first end and after the last one are as long as their neighbours.
    first = (ends[1] - ends[0] if len(ends) > 1 else ends[0] or 1) if ends else 1
    last = (ends[-1] - ends[-2] if len(ends) > 1 else first) if ends else 1
    known = [(ends[0] - first) if ends else 0, *ends]

    def place(tick: int) -> float:
        after = bisect_left(known, tick)
        if after == len(known):
            return after - 1 + (tick - known[-1]) / last
        if after == 0:
            return max(0.0, (tick - known[0]) / first)
        return after - 1 + (tick - known[after - 1]) / (known[after] - known[after - 1])

    def text(tick: int) -> str:
        # A decision at this tick may belong to the period that ends or to the one that begins.
        if tick in ends:
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
