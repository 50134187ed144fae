"""Reports of a model about an episode: series, spans and tables, with their units and labels."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import (
    Any,
    Protocol,
    runtime_checkable,
)

from attrs import field, frozen
from attrs.validators import max_len

from desim.core.model_protocols import Rows
from desim.show.labels import label_text

#: Characters of a text of a column; reports and tables show them whole.
_TEXT = 80


@frozen
class Column:
    """The description of one series of a model: unit, label, role and period.

    Attributes:
        unit: Such as "units", "dollars" or "consultants"; empty for a number without a unit.
        label: For people; empty means the series' name as words.
        role: The role whose series it is; empty if it does not belong to a single role.
        period: The name of its periods, such as "week" or "month".
    """

    unit: str = field(default="", validator=max_len(_TEXT))
    label: str = field(default="", validator=max_len(_TEXT))
    role: str = field(default="", validator=max_len(_TEXT))
    period: str = field(default="period", validator=max_len(_TEXT))

    def title(self, name: str) -> str:
        """Return the label of an axis: the series' label, and the unit in brackets.

        >>> Column("units").title("orders_retailer")
        'Orders retailer (units)'
        """
        label = self.label or label_text(name.replace(".", " "))
        return f"{label} ({self.unit})" if self.unit else label


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
class HasSeriesTicks(Protocol):
    """A model that says when the periods of its series end."""

    def series_ticks(self, state: Any) -> Mapping[str, Sequence[int]]:
        """Return the tick at the end of each period, by the name of the series."""
        ...
