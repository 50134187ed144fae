"""The course of an episode's score: a value for each period, and the costs by cause."""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from attrs import evolve, field, frozen

from desim.core.model_protocols import Model, model_of, offers
from desim.core.reported import (
    Debriefing,
    HasDebriefing,
    HasScoreSeries,
    HasSeriesColumns,
    ScoreSeries,
)
from desim.core.result import Series, Ticks
from desim.episodes.prefix import repeated_whole
from desim.faults import RAISED
from desim.records.episode import Episode
from desim.show.column import CENTS, DOLLARS, Column

#: The unit of series that are shown in dollars.
_CENTS = "cents"


@frozen
class Trail:
    """The course of the score of one episode.

    Attributes:
        values: The value at the end of each period, in the unit of its `TrailReader`.
        ends: The tick at the end of each period; empty if the model does not report them.
        costs: Money by cause; empty if the model does not report it.
        currency: The unit of the costs.
    """

    values: tuple[float, ...] = ()
    ends: tuple[int, ...] = ()
    costs: Mapping[str, float] = field(factory=dict)
    currency: Column = DOLLARS

    def period(self, tick: int) -> int | None:
        """Return the number of the period, from 1, that ends next at a tick; None if not known."""
        return min(bisect_left(self.ends, tick) + 1, len(self.ends)) if self.ends else None


@frozen
class TrailReader:
    """Reads the trails of episodes of one model.

    Attributes:
        model: The model.
        seats: The roles whose score is shown.
    """

    model: Model[Any]
    seats: tuple[str, ...]

    @property
    def declared(self) -> ScoreSeries | None:
        """The series of the score, of the model or of the part that has all seats."""
        if offers(self.model, HasScoreSeries):
            return self.model.score_series(self.seats)
        inner, name = model_of(self.model, self.seats[0])
        prefix = self.seats[0].removesuffix(name)
        if not offers(inner, HasScoreSeries) or not all(s.startswith(prefix) for s in self.seats):
            return None
        found = inner.score_series([seat.removeprefix(prefix) for seat in self.seats])
        return evolve(found, names=tuple(f"{prefix}{name}" for name in found.names))

    @property
    def column(self) -> Column:
        """The unit and the name of the periods of the values."""
        found = self.declared
        columns = self.model.series_columns if offers(self.model, HasSeriesColumns) else {}
        column = columns.get(found.names[0], Column()) if found else Column()
        return evolve(CENTS, period=column.period) if column.unit == _CENTS else column

    @property
    def title(self) -> str:
        """The title of the chart, with the unit; empty for a model that declares no series."""
        found = self.declared
        return evolve(self.column, label=found.label).title("") if found else ""

    def replayed(self, episode: Episode) -> Trail:
        """Return the trail of an episode on record, which is repeated for it; no policy is called.

        Raises:
            BadRecord: The record does not replay.
        """
        run = repeated_whole(self.model, episode)
        return self.of(run.state, *run.ended_series())

    def of(self, state: Any, series: Series, ends: Ticks) -> Trail:
        """Return the trail of an ended episode; it is empty where a function of the model fails.

        Args:
            state: The state at the end.
            series: The series of the model.
            ends: The ticks at which their periods end.
        """
        found, scale = self.declared, self.column.scale
        lines = [series[name] for name in found.names if name in series] if found else []
        values = [scale * _sum(each) for each in zip(*lines, strict=False)]
        if found and found.is_total:
            values = [*accumulate(values)]
        ticks = ends.get(found.names[0], ()) if found else ()
        known = tuple(ticks) if len(ticks) == len(values) else ()
        return evolve(self._with_costs(state), values=tuple(values), ends=known)

    def _with_costs(self, state: Any) -> Trail:
        if not offers(self.model, HasDebriefing):
            return Trail()
        try:
            found = self.model.debriefing(state)
        except RAISED:  # the end is shown without the costs, as a game is played without tables
            return Trail()
        return Trail(costs=self._of_seats(found), currency=found.currency)

    def _of_seats(self, debriefing: Debriefing) -> Mapping[str, float]:
        """Return the sums of the seats; those of all entries where none is named for a seat."""
        costs = debriefing.costs
        mine = [costs[seat] for seat in self.seats if seat in costs] or [*costs.values()]
        total = Counter[str]()
        for by_cause in mine:
            for cause, money in by_cause.items():
                total[cause] += money  # type: ignore[assignment]  # sums of money are floats
        return dict(total)


def _sum(values: Iterable[float]) -> float:
    return math.fsum(0.0 if math.isnan(value) else value for value in values)


def quarters(values: Sequence[float]) -> list[float | None]:
    """Return the values after a quarter, half, three quarters and all of the periods.

    >>> quarters([1, 2, 3, 4, 5, 6, 7, 8]), quarters([1])
    ([2, 4, 6, 8], [1, 1, 1, 1])
    """
    if not values:
        return [None] * 4
    return [values[max(0, math.ceil(len(values) * part / 4) - 1)] for part in range(1, 5)]
