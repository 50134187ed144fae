"""A hill climb among decisions of the Enterprise Digital Twin, and their earnings in plain Python.

The earnings follow reference SPEC sections 3 to 9 without clock, ledgers or log: between two events
the work of a project has a closed form, so the computation jumps from event to event. Consultants
differ only in cost, so they are counted. Follow-ons do not depend on the work on their parents, so
all projects and the steps of their work are known beforehand. Work is counted in units, a unit
being the work of one consultant in one step.
"""

import math
from bisect import insort
from functools import cache, cached_property
from heapq import heapify, heappop, heappush
from itertools import accumulate, islice, pairwise
from operator import itemgetter
from random import Random

from attrs import define, evolve, field, frozen

from models.edt.actions import Decide, Window
from models.edt.planning import DecisionLimits
from models.edt.scenario import Project, Scenario

#: Blocks of more units are divided; smaller ones are worn down unit by unit, as in the model.
_COUNTED = 10_000

#: Decisions of one climb; a larger budget allows more climbs.
_CLIMB = 10_000

#: The first and the last step with work; None if there is no such step.
_Span = tuple[int, int] | None

# -- earnings --------------------------------------------------------------------------------------


@frozen(eq=False, slots=False)
class Firm:
    """A scenario prepared for a search.

    Attributes:
        scenario: The scenario.
        least: The smallest number of consultants to keep, if there are any.
    """

    scenario: Scenario
    least: int = 1
    _known: dict[tuple[float, float], tuple[_Span, _Span]] = field(factory=dict, init=False)

    @cached_property
    def limits(self) -> DecisionLimits:
        """The limits of a decision."""
        return DecisionLimits.of(self.scenario)

    @cached_property
    def counts(self) -> range:
        """The numbers of consultants to choose from."""
        most = self.limits.consultants
        return range(min(most, self.least if self.limits.windows else 0), most + 1)

    @cached_property
    def risks(self) -> list[float]:
        """Risk levels, at least one for each set of gates that some level opens.

        R acts through `probability > 1 - R` alone, so levels between two probabilities are
        equivalent.
        """
        levels = {0.0, 1.0}
        for one in self.scenario.projects:
            levels |= {one.extension_probability, one.follow_on_probability}
        return [0.0, *(1.0 - (low + high) / 2 for low, high in pairwise(sorted(levels)))]

    def earnings(self, plan: Decide) -> float:
        """Return the accumulated earnings of a decision at the last step, in money."""
        cost = self._wages[plan.consultants] + self.scenario.fixed_cost
        return self._revenue(plan) - cost * self.scenario.dt * (self._steps - 1)

    @cached_property
    def _steps(self) -> int:
        return self.scenario.steps

    @cached_property
    def _wages(self) -> list[float]:
        """The cost of the first C consultants in a unit of time, by C."""
        each = (one.salary + one.workplace_cost for one in self.scenario.consultants)
        return [0.0, *accumulate(each)]

    @cached_property
    def _projects(self) -> list[tuple[Project, bool]]:
        """The projects in the order in which they act, the scenario's follow-ons last.

        With each, whether controlling posts its work a step later, as it acts behind controlling.
        """
        projects, late, ordered = iter(self.scenario.projects), False, []
        for kind, count in self.scenario.order:
            late |= kind == "controlling"
            if kind == "project":
                ordered += [(one, late and one.is_follow_on) for one in islice(projects, count)]
        return sorted(ordered, key=lambda entry: entry[0].is_follow_on)

    def _revenue(self, plan: Decide) -> float:
        """Return the revenue of all steps but the last, in money."""
        jobs, dt = self._jobs(plan), self.scenario.dt
        calendar = [(job.first, at, 0) for at, job in enumerate(jobs)]
        heapify(calendar)
        free, vacant = plan.consultants, list[int]()
        while calendar and (step := calendar[0][0]) < self._steps:
            while calendar and calendar[0][0] == step:
                _, at, staff = heappop(calendar)
                if not staff:
                    insort(vacant, at)
                # A project that was joined later has a later entry on the calendar.
                elif jobs[at].staff == staff and jobs[at].ends + 2 == step:
                    free += staff
            vacant = [at for at in vacant if jobs[at].ends >= step]
            free = _assign(free, step, vacant, jobs, dt, calendar) if free else 0
            vacant = [at for at in vacant if jobs[at].staff < jobs[at].seats]
        return math.fsum(job.earned(dt) for job in jobs if job.staff)

    def _jobs(self, plan: Decide) -> list["_Job"]:
        """Return all projects and follow-ons, in the order in which consultants look for a seat."""
        jobs, later, windows = list[_Job](), list[tuple[int, int, _Job]](), iter(plan.projects)
        gate, end, dt = 1.0 - plan.revenue_risk, self._steps - 1, self.scenario.dt
        for place, (terms, late) in enumerate(self._projects):
            if terms.is_follow_on:
                own, after = self._spans(terms.start_time, terms.deadline)
            elif window := next(windows):
                own, after = self._spans(*map(self._inside, (window.start, window.deadline)))
            else:
                continue
            if own:
                jobs.append(_Job.of(terms, own, gate, end - late, dt))
            if after and terms.follow_on_probability > gate:
                # Follow-ons act behind controlling, so their work is posted a step later.
                later.append((after[0], place, _Job.of(terms, after, gate, end - 1, dt)))
        return jobs + [job for *_, job in sorted(later, key=lambda entry: entry[:2])]

    def _inside(self, step: int) -> float:
        """Return a step of a decision as the time for which the published code takes it."""
        return max(min(self.scenario.stoptime, step), self.scenario.starttime)

    def _spans(self, start: float, deadline: float) -> tuple[_Span, _Span]:
        """Return the steps with work on a project between two times, and on its follow-on."""
        known = self._known.get((start, deadline))
        if known is None:
            scenario, after = self.scenario, None
            created = scenario.step_at(deadline)
            if created is not None and 1 <= created <= self._steps:
                after = self._span(deadline + 1, min(scenario.stoptime, 2 * deadline - start))
            known = self._known[start, deadline] = self._span(start, deadline), after
        return known

    def _span(self, start: float, deadline: float) -> _Span:
        ready = self.scenario.step_at(start)
        last = min(self._steps, self.scenario.first_step_from(deadline))
        return (ready + 1, last) if ready is not None and 1 <= ready < last else None


@cache
def _units(effort: float, dt: float) -> int:
    """Return the number of units of a block of work, with the model's own rounding."""
    if effort > _COUNTED * dt:
        return math.ceil(effort / dt)
    count = 0
    while effort > 0:
        effort -= min(dt, effort)
        count += 1
    return count


def _assign(
    free: int,
    step: int,
    vacant: list[int],
    jobs: list["_Job"],
    dt: float,
    calendar: list[tuple[int, int, int]],
) -> int:
    """Let free consultants join, one on each idle project first; return how many stay free."""
    idle = [at for at in vacant if not jobs[at].staff]
    for at, most in [*((at, 1) for at in idle), *((at, free) for at in vacant)]:
        job = jobs[at]
        if seats := min(free, most, job.seats - job.staff):
            free -= seats
            job.join(step, seats, dt)
            heappush(calendar, (job.ends + 2, at, job.staff))
    return free


@define(eq=False)
class _Job:
    """A project or a follow-on during the computation.

    Attributes:
        terms: Its terms.
        first: First step with work.
        last: Last step with work.
        paid: The last step whose work counts for the score.
        more: Units of an extension, 0 where the gate is closed.
        left: Units that remain of the present block.
        due: Effort that remains of the present block.
        seats: Consultants at most.
        ends: The step in which it is completed, as far as is known.
        staff: Seats taken.
        since: First step whose work is not in `delivered`.
        delivered: Effort that counts for the score.
    """

    terms: Project
    first: int
    last: int
    paid: int
    more: int
    left: int
    due: float
    seats: int
    ends: int
    staff: int = 0
    since: int = 0
    delivered: float = 0.0

    @classmethod
    def of(cls, terms: Project, span: tuple[int, int], gate: float, paid: int, dt: float) -> "_Job":
        """Return a project before its first step; an empty one takes a step too."""
        more = _units(terms.extension_effort, dt) if terms.extension_probability > gate else 0
        left, due = max(1, _units(terms.contracted_effort, dt)), terms.contracted_effort
        return cls(terms, *span, paid, more, left, due, terms.consultants, ends=span[1])

    def join(self, step: int, seats: int, dt: float) -> None:
        """Let consultants take so many seats from a step on."""
        if self.staff and self.since < step:
            self.deliver(step - 1, dt)
        self.since = step
        self.staff += seats
        if not self.more:
            self.ends = min(self.last, step - 1 - -self.left // self.staff)

    def earned(self, dt: float) -> float:
        """Return the revenue of the project, in money."""
        self.deliver(self.ends, dt)
        return self.delivered * self.terms.billing_rate

    def deliver(self, until: int, dt: float) -> None:
        """Add the work of the steps from `since` to *until*."""
        steps = min(until, self.paid) - self.since + 1
        first = -(-self.left // self.staff)
        if steps < first:
            self.wear(max(0, steps) * self.staff, dt)
            return
        self.delivered += self.due
        if self.more:
            blocks, rest = divmod(steps - first, -(-self.more // self.staff))
            self.delivered += blocks * self.terms.extension_effort
            self.left, self.due = self.more, self.terms.extension_effort
            self.wear(rest * self.staff, dt)

    def wear(self, count: int, dt: float) -> None:
        """Deliver units of the present block, fewer than remain of it."""
        self.left -= count
        self.due -= count * dt
        self.delivered += count * dt


# -- search ----------------------------------------------------------------------------------------


@cache
def best_found(scenario: Scenario, evaluations: int, least: int = 1) -> tuple[float, Decide]:
    """Return the best decision of some hill climbs behind its earnings at the last step, in money.

    A climb begins with all consultants, all gates and all projects in the longest windows. It
    changes one thing at a time, and keeps the change unless that earns less. Equal arguments give
    equal results.

    Args:
        scenario: The scenario.
        evaluations: Number of decisions to evaluate, at least 1.
        least: The smallest number of consultants to keep, 0 or 1.
    """
    firm, rng = Firm(scenario, least), Random(0)  # noqa: S311
    climbs = -(-evaluations // _CLIMB)
    ends = [_climbed(firm, rng, (evaluations + at) // climbs) for at in range(climbs)]
    return max(ends, key=itemgetter(0))


def _climbed(firm: Firm, rng: Random, evaluations: int) -> tuple[float, Decide]:
    full = (Window(0, firm.limits.horizon),) * len(firm.limits.windows)
    plan = Decide(firm.counts[-1], firm.risks[-1], full)
    earned = firm.earnings(plan)
    for _ in range(evaluations - 1):
        other = _changed(firm, rng, plan)
        if (there := firm.earnings(other)) >= earned:
            plan, earned = other, there
    return earned, plan


def _changed(firm: Firm, rng: Random, plan: Decide) -> Decide:
    """Return a decision with another C, R or window of one project, or two windows exchanged."""
    draw, windows = rng.random(), [*plan.projects]
    if draw < 0.04 or not windows:  # noqa: PLR2004
        return evolve(plan, consultants=rng.choice(firm.counts))
    if draw < 0.08:  # noqa: PLR2004
        return evolve(plan, revenue_risk=rng.choice(firm.risks))
    at, horizon = rng.randrange(len(windows)), firm.limits.horizon
    window = windows[at]
    if draw < 0.13:  # noqa: PLR2004
        other = rng.randrange(len(windows))
        windows[at], windows[other] = windows[other], windows[at]
    elif window is None:
        first = rng.randint(0, horizon)
        windows[at] = Window(first, rng.randint(first, horizon))
    elif draw < 0.2:  # noqa: PLR2004
        windows[at] = None
    else:
        # Near an end of a window, when consultants are free.
        near = rng.choice([one for one in windows if one])
        by = rng.choice((0, 1, 2, 3, 5, 8, 13)) * rng.choice((-1, 1))
        step = min(horizon, max(0, rng.choice((near.start, near.deadline)) + by))
        opens = rng.random() < 0.5  # noqa: PLR2004
        start, deadline = (step, window.deadline) if opens else (window.start, step)
        windows[at] = Window(min(start, step), max(deadline, step))
    return evolve(plan, projects=tuple(windows)) if any(windows) else plan
