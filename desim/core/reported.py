"""Reports of a model about an episode: series, spans and tables, with their units and labels."""

from collections.abc import Mapping

from attrs import frozen

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


def direction(columns: Mapping[str, Column], name: str, minimise: str = "") -> Direction:
    """Return whether a higher or a lower value of a figure is better; empty if nothing says so.

    Args:
        columns: The `metric_columns` of the model; a higher score is always better.
        name: The score or a metric.
        minimise: A figure of which lower is better whatever the model declares.
    """
    if name == minimise:
        return "lower"
    if name == "score":
        return "higher"
    return columns.get(name.removeprefix("metrics."), Column()).better


def undirected(name: str) -> UsageError:
    """Return the error of a selection by a figure without a direction."""
    return UsageError(
        f"nothing says whether a higher or a lower {name} is better; give --minimise {name} "
        f"(in Python minimise={name!r}), or let the world declare it in metric_columns, as in "
        f'{{"{name}": Column(better="higher")}}'
    )


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
