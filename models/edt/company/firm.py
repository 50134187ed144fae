"""The firm during an episode: idle consultants, projects with free seats, and their changes.

The place of an agent in the list of agents is its rank among the events of a step. Agents do not
poll: an operation that concerns another agent moves that agent's turn.
"""

from bisect import insort
from operator import attrgetter
from typing import Any

from attrs import define, field
from simpy.events import Event

from desim import World
from ledgers.consolidation import Intercompany
from models.edt.company.controlling import CASH, Controlling
from models.edt.company.effort import deliver, rounds_left
from models.edt.company.payroll import units
from models.edt.params import DigitalTwinParams
from models.edt.planning.decision import Plan
from models.edt.scenario import Scenario
from models.edt.state import Engagement, Phase, StaffMember

#: The only role.
MANAGER = "manager"

#: Rank before all agents of a step.
OPENING = 0

#: Rank behind all agents of a step.
LAST = 1_000_000

#: A step, the kind of event, and the name of the project or "".
Happening = tuple[int, str, str]

_by_rank = attrgetter("rank")


@define(eq=False)
class Firm:
    """The state of an episode.

    Attributes:
        world: The clock.
        params: The parameters.
        scenario: The scenario of the parameters.
        controlling: The book and the reports behind it.
        intercompany: Cash from and to the other companies of a group.
        risk: R, the revenue risk level, 0 to 1.
        plan: The decision as applied; None before it and in the interactive game.
        employees: Consultants by rank.
        engagements: Projects by rank; follow-ons last.
        idle: Consultants who wait for a seat, by rank.
        vacant: Projects with a free seat, by rank.
        offers: Whether a project must be accepted before consultants join it.
        refusal: Why the last answer changed nothing; empty if it was accepted.
        happenings: Events since the manager was last asked; kept in the interactive game only.
        bell: The event on which the manager is asked next; None in the published game.
        steps: Number of steps.
        last_check: The last step at which finished work is noticed.
        delay: Steps from a project's start to its first work: 1, or 0 where work begins at once.
        lost: Steps that a consultant loses behind a completed project: 1 or 0.
    """

    world: World
    params: DigitalTwinParams
    scenario: Scenario
    controlling: Controlling = field(init=False)
    intercompany: Intercompany = field(init=False)
    risk: float = field(init=False)
    plan: Plan | None = None
    employees: list[StaffMember] = field(factory=list)
    engagements: list[Engagement] = field(factory=list)
    idle: list[StaffMember] = field(factory=list)
    vacant: list[Engagement] = field(factory=list)
    offers: bool = False
    refusal: str = ""
    happenings: list[Happening] = field(factory=list)
    bell: Event | None = None
    steps: int = field(init=False)
    last_check: int = field(init=False)
    delay: int = field(init=False)
    lost: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        scenario = self.scenario
        self.risk = scenario.revenue_risk_level
        self.steps = scenario.steps
        # As published, work that is done in the very last step is neither extended nor completed.
        at_stop = scenario.time(self.steps) >= scenario.stoptime
        self.last_check = self.steps - 1 if at_stop else self.steps
        self.delay = int(self.params.first_work == "after_start")
        self.lost = int(self.params.release == "a_step_later")
        self.controlling = Controlling(
            scenario,
            LAST,
            units(float(self.params.opening_cash)),
            pays_from_cash=self.params.pays_from_cash,
        )
        self.intercompany = Intercompany(self.controlling.book, CASH)

    @property
    def ledgers(self) -> tuple[Any, ...]:
        """The ledgers that enter the digest."""
        return (self.controlling.book,)

    # -- turns -------------------------------------------------------------------------------------

    def turn(self, agent: StaffMember | Engagement, step: int) -> Event:
        """Return the event of an agent's turn; it is not scheduled after the last step."""
        agent.turn = (
            self.world.timeout(step - self.world.now, rank=agent.rank)
            if step <= self.steps
            else self.world.event()
        )
        return agent.turn

    def starts(self, project: Engagement, step: int) -> Event:
        """Return the event of a project's start: its turn, or before the consultants' turns."""
        if self.delay or step > self.steps:
            return self.turn(project, step)
        project.turn = self.world.timeout(step - self.world.now, rank=OPENING)
        return project.turn

    def hasten(self, agent: StaffMember | Engagement, step: int) -> None:
        """Move an agent's turn to an earlier step."""
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
            self.controlling.earn(
                range(step, step + rounds),
                project.rank,
                delivered,
                project.terms.billing_rate,
                project.effort_risk,
            )
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
            project.effort_risk = 1 - project.contracted_probability
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
        free = (
            project.accepted
            and not full
            and (project.phase is Phase.READY or project.phase is Phase.STARTED)
        )
        if free != (project in self.vacant):
            if free:
                insort(self.vacant, project, key=_by_rank)
            else:
                self.vacant.remove(project)

    def extendable(self, project: Engagement) -> bool:
        """Whether another extension is possible: in the paper's rules there is only one."""
        return self.params.extensions == "repeated" or "extension" not in project.occurrences

    def vacancy(self) -> Engagement | None:
        """Return the first ready project, else the first with a free seat, else None."""
        for project in self.vacant:
            if project.phase is Phase.READY:
                return project
        return self.vacant[0] if self.vacant else None

    def wait_for_work(self, who: StaffMember) -> Event:
        """Add a consultant to the idle ones; return the event of a turn that `call` schedules."""
        insort(self.idle, who, key=_by_rank)
        return self.turn(who, self.steps + 1)

    def call(self, rank: int) -> None:
        """Schedule the turn of the next idle consultant if a seat is free.

        One call is enough for several seats, because a consultant who takes one calls again.

        Args:
            rank: Rank of the agent that acts now: a consultant behind it has the turn in this step,
                one before it in the next.
        """
        if not (self.vacant and self.idle):
            return
        who = next((e for e in self.idle if e.rank > rank), self.idle[0])
        self.idle.remove(who)
        self.hasten(who, self.world.now + (who.rank <= rank))

    def complete(self, project: Engagement) -> None:
        """Complete a project: its staff notice at their next turn and lose that step."""
        self._close(project, project.rank)

    def _close(self, project: Engagement, rank: int) -> None:
        """Complete a project at a rank of the present step."""
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
        self.controlling.payroll.employ(who.terms, who.rank, now + 1, sign=-1)
        if who.project is not None:
            self.leave(who.project, who)
        who.project = None
        who.log.append((now + 1, None))
        if who in self.idle:
            self.idle.remove(who)
        _forget(who)

    def dismiss_idle_first(self, some: list[StaffMember], count: int) -> None:
        """Dismiss *count* of some consultants: idle ones first, then the last on the list."""
        for who in sorted(some, key=lambda e: (e.project is not None, -e.rank))[:count]:
            self.dismiss(who)
            self.world.log.info("consultant released", consultant=who.rank)
        self.call(LAST)

    def end_early(self, project: Engagement) -> None:
        """Complete a project for good; it has no further turn and hence no follow-on."""
        self._close(project, LAST)
        _forget(project)

    # -- reports -----------------------------------------------------------------------------------

    def settle(self) -> None:
        """Compute the work and post everything up to and with the last step that is over.

        That is the present step behind its turns, and the one before ahead of them. A step's
        entries are complete once its payday is over: reports of agents behind it belong to the next
        step.
        """
        over = self.controlling.payroll.paid
        if over == self.controlling.booked:
            return
        for project in self.engagements:
            self.work_off(project, over)
        self.controlling.settle(over)

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
