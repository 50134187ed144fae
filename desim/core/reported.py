"""The values that members of `Model` return: texts, figures, time, series, spans, what is held."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from attrs import field, frozen

from desim.core.calendar import TickCalendar
from desim.errors import UsageError
from desim.short_repr import short_repr
from desim.show.column import Column, Direction

#: A table that a person may look up: plain rows of text, numbers or None by column.
Rows = Sequence[Mapping[str, Any]]


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


def ledgers_of(state: Any) -> Sequence[Any]:
    """Return the ledgers of a state, always in the same order; empty for one without `ledgers`.

    Each has `digest()`, equal for equal entries in equal order; it may also have `name`, `digits`,
    `held`, and a `journal` or `moves`. One with `export_forms`, such as ("csv",), has
    `export(form, date)`, which returns texts by file name.
    """
    ledgers: Sequence[Any] = getattr(state, "ledgers", ())
    return ledgers


def inner_ledger(ledger: Any) -> Any:
    """Return the ledger itself of one of a part, which adds the part's name; any other as it is."""
    return getattr(ledger, "ledger", ledger)


@runtime_checkable
class Statement(Protocol):
    """A statement with an amount for each of its lines, such as `ledgers.statements.Statement`."""

    def money(self) -> Mapping[str, float]:
        """Return the amounts in the currency itself, by line from top to bottom."""


class Holding(Protocol):
    """Cash or goods that a company exchanges with the other companies of its group.

    Times are the company's ticks, amounts whole cents or units of at least 1.
    """

    @property
    def held(self) -> int | Fraction:
        """The cents or units on hand."""

    @property
    def balances(self) -> Mapping[str, int]:
        """The open balance with each partner, who has the same with the opposite sign."""

    def receive(self, time: int, partner: str, amount: int, /) -> None:
        """Add what *partner* has sent."""

    def send(self, time: int, partner: str, amount: int, /) -> None:
        """Hand over to *partner*; a ValueError if it is more than is on hand, or less than 1."""


def rows_of(name: str, given: Rows | Statement) -> Rows:
    """Return a table as rows, of a statement with "line" and "amount"; errors call it *name*."""
    if isinstance(given, Statement):
        return [{"line": line, "amount": amount} for line, amount in given.money().items()]
    if isinstance(given, Sequence) and all(isinstance(row, Mapping) for row in given):
        return given
    raise UsageError(
        f"the table {name!r} is {short_repr(given)}; a table is a list of mappings by column, or "
        "a statement with `money`"
    )
