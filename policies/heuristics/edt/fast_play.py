"""The earnings of a decision in plain Python, in a few dozen microseconds, for a search.

It follows the rules of reference SPEC sections 3 to 9 without clock, ledgers or log. Between two
events the work of a project has a closed form, so the computation jumps from event to event. A
search compares decisions with these earnings and plays the best one in the model itself.
"""

import math
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from attrs import define, field

from models.edt.actions import Decide
from policies.heuristics.edt.prepared_firm import PreparedFirm, PreparedProject, WorkSpan

#: The windows of a decision as plain pairs of steps, None for a project that is left out: building
#: a `Window` checks its bounds, which takes as long as a tenth of the computation.
Draft = Sequence[tuple[int, int] | None]


def earnings(firm: PreparedFirm, plan: Decide) -> float:
    """Return the accumulated earnings of a decision at the last step, in money."""
    draft = [(one.start, one.deadline) if one else None for one in plan.projects]
    return FastPlay(firm).earnings(plan.consultants, plan.revenue_risk, draft)


def expenses(firm: PreparedFirm, consultants: int) -> float:
    """Return the cost of all steps but the last, in money."""
    each = firm.wages[consultants] + firm.scenario.fixed_cost
    return each * firm.scenario.dt * (firm.steps - 1)


class _Terms(NamedTuple):
    """The terms of a project or a follow-on under a decision.

    Attributes:
        units: Units of the contracted work.
        effort: The contracted effort.
        more: Units of an extension, 0 where the gate is closed.
        extension: Effort of an extension.
        seats: Consultants at most.
        rate: Money per unit of effort.
        first: First step with work.
        last: Last step with work.
        paid: The last step whose work counts for the score.
    """

    units: int
    effort: float
    more: int
    extension: float
    seats: int
    rate: float
    first: int
    last: int
    paid: int


def _terms(project: PreparedProject, span: WorkSpan, gate: float, paid: int) -> _Terms:
    of = project.terms
    return _Terms(
        project.units,
        of.contracted_effort,
        project.more if of.extension_probability > gate else 0,
        of.extension_effort,
        of.consultants,
        of.billing_rate,
        span.first,
        span.last,
        paid,
    )


#: A project and its follow-on; None for one without a step in which it can be worked on.
_Pair = tuple[_Terms | None, _Terms | None]


@define(eq=False)
class FastPlay:
    """The earnings of many decisions in one firm.

    Attributes:
        firm: The prepared scenario.
    """

    firm: PreparedFirm
    _expenses: dict[int, float] = field(factory=dict, init=False)
    _pairs: dict[tuple[int, tuple[int, int] | None, float], _Pair] = field(factory=dict, init=False)

    def earnings(self, consultants: int, risk: float, draft: Draft) -> float:
        """Return the accumulated earnings of a decision at the last step, in money."""
        spent = self._expenses.get(consultants)
        if spent is None:
            spent = self._expenses[consultants] = expenses(self.firm, consultants)
        return self.revenue(consultants, risk, draft) - spent

    def revenue(self, consultants: int, risk: float, draft: Draft) -> float:
        """Return the revenue of all steps but the last, in money."""
        jobs = self._jobs(risk, draft)
        calendar = [(job.first, at, 0) for at, job in enumerate(jobs)]
        heapify(calendar)
        end, dt = self.firm.steps, self.firm.scenario.dt
        free, vacant = consultants, list[int]()
        while calendar and (step := calendar[0][0]) < end:
            while calendar and calendar[0][0] == step:
                _, at, staff = heappop(calendar)
                if not staff:
                    vacant.append(at)
                    vacant.sort()
                # A project that was joined later has a later entry on the calendar.
                elif jobs[at].staff == staff and jobs[at].ends + 2 == step:
                    free += staff
            if free and vacant:
                free, vacant = _assign(free, step, vacant, jobs, dt, calendar)
        return math.fsum(job.earned(dt) for job in jobs if job.staff)

    def _jobs(self, risk: float, draft: Draft) -> list["_Job"]:
        """Return all projects and follow-ons, in the order in which consultants look for a seat."""
        jobs, later, windows = list[_Job](), list[tuple[int, int, _Terms]](), iter(draft)
        for place, project in enumerate(self.firm.projects):
            window = None
            if not project.terms.is_follow_on and (window := next(windows)) is None:
                continue
            pair = self._pairs.get((place, window, risk))
            if pair is None:
                pair = self._pairs[place, window, risk] = self._pair(project, window, 1.0 - risk)
            own, after = pair
            if own is not None:
                jobs.append(_Job(own))
            if after is not None:
                later.append((after.first, place, after))
        later.sort()
        jobs += [_Job(terms) for _, _, terms in later]
        return jobs

    def _pair(self, project: PreparedProject, window: tuple[int, int] | None, gate: float) -> _Pair:
        firm, end = self.firm, self.firm.steps - 1
        span, then = firm.given(project.terms) if window is None else firm.spans(*window)
        follows = then.open and project.terms.follow_on_probability > gate
        return (
            _terms(project, span, gate, end - project.late) if span.open else None,
            # Follow-ons act behind controlling, so their work is posted a step later.
            _terms(project, then, gate, end - 1) if follows else None,
        )


def _assign(
    free: int,
    step: int,
    vacant: list[int],
    jobs: list["_Job"],
    dt: float,
    calendar: list[tuple[int, int, int]],
) -> tuple[int, list[int]]:
    """Let free consultants join, one on each ready project first.

    Returns:
        The number of consultants still free, and the projects that still have a vacancy.
    """
    still = []
    for at in vacant:
        job = jobs[at]
        if job.ends < step:
            continue
        if free and not job.staff:
            free -= 1
            job.join(step, 1, dt)
            heappush(calendar, (job.ends + 2, at, 1))
        if job.staff < job.seats:
            still.append(at)
    if not free:
        return 0, still
    vacant = []
    for at in still:
        job = jobs[at]
        seats = min(free, job.seats - job.staff)
        if seats:
            free -= seats
            job.join(step, seats, dt)
            heappush(calendar, (job.ends + 2, at, job.staff))
        if job.staff < job.seats:
            vacant.append(at)
    return free, vacant


class _Job:
    """A project during the computation.

    Attributes:
        terms: The terms under the decision.
        first: First step with work.
        seats: Consultants at most.
        staff: Seats taken.
        since: First step whose work is not in `delivered`.
        left: Units that remain of the present block.
        due: Effort that remains of the present block.
        delivered: Effort that counts for the score.
        ends: The step in which it is completed, as far as is known.
    """

    __slots__ = ("delivered", "due", "ends", "first", "left", "seats", "since", "staff", "terms")

    def __init__(self, terms: _Terms) -> None:
        self.terms = terms
        self.left, self.due, _, _, self.seats, _, self.first, self.ends, _ = terms
        self.staff = self.since = 0
        self.delivered = 0.0

    def join(self, step: int, seats: int, dt: float) -> None:
        """Let consultants take so many seats from a step on."""
        if self.staff and self.since < step:
            self.deliver(step - 1, dt)
        self.since = step
        self.staff += seats
        terms = self.terms
        if not terms.more:
            done = step - 1 - -self.left // self.staff
            self.ends = min(terms.last, done)

    def earned(self, dt: float) -> float:
        """Return the revenue of the project, in money."""
        self.deliver(self.ends, dt)
        return self.delivered * self.terms.rate

    def deliver(self, until: int, dt: float) -> None:
        """Add the work of the steps from `since` to *until*."""
        terms, team = self.terms, self.staff
        steps = min(until, terms.paid) - self.since + 1
        first = -(-self.left // team)
        if steps < first:
            self.wear(max(0, steps) * team, dt)
            return
        self.delivered += self.due
        if terms.more:
            blocks, rest = divmod(steps - first, -(-terms.more // team))
            self.delivered += blocks * terms.extension
            self.left, self.due = terms.more, terms.extension
            self.wear(rest * team, dt)

    def wear(self, count: int, dt: float) -> None:
        """Deliver units of the present block, fewer than remain of it."""
        self.left -= count
        self.due -= count * dt
        self.delivered += count * dt
