"""The manager's actions: a decision in the published game, commands in the interactive one."""

from collections.abc import Mapping
from typing import Any, ClassVar

from attrs import evolve, field, frozen
from attrs.validators import ge, le, max_len

from desim.schema.validators import LARGEST, LONGEST_LIST, bounded_number, bounded_whole
from desim.show.column import SHARE, Column

#: R, between no gate and every gate.
_RISK = {"revenue_risk": evolve(SHARE, usual=(0, 1))}


def _count(least: int) -> Any:
    return field(validator=[ge(least), le(LARGEST)])


@frozen
class Window:
    """The steps between which an accepted project is open.

    Attributes:
        start: Step at which it becomes ready, at least 0; work starts one step later.
        deadline: Step with which it ends, not before start.
    """

    start: int = field(validator=[ge(-LARGEST), le(LARGEST)])
    deadline: int = field(validator=[ge(-LARGEST), le(LARGEST)])


@frozen
class Decide:
    """Choose staff, risk level and projects for the whole run; the published C, R and P.

    Attributes:
        consultants: C: consultants to keep, 0 to all of them.
        revenue_risk: R: 0 to 1; at 1 every extension and follow-on with a chance comes about, at 0
            none does.
        projects: P: for each project in order null to leave it out, or the steps of its window.
    """

    columns: ClassVar[Mapping[str, Column]] = _RISK

    consultants: int = field(validator=bounded_whole)
    revenue_risk: float = field(validator=bounded_number)
    projects: tuple[Window | None, ...] = field(validator=max_len(LONGEST_LIST))

    def raw(self) -> dict[str, Any]:
        """Return the published decision object."""
        windows = [[1, w.start, w.deadline] if w else 0 for w in self.projects]
        return {"C": self.consultants, "R": self.revenue_risk, "P": windows}


@frozen
class Answer:
    """A decision in the published form, which is repaired or refused.

    Attributes:
        given: {"C": consultants, "R": risk level, "P": [0 or [1, start, deadline], ...]} as an
            object, or a text that contains it.
    """

    given: Any


@frozen
class OnProject:
    """A command about one project.

    Attributes:
        project: Its number, from 0.
    """

    columns: ClassVar[Mapping[str, Column]] = {
        "project": Column(kind="identifier", of=("projects.index",))
    }

    project: int = _count(0)


@frozen
class Accept(OnProject):
    """Take a project on: from its start until its deadline consultants may work on it."""


@frozen
class Decline(OnProject):
    """Give a project that was not accepted away for good; nothing will follow it either."""


@frozen
class Staff(OnProject):
    """Set how many consultants an accepted project may have; those too many leave it at once.

    A consultant who leaves is without work for a step, as after the end of a project.

    Attributes:
        seats: 0 to the project's own limit.
    """

    seats: int = _count(0)


@frozen
class Hire:
    """Put consultants on the payroll; they cost money and look for work from the next step on.

    Attributes:
        consultants: How many, at least 1; the first who are free.
    """

    consultants: int = _count(1)


@frozen
class Release:
    """Take consultants off the payroll; they cost nothing from the next step on.

    Attributes:
        consultants: How many, at least 1; idle ones first, then the last on the list.
    """

    consultants: int = _count(1)


@frozen
class SetRisk:
    """Change R, the level of revenue risk, from now on.

    Attributes:
        revenue_risk: 0 to 1; a gate opens for probabilities above 1 - R.
    """

    columns: ClassVar[Mapping[str, Column]] = _RISK

    revenue_risk: float = field(validator=[ge(0), le(1)])


@frozen
class Wait:
    """Let time pass until something happens or the quarter ends."""


#: The manager's actions in preset `interactive`.
Command = Accept | Decline | Staff | Hire | Release | SetRisk | Wait
