"""Reports of a model about an episode: series, spans and tables, with their units and labels."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import (
    Any,
    Protocol,
    runtime_checkable,
)

from attrs import frozen

from desim.core.model import Model, Rows, offers
from desim.errors import UsageError
from desim.show.column import Column, Direction


@frozen
class SeatBriefing:
    """The rules of a role in five short answers, for a person who begins.

    Attributes:
        title: The name of the world in words, such as "The Beer Game".
        you_are: The role, and what it manages.
        you_want: The aim.
        it_costs: What costs money or score.
        it_ends: When the episode ends.
        score: What the score is, with its unit.
    """

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


@runtime_checkable
class HasBriefing(Protocol):
    """A model that sums its rules up for a person."""

    def briefing_for(self, role: str) -> SeatBriefing:
        """Return the briefing of a role, with the numbers of these parameters.

        It holds nothing that the role may not know.
        """
        ...


@runtime_checkable
class HasEffects(Protocol):
    """A model that states what an action did, and when the rest of it will show."""

    def effect_of(self, state: Any, role: str, action: Any, observation: Any) -> str:
        """Return one or two sentences about the last action of *role*; may be empty.

        They hold nothing that the role may not know. Why an action was refused is said by
        `refusal` where the model has it, and this is not called.

        Args:
            state: The state when the next decision of the role is open.
            role: The role.
            action: Its last action.
            observation: The observation of its next decision.
        """
        ...


@runtime_checkable
class HasRefusals(Protocol):
    """A model whose observations state that the last action was refused."""

    def refusal(self, role: str, observation: Mapping[str, Any]) -> str:
        """Return why the last action of *role* was refused; empty if it was carried out.

        Args:
            role: The role.
            observation: The observation of its next decision, as the plain values of a record.
        """
        ...


@frozen
class Span:
    """Something that was under way: a project, a task, a journey.

    Attributes:
        kind: Such as "project"; spans of one kind are shown together.
        name: Its own name.
        start: Its first tick.
        end: Its last tick, at least *start*; None if it was still under way at the end.
        phases: The first tick and the name of each phase, in order; may be empty.
    """

    kind: str
    name: str
    start: int
    end: int | None = None
    phases: tuple[tuple[int, str], ...] = ()


# Called once, after the episode, so that an episode without a trace takes no time for it.
@runtime_checkable
class HasSpans(Protocol):
    """A model that reports spans of its own, in addition to the lives of processes."""

    def trace_spans(self, state: Any) -> Iterable[Span]:
        """Yield the spans of an episode, which may have been cut or have failed."""
        ...


@runtime_checkable
class HasTables(Protocol):
    """A model with tables that a person may look up during an episode."""

    def tables(self, state: Any, role: str) -> Mapping[str, Rows]:
        """Return tables by name that hold nothing *role* may not know."""
        ...


@runtime_checkable
class HasDates(Protocol):
    """A model whose ticks have dates."""

    def date(self, tick: int) -> dt.date:
        """Return the day of a tick; ticks of opening entries may be negative."""
        ...


@runtime_checkable
class HasItems(Protocol):
    """A model that asks many questions, which are a sample of those that could be asked.

    Intervals of its scores are over the items: further seeds only repeat them.
    """

    @property
    def item_groups(self) -> Mapping[str, Sequence[str]]:
        """By item the groups whose shares of right answers are reported, such as a capability."""
        ...

    def item_results(self, state: Any) -> Mapping[str, tuple[float, bool]]:
        """Return by item its part of the score and whether it was answered right.

        The score is the mean of the parts.
        """
        ...


@runtime_checkable
class HasSeries(Protocol):
    """A model that reports what happened period by period."""

    def series(self, state: Any) -> Mapping[str, Sequence[float]]:
        """Return one number for each period (month, week) that was played, by name in snake_case.

        Called at the end of an episode if its series are recorded. A number that is not known is
        NaN.
        """
        ...


@runtime_checkable
class HasSeriesColumns(Protocol):
    """A model that describes its series: those of `series` and of `world.point`."""

    @property
    def series_columns(self) -> Mapping[str, Column]:
        """Unit, label, role and period by the name of the series."""
        ...


@runtime_checkable
class HasMetricColumns(Protocol):
    """A model that describes its score and metrics."""

    @property
    def metric_columns(self) -> Mapping[str, Column]:
        """Unit, label, kind and which values are better, by metric; `score` describes the score."""
        ...


def metric_columns_of(model: Model[Any]) -> Mapping[str, Column]:
    """Return the columns that a model declares for its metrics; empty if it declares none."""
    return model.metric_columns if offers(model, HasMetricColumns) else {}


def direction(model: Model[Any], name: str, minimise: str = "") -> Direction:
    """Return whether a higher or a lower value of a figure is better; empty if nothing says so.

    Args:
        model: The model, which declares it in `metric_columns`; a higher score is always better.
        name: The score or a metric.
        minimise: A figure of which lower is better whatever the model declares.
    """
    if name == minimise:
        return "lower"
    if name == "score":
        return "higher"
    return metric_columns_of(model).get(name.removeprefix("metrics."), Column()).better


def undirected(name: str) -> UsageError:
    """Return the error of a selection by a figure without a direction."""
    return UsageError(
        f"nothing says whether a higher or a lower {name} is better; give --minimise {name} "
        f"(in Python minimise={name!r}), or let the world declare it in metric_columns, as in "
        f'{{"{name}": Column(better="higher")}}'
    )


@runtime_checkable
class HasSeriesTicks(Protocol):
    """A model that says when the periods of its series end."""

    def series_ticks(self, state: Any) -> Mapping[str, Sequence[int]]:
        """Return the tick at the end of each period, by the name of the series."""
        ...


@frozen
class ScoreSeries:
    """The series that show period by period how a score came about.

    Attributes:
        label: What their sum is, such as "Cost so far".
        names: Series of the model, of one unit and period.
        is_total: Whether the values are those of single periods, which are added up over time.
    """

    label: str
    names: tuple[str, ...]
    is_total: bool = False


@runtime_checkable
class HasScoreSeries(Protocol):
    """A model that names the series of its score, which are drawn at the end of a game."""

    def score_series(self, roles: Sequence[str]) -> ScoreSeries:
        """Return the series that show how the score of some roles came about."""
        ...
