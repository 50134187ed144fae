"""A scenario prepared for a search: its projects in units of work, their spans by window.

Consultants differ only in cost, so they are counted. Two facts make all else independent of the
assignment. Follow-ons do not depend on the work on their parents, so all projects and their spans
are known beforehand. And work is counted in units, a unit being the work of one consultant in one
step: the m-th unit of a project delivers the same, by any consultant.
"""

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, islice

from attrs import field, frozen

from models.edt.actions import Decide
from models.edt.planning import DecisionLimits
from models.edt.scenario import Project, Scenario

#: Blocks of more units are divided; smaller ones are worn down unit by unit, as in the model.
COUNTED = 10_000


def units(effort: float, dt: float) -> int:
    """Return the number of units of a block of work, with the model's own rounding."""
    if effort > COUNTED * dt:
        return math.ceil(effort / dt)
    count = 0
    while effort > 0:
        effort -= min(dt, effort)
        count += 1
    return count


@frozen
class PreparedProject:
    """A project of the scenario, as far as earnings depend on it.

    Attributes:
        terms: The project.
        units: Units of the contracted work, at least 1: an empty project takes a step too.
        more: Units of an extension, 0 without one.
        late: Whether it acts behind controlling, which posts its work a step later.
    """

    terms: Project
    units: int
    more: int
    late: bool

    @classmethod
    def of(cls, terms: Project, dt: float, *, late: bool) -> "PreparedProject":
        """Return a project with its units."""
        contracted = max(1, units(terms.contracted_effort, dt))
        return cls(terms, contracted, units(terms.extension_effort, dt), late)


@frozen
class WorkSpan:
    """The steps in which one project can be worked on.

    Attributes:
        first: The first step, 0 if the span is empty.
        last: The last step, which is that of the deadline.
    """

    first: int
    last: int

    @property
    def open(self) -> bool:
        """Whether there is such a step."""
        return 0 < self.first <= self.last


#: The spans of a project and of its follow-on.
WorkSpans = tuple[WorkSpan, WorkSpan]

_NEVER = WorkSpan(0, 0)


@frozen(eq=False)
class PreparedFirm:
    """A scenario prepared for a search.

    Attributes:
        scenario: The scenario.
        limits: The limits of a decision in it.
        projects: Its projects in the order in which they act, the scenario's follow-ons last.
        least: The smallest number of consultants to keep, if there are any.
    """

    scenario: Scenario
    limits: DecisionLimits
    projects: tuple[PreparedProject, ...]
    least: int = 1
    _known: dict[tuple[int, int], WorkSpans] = field(factory=dict, init=False)

    @classmethod
    def of(cls, scenario: Scenario, least: int = 1) -> "PreparedFirm":
        """Prepare a scenario."""
        projects = sorted(_projects(scenario), key=lambda project: project.terms.is_follow_on)
        return cls(scenario, DecisionLimits.of(scenario), tuple(projects), least)

    @cached_property
    def steps(self) -> int:
        """Number of steps; the last one does not count for the score."""
        return self.scenario.steps

    @cached_property
    def wages(self) -> Sequence[float]:
        """The cost of the first C consultants in a unit of time, by C."""
        each = (one.salary + one.workplace_cost for one in self.scenario.consultants)
        return [0.0, *accumulate(each)]

    @cached_property
    def counts(self) -> range:
        """The numbers of consultants to choose from."""
        most = self.limits.consultants
        return range(min(most, self.least if self.limits.windows else 0), most + 1)

    def spans(self, start: int, deadline: int) -> WorkSpans:
        """Return the spans of a project with this window and of its follow-on."""
        known = self._known.get((start, deadline))
        if known is None:
            scenario = self.scenario
            low, high = scenario.starttime, scenario.stoptime
            times = [max(min(high, step), low) for step in (start, deadline)]
            known = self._known[start, deadline] = self._spans(*times)
        return known

    def given(self, terms: Project) -> WorkSpans:
        """Return the spans of a follow-on of the scenario, which no decision moves."""
        return self._spans(terms.start_time, terms.deadline)

    def _spans(self, start: float, deadline: float) -> WorkSpans:
        scenario = self.scenario
        created = scenario.step_at(deadline)
        if created is None or not 1 <= created <= self.steps:
            return self._span(start, deadline), _NEVER
        end = min(scenario.stoptime, deadline + deadline - start)
        return self._span(start, deadline), self._span(deadline + 1, end)

    def _span(self, start: float, deadline: float) -> WorkSpan:
        ready = self.scenario.step_at(start)
        if ready is None or ready < 1:
            return _NEVER
        return WorkSpan(ready + 1, min(self.steps, self.scenario.first_step_from(deadline)))

    def chosen(self, plan: Decide) -> Iterator[tuple[PreparedProject, WorkSpans]]:
        """Yield the projects of a decision and the scenario's follow-ons, with their spans."""
        windows = iter(plan.projects)
        for project in self.projects:
            if project.terms.is_follow_on:
                yield project, self.given(project.terms)
            elif window := next(windows):
                yield project, self.spans(window.start, window.deadline)


def _projects(scenario: Scenario) -> Iterator[PreparedProject]:
    projects, late = iter(scenario.projects), False
    for kind, count in scenario.order:
        late |= kind == "controlling"
        for terms in islice(projects, count if kind == "project" else 0):
            yield PreparedProject.of(terms, scenario.dt, late=late and terms.is_follow_on)
