"""The firm during an episode: idle consultants, projects with free seats, and their changes.

The place of an agent in the list of agents is its rank among the events of a step. Agents do not
poll: an operation that concerns another agent moves that agent's turn.
"""

from bisect import insort
from collections.abc import Mapping
from operator import attrgetter

from attrs import evolve
from simpy.events import Event

from desim import World
from ledgers.consolidation import Intercompany
from models.edt.actions import Decide, Window
from models.edt.agents import Engagement, Phase, StaffMember, deliver, rounds_left
from models.edt.controlling import CASH, Controlling
from models.edt.params import DigitalTwinParams
from models.edt.scenario import Agent, Project

#: The only role.
MANAGER = "manager"

#: Rank before all agents of a step.
OPENING = 0

#: Rank behind all agents of a step.
LAST = 1_000_000

_by_rank = attrgetter("rank")


class Firm:
    """The state of an episode.

    Attributes:
        risk: R, the revenue risk level, 0 to 1.
        employees: Consultants, hired or not, by rank.
        engagements: Projects by rank; follow-ons last.
        idle: Consultants who wait for a seat, by rank.
        vacant: Projects with a free seat, by rank.
        offers: Whether a project must be accepted before consultants join it.
        happenings: Events since the manager was last asked, each a step, what happened, and the
            project's name or ""; kept in the interactive game only.
        bell: The event on which the manager is asked next; None in the published game.
        last_check: The last step at which finished work is noticed.
        delay: Steps from a project's start to its first work: 1 or 0.
        lost: Steps that a consultant loses behind a completed project: 1 or 0.
    """

    def __init__(self, world: World, params: DigitalTwinParams) -> None:
        self.world = world
        self.params = params
        self.scenario = scenario = params.loaded_scenario
        self.controlling = Controlling(
            scenario, float(params.opening_cash), pays_from_cash=params.pays_from_cash
        )
        self.ledgers = (self.controlling.book,)
        self.intercompany = Intercompany(self.controlling.book, CASH)
        self.risk = scenario.revenue_risk_level
        self.plan: Decide | None = None
        self.employees: list[StaffMember] = []
        self.engagements: list[Engagement] = []
        self.idle: list[StaffMember] = []
        self.vacant: list[Engagement] = []
        self.offers = False
        self.refusal = ""
        self.happenings: list[tuple[int, str, str]] = []
        self.bell: Event | None = None
        self.steps = scenario.steps
        # As published, work that is done in the very last step is neither extended nor completed.
        at_stop = scenario.time(self.steps) >= scenario.stoptime
        self.last_check = self.steps - 1 if at_stop else self.steps
        self.delay = int(params.first_work == "after_start")
        self.lost = int(params.release == "a_step_later")

    # -- the list of agents ------------------------------------------------------------------------

    def enlist(self, agents: list[Agent], windows: Mapping[int, Window | None]) -> None:
        """List the agents in the order in which they act.

        Projects without a window in *windows*, by their number, have the scenario's own.
        """
        ranked = list(enumerate(agents, 1))
        # Reports depend on controlling's rank, so it is set before any other agent is listed.
        self.controlling.rank = next(rank for rank, (kind, _) in ranked if kind == "controlling")
        for rank, (kind, number) in ranked:
            if kind == "consultant":
                who = StaffMember(self.scenario.consultants[number], rank)
                self.employees.append(who)
                self.controlling.employ(who.terms, rank, 1)
            elif kind == "project":
                terms = self.scenario.projects[number]
                self._engage(terms, rank, str(number), *self._times(terms, windows.get(number)))

    def found_follow_on(self, parent: Engagement) -> Engagement:
        """List the follow-on of a project at its deadline, behind all other agents."""
        now = self.scenario.time(self.world.now)
        end = min(self.scenario.stoptime, now + parent.deadline - parent.start)
        terms = evolve(
            parent.terms,
            name=f"{parent.name} (Follow On)",
            contracted_probability=parent.terms.follow_on_probability,
            follow_on_probability=0.0,
        )
        # Ranks count from 1, and controlling has one.
        rank = len(self.employees) + len(self.engagements) + 2
        return self._engage(terms, rank, f"{parent.key}+", now + 1, end)

    def _times(self, terms: Project, window: Window | None) -> tuple[float, float]:
        """Return start and deadline of a project as times."""
        if window is None:
            return terms.start_time, terms.deadline
        first, last, dt = self.scenario.starttime, self.scenario.stoptime, self.scenario.dt
        start, deadline = float(window.start), float(window.deadline)
        if self.params.step_numbers == "step":
            start, deadline = first + start * dt, first + deadline * dt
        # As published, a step's number is otherwise used as a time.
        return max(min(last, start), first), max(min(last, deadline), first)

    def _engage(
        self, terms: Project, rank: int, key: str, start: float, deadline: float
    ) -> Engagement:
        scenario, created = self.scenario, max(1, self.world.now)
        started = scenario.step_at(start)
        ended = scenario.first_step_from(deadline)
        project = Engagement(
            terms=terms,
            index=len(self.engagements),
            rank=rank,
            key=key,
            start=start,
            deadline=deadline,
            start_step=started if started is not None and started >= created else None,
            deadline_step=max(ended, created),
            on_time=ended >= created and scenario.time(ended) == deadline,
            seats=terms.consultants,
            accepted=not self.offers,
            worked=created - 1,
            phases=[(created, Phase.ACQUIRED)],
        )
        self.engagements.append(project)
        return project

    # -- turns -------------------------------------------------------------------------------------

    def turn(self, agent: StaffMember | Engagement, step: int, rank: int | None = None) -> Event:
        """Return the event of an agent's turn; it is not scheduled after the last step."""
        if step > self.steps:
            agent.turn = self.world.event()
        else:
            at = agent.rank if rank is None else rank
            agent.turn = self.world.timeout(step - self.world.now, rank=at)
        return agent.turn

    def hasten(self, agent: StaffMember | Engagement, step: int) -> None:
        """Move an agent's turn, if it has one, to an earlier step."""
        if agent.turn is not None and step <= self.steps:
            agent.turn = self.world.moved(agent.turn, step - self.world.now, rank=agent.rank)

    # -- work --------------------------------------------------------------------------------------

    def work_off(self, project: Engagement, to: int) -> None:
        """Compute and report the rounds of a project up to and with round *to*."""
        step, dt = project.worked + 1, self.scenario.dt
        while step <= to and project.hands and project.remaining > 0:
            left = project.remaining
            rounds, delivered, project.remaining = deliver(left, project.hands, dt, to - step + 1)
            project.rounds.append((step, rounds, left, delivered))
            steps, rate = range(step, step + rounds), project.terms.billing_rate
            self.controlling.earn(steps, project.rank, delivered, rate, project.effort_risk)
            step += rounds
        project.worked = max(to, project.worked)

    def plan_turn(self, project: Engagement) -> int:
        """Return and store the step of a project's next turn: its work's end, or its deadline."""
        due = project.deadline_step
        if project.phase.active:
            limit = min(self.last_check, due) - project.worked
            ahead = rounds_left(project.remaining, project.hands, self.scenario.dt, limit)
            done = project.worked + ahead
            if done <= self.last_check:
                due = min(due, done)
        project.due = due
        return due

    def join(self, project: Engagement, who: StaffMember) -> None:
        """Let a consultant take a seat of a project."""
        step = self.world.now
        # A consultant who acts before the project delivers in the same round.
        self.work_off(project, step - 1 if who.rank < project.rank else step)
        if project.phase is Phase.READY:
            project.refill(project.terms.contracted_effort, step)
            project.effort_risk = 1 - project.terms.contracted_probability
            project.become(Phase.STARTED, step)
        project.staff.append(who)
        project.hands += 1
        project.staffing.append((step, len(project.staff)))
        who.project = project
        who.log.append((step, project.index))
        self.review(project)
        former = project.due
        if self.plan_turn(project) < former:
            self.hasten(project, project.due)

    def review(self, project: Engagement) -> None:
        """Update the phase and the list of vacancies after a change of seats or staff."""
        full = len(project.staff) >= project.seats
        if project.phase.active:
            phase = Phase.FULLY_STAFFED if full else Phase.STARTED
            if phase is not project.phase:
                project.become(phase, self.world.now)
        is_open = project.phase is Phase.READY or project.phase is Phase.STARTED
        free = project.accepted and is_open and not full
        if free != (project in self.vacant):
            if free:
                insort(self.vacant, project, key=_by_rank)
            else:
                self.vacant.remove(project)

    def vacancy(self) -> Engagement | None:
        """Return the first ready project, else the first with a free seat, else None."""
        first = self.vacant[0] if self.vacant else None
        return next((project for project in self.vacant if project.phase is Phase.READY), first)

    def wait_for_work(self, who: StaffMember) -> Event:
        """Add a consultant to the idle ones; return the event of a turn that `call` schedules."""
        insort(self.idle, who, key=_by_rank)
        return self.turn(who, self.steps + 1)

    def call(self, rank: int) -> None:
        """Schedule the turn of the next idle consultant if a seat is free.

        One call is enough for several seats, because a consultant who takes one calls again.
        Consultants behind *rank*, the agent that acts now, have the turn in this step.
        """
        if not (self.vacant and self.idle):
            return
        who = next((e for e in self.idle if e.rank > rank), self.idle[0])
        self.idle.remove(who)
        self.hasten(who, self.world.now + (who.rank <= rank))

    def close(self, project: Engagement, rank: int) -> None:
        """Complete a project at a rank of the present step: its staff notice at their next turn."""
        step = self.world.now
        if project.phase is not Phase.ACQUIRED:
            # Behind all turns, the step is posted.
            self.controlling.seek(-project.terms.consultants, project.rank, step + (rank == LAST))
        # Histories begin with step 1.
        project.become(Phase.COMPLETED, max(1, step))
        if project in self.vacant:
            self.vacant.remove(project)
        for who in project.staff:
            self.let_go(who, step if who.rank > rank else step + 1)
        project.hands = 0

    def let_go(self, who: StaffMember, notice: int) -> None:
        """Make a consultant available in step *notice*; in the code's rules that step is lost."""
        who.project = None
        who.log.append((notice, None))
        self.hasten(who, notice + self.lost)

    # -- changes from outside, after all turns and postings of a step ------------------------------

    def leave(self, project: Engagement, who: StaffMember) -> None:
        """Free the seat of a consultant; it can be taken from the next step on."""
        project.staff.remove(who)
        project.hands -= 1
        project.staffing.append((self.world.now, len(project.staff)))
        self.review(project)

    def dismiss(self, who: StaffMember) -> None:
        """Take a consultant off the payroll; the consultant has no further turn."""
        now = self.world.now
        who.hired = False
        self.controlling.employ(who.terms, who.rank, now + 1, sign=-1)
        if who.project is not None:
            self.leave(who.project, who)
        who.project = None
        who.log.append((now + 1, None))
        if who in self.idle:
            self.idle.remove(who)
        _forget(who)

    def end_early(self, project: Engagement) -> None:
        """Complete a project for good; it has no further turn and hence no follow-on."""
        self.close(project, LAST)
        _forget(project)

    # -- reports -----------------------------------------------------------------------------------

    def settle(self) -> None:
        """Compute the work and post everything up to and with the step of the last payday.

        Its entries are complete: reports of agents behind the payday belong to the next step.
        """
        over = self.controlling.paid
        if over == self.controlling.booked:
            return
        for project in self.engagements:
            self.work_off(project, over)
        self.controlling.settle()

    def happened(self, what: str, project: Engagement) -> None:
        """Note an event for the manager and move the bell behind the last turn of this step."""
        self.world.log.info("project", name=project.name, becomes=what)
        if self.bell is None:
            return
        if not self.happenings:
            self.bell = self.world.moved(self.bell, 0, rank=LAST)
        self.happenings.append((self.world.now, what, project.name))


def _forget(agent: StaffMember | Engagement) -> None:
    """Detach an agent's process from the event of its turn, so that it never acts again."""
    if agent.turn is not None:
        agent.turn.callbacks = []
        agent.turn = None
