"""The values that members of `Model` return: texts, figures, time, series, spans."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from desim.core.calendar import TickCalendar
from desim.show.column import Column, Direction


class Refused(str):
    """Why an action was refused, as one sentence; it has changed nothing."""

    __slots__ = ()


@frozen
class SeatBriefing:
    """The rules of a role in five short answers, for a person who begins; `title` is the world."""

    title: str
    you_are: str
    you_want: str
    it_costs: str
    it_ends: str
    score: str

    def answers(self) -> tuple[tuple[str, str], ...]:
        """Return the five answers, each behind the words that it begins with."""
        return (
            ("You are", self.you_are),
            ("You want", self.you_want),
            ("Costs", self.it_costs),
            ("It ends", self.it_ends),
            ("The score", self.score),
        )


@frozen
class Texts:
    """The rules of a role.

    Attributes:
        rules: Aims, costs, delays and the score in plain English, with the numbers of these
            parameters, and nothing that the role may not know. If empty, the first paragraph of
            the model's docstring is shown.
        briefing: The same in five answers, for a person; None to cut them from docstrings.
    """

    rules: str = ""
    briefing: SeatBriefing | None = None


@frozen
class Span:
    """Something that was under way, from tick to tick; `end` is None if it still was at the end.

    Spans of one `kind`, such as "project", are shown together; `phases` have a first tick each.
    """

    kind: str
    name: str
    start: int
    end: int | None = None
    phases: tuple[tuple[int, str], ...] = ()


@frozen
class Periods:
    """A series: one value a period, and the tick at which each period ends."""

    values: Sequence[float]
    ends: Sequence[int]

    @classmethod
    def each(
        cls, series: Mapping[str, Sequence[float]], ends: Sequence[int]
    ) -> "dict[str, Periods]":
        """Return several series of the same periods."""
        return {name: cls(values, ends) for name, values in series.items()}


@frozen
class ScoreSeries:
    """The series that show period by period how a score came about.

    Attributes:
        label: What their sum is, such as "Cost so far".
        names: Series of the model, of one unit and period; `{role}` stands for each role played.
        is_total: Whether the values are those of single periods, which are added up over time.
    """

    label: str
    names: tuple[str, ...]
    is_total: bool = False


@frozen(kw_only=True)
class Figures:
    """Units, labels and bounds of the score, the metrics and the series of a world.

    Attributes:
        columns: Unit, label, kind and which values are better, by metric, and of the `score`.
        series: Unit, label, role and period, by series of `Model.series` and of `World.point`.
        score_series: The series that show on the last page how the score came about.
        board: Metrics without which the score can be misread. Boards print their means, or of texts
            the share of episodes that have one.
        score_range: The lowest and the highest score that an episode can have for certain; the
            highest is None if there is no bound. Tables count a failed episode with the lowest.
            With both, stopping and selection hold for any distribution of the scores.
    """

    columns: Mapping[str, Column] = field(factory=dict)
    series: Mapping[str, Column] = field(factory=dict)
    score_series: ScoreSeries | None = None
    board: Sequence[str] = ()
    score_range: tuple[float, float | None] | None = None

    @property
    def worst_score(self) -> float | None:
        """The lowest score; None if it has no bound."""
        return self.score_range[0] if self.score_range else None

    @property
    def both_bounds(self) -> tuple[float, float] | None:
        """The lowest and the highest score; None if one of them has no bound."""
        low, high = self.score_range or (0, None)
        return None if high is None else (low, high)

    def better(self, name: str) -> Direction:
        """Return whether a higher or a lower value of the score or a metric is better, if known."""
        if name == "score":
            return "higher"
        return self.columns.get(name.removeprefix("metrics."), Column()).better


@frozen(kw_only=True)
class Time:
    """The ticks of a world, for people and for other worlds.

    Attributes:
        calendar: When ticks are in a world played alone, so that it can share a clock with others.
        length: The length of an episode in one or two words, such as "25 weeks".
        date: Returns the day of a tick, which may be negative for opening entries.
        role_time: Returns, of state, role and a tick, the tick as the role may know it, for
            instance where the year is hidden: empty for one without a name, None for its date.
    """

    calendar: TickCalendar | None = None
    length: str = ""
    date: Callable[[int], dt.date] | None = None
    role_time: Callable[[Any, str, int], str | None] | None = None

    def known_to(self, role: str, state: Any, tick: int) -> str | None:
        """Return a tick as a role may know it; None for its date."""
        return None if self.role_time is None else self.role_time(state, role, tick)
