"""The one-shot game in plain Python, for a search: a few dozen microseconds for a decision.

It mirrors the rules of reference SPEC sections 3 to 9 without clock, ledgers or log. Consultants
are alike but for their cost, so it counts them; between two events a project's work has a closed
form, so it jumps from event to event. A search takes its figures from here and has the decision it
settles on played by the model itself.

Two facts make this possible. A follow-on comes whatever was worked on its parent, so all projects
and their windows are known beforehand. And work is counted in units, a unit being what a consultant
does in a step: whoever works on it, the m-th unit delivers the same.
"""

import math
from bisect import insort
from collections.abc import Iterator, Sequence
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import accumulate, islice

from attrs import define, field, frozen

from models.edt.decision import Limits, Plan, Window
from models.edt.scenario import Project, Scenario

__all__ = ["Firm", "Spell", "Spells", "Work", "earnings", "expenses", "revenue"]

#: Beyond so many units a block of work is divided rather than worn down as the model does.
COUNTED = 10_000


def units(effort: float, dt: float) -> int:
    """Return how many units a block of work takes, with the model's own rounding."""
    if effort > COUNTED * dt:
        return math.ceil(effort / dt)
    count = 0
    while effort > 0:
        effort -= min(dt, effort)
        count += 1
    return count


@frozen
class Work:
    """A project of the scenario, as far as earnings depend on it.

    Attributes:
        terms: The project.
        units: Units of the contracted work, at least 1: to begin an empty project takes a step.
        more: Units of an extension, 0 where there is none.
        late: Whether it acts behind the accounts, which hear of its work a step later.
    """

    terms: Project
    units: int
    more: int
    late: bool

    @classmethod
    def of(cls, terms: Project, dt: float, *, late: bool) -> "Work":
        """Count a project's units."""
        contracted = max(1, units(terms.contracted_effort, dt))
        return cls(terms, contracted, units(terms.extension_effort, dt), late)


@frozen
class Spell:
    """When one project can be worked on.

    Attributes:
        first: The first step, 0 where there is none.
        last: The last step, that of the deadline.
    """

    first: int
    last: int

    @property
    def open(self) -> bool:
        """Whether there is any such step."""
        return 0 < self.first <= self.last


#: A project's spell and that of its follow-on.
Spells = tuple[Spell, Spell]

_NEVER = Spell(0, 0)


@frozen(eq=False)
class Firm:
    """A scenario, prepared.

    Attributes:
        scenario: The scenario.
        limits: What may be decided in it.
        works: Its projects in the order in which they act: those that are decided on come first.
        least: Consultants to keep at least, where there are any.
    """

    scenario: Scenario
    limits: Limits
    works: tuple[Work, ...]
    least: int = 1
    _known: dict[Window, Spells] = field(factory=dict, init=False)

    @classmethod
    def of(cls, scenario: Scenario, least: int = 1) -> "Firm":
        """Prepare a scenario."""
        works = sorted(_works(scenario), key=lambda work: work.terms.is_follow_on)
        return cls(scenario, Limits.of(scenario), tuple(works), least)

    @cached_property
    def steps(self) -> int:
        """How many steps there are; what happens in the last one is not in the score."""
        return self.scenario.steps

    @cached_property
    def wages(self) -> Sequence[float]:
        """Return what the first C consultants cost in a unit of time, by C."""
        each = (one.salary + one.workplace_cost for one in self.scenario.consultants)
        return [0.0, *accumulate(each)]

    @cached_property
    def counts(self) -> range:
        """Return the numbers of consultants to choose from."""
        most = self.limits.consultants
        return range(min(most, self.least if self.limits.windows else 0), most + 1)

    def spells(self, window: Window) -> Spells:
        """Return when a project with this window can be worked on, and its follow-on."""
        known = self._known.get(window)
        if known is None:
            scenario = self.scenario
            low, high = scenario.starttime, scenario.stoptime
            times = [max(min(high, step), low) for step in (window.start, window.deadline)]
            known = self._known[window] = self._spells(*times)
        return known

    def given(self, terms: Project) -> Spells:
        """Return the same for a project that no decision moves."""
        return self._spells(terms.start_time, terms.deadline)

    def _spells(self, start: float, deadline: float) -> Spells:
        scenario = self.scenario
        created = scenario.step_at(deadline)
        if created is None or not 1 <= created <= self.steps:
            return self._spell(start, deadline), _NEVER
        end = min(scenario.stoptime, deadline + deadline - start)
        return self._spell(start, deadline), self._spell(deadline + 1, end)

    def _spell(self, start: float, deadline: float) -> Spell:
        ready = self.scenario.step_at(start)
        if ready is None or ready < 1:
            return _NEVER
        return Spell(ready + 1, min(self.steps, self.scenario.first_step_from(deadline)))

    def chosen(self, plan: Plan) -> Iterator[tuple[Work, Spells]]:
        """Yield the projects a decision keeps, and those it cannot drop."""
        windows = iter(plan.projects)
        for work in self.works:
            if work.terms.is_follow_on:
                yield work, self.given(work.terms)
            elif window := next(windows):
                yield work, self.spells(window)


def _works(scenario: Scenario) -> Iterator[Work]:
    projects, late = iter(scenario.projects), False
    for kind, count in scenario.order:
        late |= kind == "controlling"
        for terms in islice(projects, count if kind == "project" else 0):
            yield Work.of(terms, scenario.dt, late=late and terms.is_follow_on)


def earnings(firm: Firm, plan: Plan) -> float:
    """Return what a decision brings: the accumulated earnings at the last step."""
    return revenue(firm, plan) - expenses(firm, plan.consultants)


def expenses(firm: Firm, consultants: int) -> float:
    """Return what the firm pays until the last step, that one excluded."""
    each = firm.wages[consultants] + firm.scenario.fixed_cost
    return each * firm.scenario.dt * (firm.steps - 1)


def revenue(firm: Firm, plan: Plan) -> float:
    """Return what a decision's projects are paid until the last step, that one excluded."""
    jobs = _jobs(firm, plan)
    calendar = [(job.spell.first, at, 0) for at, job in enumerate(jobs)]
    heapify(calendar)
    free, open_jobs = plan.consultants, list[int]()
    while calendar and calendar[0][0] < firm.steps:
        step = calendar[0][0]
        while calendar and calendar[0][0] == step:
            _, at, staff = heappop(calendar)
            if not staff:
                insort(open_jobs, at)
            elif jobs[at].leaves(step, staff):
                free += staff
        if free:
            open_jobs = [at for at in open_jobs if jobs[at].takes(step)]
            free -= _assign(free, step, [(at, jobs[at]) for at in open_jobs], calendar)
    return math.fsum(job.earned() for job in jobs)


def _assign(
    free: int, step: int, jobs: list[tuple[int, "_Job"]], calendar: list[tuple[int, int, int]]
) -> int:
    """Seat free consultants, one each on ready projects first; return how many found a seat."""
    left = free
    for first in (True, False):
        for at, job in jobs:
            seats = min(left, job.seats - job.staff)
            if seats and (not first or not job.staff):
                job.join(step, 1 if first else seats)
                left -= 1 if first else seats
                heappush(calendar, (job.ends + 2, at, job.staff))
    return free - left


def _jobs(firm: Firm, plan: Plan) -> list["_Job"]:
    """Return all projects there will be, in the order in which they are looked through."""
    gate, dt, end = 1.0 - plan.revenue_risk, firm.scenario.dt, firm.steps - 1
    jobs, later = list[_Job](), list[tuple[int, int, _Job]]()
    for place, (work, (spell, after)) in enumerate(firm.chosen(plan)):
        if spell.open:
            jobs.append(_Job(work, gate, dt, spell, end - work.late))
        if after.open and work.terms.follow_on_probability > gate:
            # Accounts are closed before follow-ons act, so these are paid a step later.
            later.append((after.first, place, _Job(work, gate, dt, after, end - 1)))
    later.sort()
    return jobs + [job for _, _, job in later]


@define(eq=False)
class _Job:
    """A project in play.

    Attributes:
        work: Its terms.
        gate: What its extension probability must exceed.
        dt: Work of one consultant in a step.
        spell: When it can be worked on.
        paid: The last step whose work is in the score.
        staff: Seats taken.
        since: First step whose work is not in `delivered`.
        left: Units left of the present block.
        due: Effort left of the present block.
        delivered: Effort that is in the score.
        ends: The step in which it is completed, as far as is known.
    """

    work: Work
    gate: float
    dt: float
    spell: Spell
    paid: int
    staff: int = 0
    since: int = 0
    left: int = field(init=False)
    due: float = field(init=False)
    delivered: float = 0.0
    ends: int = field(init=False)
    seats: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.left = self.work.units
        self.due = self.work.terms.contracted_effort
        self.ends = self.spell.last
        self.seats = self.work.terms.consultants

    @property
    def extends(self) -> bool:
        return self.work.more > 0 and self.work.terms.extension_probability > self.gate

    def takes(self, step: int) -> bool:
        return self.staff < self.seats and self.ends >= step

    def leaves(self, step: int, staff: int) -> bool:
        """Whether this is the step in which its consultants, of that number, are free again."""
        return self.staff == staff and self.ends + 2 == step

    def join(self, step: int, seats: int) -> None:
        if self.staff:
            self.deliver(step - 1)
        self.since = step
        self.staff += seats
        if not self.extends:
            self.ends = min(self.spell.last, step - 1 - -self.left // self.staff)

    def earned(self) -> float:
        if self.staff:
            self.deliver(self.ends)
        return self.delivered * self.work.terms.billing_rate

    def deliver(self, until: int) -> None:
        """Count the work of the steps from `since` on."""
        steps, team = min(until, self.paid) - self.since + 1, self.staff
        first = -(-self.left // team)
        if steps < first:
            self.wear(max(0, steps) * team)
            return
        self.delivered += self.due
        if self.extends:
            more, effort = self.work.more, self.work.terms.extension_effort
            blocks, rest = divmod(steps - first, -(-more // team))
            self.delivered += blocks * effort
            self.left, self.due = more, effort
            self.wear(rest * team)

    def wear(self, count: int) -> None:
        """Deliver units of the present block, fewer than are left of it."""
        self.left -= count
        self.due -= count * self.dt
        self.delivered += count * self.dt
