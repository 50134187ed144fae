"""The course of an episode's score: a value for each period."""

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

from attrs import evolve, frozen

from desim.core.model import Model, model_of
from desim.core.reported import ScoreSeries
from desim.core.result import Series
from desim.episodes.replay import repeated_whole
from desim.records.episode import Episode
from desim.show.column import CENTS, Column

#: The unit of series that are shown in dollars.
_CENTS = "cents"


@frozen
class Trail:
    """The course of the score of one episode.

    Attributes:
        values: The value at the end of each period, in the unit of its `TrailReader`.
    """

    values: tuple[float, ...] = ()


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
        found, prefix = self.model.figures.score_series, ""
        if found is None:
            inner, name = model_of(self.model, self.seats[0])
            found, prefix = inner.figures.score_series, self.seats[0].removesuffix(name)
        if found is None or not all(seat.startswith(prefix) for seat in self.seats):
            return None
        roles = [seat.removeprefix(prefix) for seat in self.seats]
        names = (name.replace("{role}", role) for name in found.names for role in roles)
        return evolve(found, names=tuple(dict.fromkeys(f"{prefix}{name}" for name in names)))

    @property
    def column(self) -> Column:
        """The unit and the name of the periods of the values."""
        found = self.declared
        columns = self.model.figures.series
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
        return self.of(run.ended_series()[0])

    def of(self, series: Series) -> Trail:
        """Return the trail of an ended episode from the series of the model.

        It is empty for a model that declares no series of its score.
        """
        found, scale = self.declared, self.column.scale
        lines = [series[name] for name in found.names if name in series] if found else []
        values = [scale * _sum(each) for each in zip(*lines, strict=False)]
        if found and found.is_total:
            values = [*accumulate(values)]
        return Trail(tuple(values))


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
