"""The firm while an episode runs: who is idle, which projects have seats, and the verbs between.

The list of agents orders everything: each agent's rank among the events of a step is its place.
Nobody is asked step by step whether something has changed. Whoever changes something moves the turn
of those it concerns.
"""

from bisect import insort
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from attrs import define, field

from desim import World
from models.edt.accounts import Accounts
from models.edt.decision import Plan
from models.edt.scenario import Scenario
from models.edt.state import Employee, Engagement, State, rounds_left

if TYPE_CHECKING:
    from simpy.events import Event

    from models.edt.params import EnterpriseDigitalTwin

__all__ = ["LAST", "MANAGER", "Firm", "Happening"]

#: The one seat there is.
MANAGER = "manager"

#: Rank behind all agents of a step.
LAST = 1_000_000

#: Step, what happened, and to which project.
Happening = tuple[int, str, str]

_rank = attrgetter("rank")


@define(eq=False)
class Firm:
    """The state of an episode.

    Attributes:
        world: The clock.
        game: The parameters.
        scenario: Of the parameters.
        accounts: The books; there from the start, filled when the firm is open.
        risk: R, the revenue risk level.
        plan: The decision as applied; none where the scenario runs as given.
        employees: Consultants by rank.
        engagements: Projects by rank; follow-ons last.
        idle: Employees who wait for a seat, by rank.
        vacant: Projects with a free seat, by rank.
        offers: Whether a project must be accepted before anybody works on it.
        refusal: Why the last answer changed nothing; empty if it did not.
        happenings: What the manager has not been told yet; kept only while somebody listens.
        bell: The event the manager waits for between questions.
    """

    world: World
    game: "EnterpriseDigitalTwin"
    scenario: Scenario
    accounts: Accounts = field(init=False)
    risk: float = field(init=False)
    plan: Plan | None = None
    employees: list[Employee] = field(factory=list)
    engagements: list[Engagement] = field(factory=list)
    idle: list[Employee] = field(factory=list)
    vacant: list[Engagement] = field(factory=list)
    offers: bool = False
    refusal: str = ""
    happenings: list[Happening] = field(factory=list)
    bell: "Event | None" = None
    steps: int = field(init=False)
    last_check: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        scenario = self.scenario
        self.risk = scenario.revenue_risk_level
        self.steps = scenario.steps
        # Work that is done in the very last step is neither extended nor completed.
        at_stop = scenario.time(self.steps) >= scenario.stoptime
        self.last_check = self.steps - 1 if at_stop else self.steps
        self.accounts = Accounts(scenario, LAST)

    @property
    def ledgers(self) -> tuple[Any, ...]:
        """What the digest covers."""
        return (self.accounts.book,)

    # -- turns -------------------------------------------------------------------------------------

    def turn(self, agent: Employee | Engagement, step: int) -> "Event":
        """Let an agent wait for its turn in a step, or for somebody who moves it nearer."""
        agent.turn = (
            self.world.timeout(step - self.world.now, rank=agent.rank)
            if step <= self.steps
            else self.world.event()
        )
        return agent.turn

    def hasten(self, agent: Employee | Engagement, step: int) -> None:
        """Move an agent's turn to a step before."""
        if agent.turn is not None and step <= self.steps:
            agent.turn = self.world.moved(agent.turn, step - self.world.now, rank=agent.rank)

    # -- work --------------------------------------------------------------------------------------

    def work_off(self, project: Engagement, to: int) -> None:
        """Deliver and report the rounds of a project up to and with one."""
        step, dt = project.worked + 1, self.scenario.dt
        while step <= to and project.hands and project.remaining > 0:
            left = project.remaining
            rounds, delivered = project.deliver(dt, to - step + 1)
            project.rounds.append((step, rounds, left, delivered))
            self.accounts.earn(
                range(step, step + rounds),
                project.rank,
                delivered,
                project.terms.billing_rate,
                project.effort_risk,
            )
            step += rounds
        project.worked = max(to, project.worked)

    def plan_turn(self, project: Engagement) -> int:
        """Return the step of a project's next turn: when the work is done, or the deadline."""
        due = project.deadline_step
        if project.state.active:
            limit = min(self.last_check, due) - project.worked
            ahead = rounds_left(project.remaining, project.hands, self.scenario.dt, limit)
            done = project.worked + ahead
            if done <= self.last_check:
                due = min(due, done)
        project.due = due
        return due

    def join(self, project: Engagement, who: Employee) -> None:
        """Take a seat; whoever acts before the project delivers in the same round."""
        step = self.world.now
        self.work_off(project, step - 1 if who.rank < project.rank else step)
        if project.state is State.READY:
            project.refill(project.terms.contracted_effort, step)
            project.effort_risk = 1 - project.contracted_probability
            project.become(State.STARTED, step)
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
        """Bring state and list of vacancies in line with seats and staff."""
        full = len(project.staff) >= project.seats
        if project.state.active:
            state = State.FULLY_STAFFED if full else State.STARTED
            if state is not project.state:
                project.become(state, self.world.now)
        free = (
            project.accepted
            and not full
            and (project.state is State.READY or project.state is State.STARTED)
        )
        if free != (project in self.vacant):
            if free:
                insort(self.vacant, project, key=_rank)
            else:
                self.vacant.remove(project)

    def vacancy(self) -> Engagement | None:
        """Return the project to take now: the first that is ready, else the first with a seat."""
        for project in self.vacant:
            if project.state is State.READY:
                return project
        return self.vacant[0] if self.vacant else None

    def wait_for_work(self, who: Employee) -> "Event":
        """Wait until somebody calls."""
        insort(self.idle, who, key=_rank)
        return self.turn(who, self.steps + 1)

    def call(self, rank: int) -> None:
        """Give the next idle consultant their turn; who takes a seat calls the next.

        Args:
            rank: Who acts now: those behind have their turn in this step, those before in the next.
        """
        if not (self.vacant and self.idle):
            return
        who = next((e for e in self.idle if e.rank > rank), self.idle[0])
        self.idle.remove(who)
        self.hasten(who, self.world.now + (who.rank <= rank))

    def complete(self, project: Engagement) -> None:
        """End a project: its staff notice at their next turn and lose the step."""
        step = self.world.now
        if project.state is not State.ACQUIRED:
            self.accounts.seek(-project.terms.consultants, project.rank, step)
        project.become(State.COMPLETED, step)
        if project in self.vacant:
            self.vacant.remove(project)
        for who in project.staff:
            self.let_go(who, step if who.rank > project.rank else step + 1)
        project.hands = 0

    def let_go(self, who: Employee, notice: int) -> None:
        """Make somebody available from a step on; that step is lost to them."""
        who.project = None
        who.log.append((notice, None))
        self.hasten(who, notice + 1)

    # -- at a manager's word, when all of a step is done and booked --------------------------------

    def leave(self, project: Engagement, who: Employee) -> None:
        """Give a seat up; from the next step on somebody else may have it."""
        project.staff.remove(who)
        project.hands -= 1
        project.staffing.append((self.world.now, len(project.staff)))
        self.review(project)

    def dismiss(self, who: Employee) -> None:
        """Take somebody off the payroll: nobody gives them another turn."""
        now = self.world.now
        who.hired = False
        self.accounts.employ(who.terms, who.rank, now + 1, sign=-1)
        if who.project is not None:
            self.leave(who.project, who)
        who.project = None
        who.log.append((now + 1, None))
        if who in self.idle:
            self.idle.remove(who)
        _forget(who)

    def give_away(self, project: Engagement) -> None:
        """End a project that nobody has worked on; it has no further turn."""
        now = self.world.now
        if project.state is State.READY:
            self.accounts.seek(-project.terms.consultants, project.rank, now + 1)
        # What is given away before the first step is so in the first.
        project.become(State.COMPLETED, max(1, now))
        _forget(project)

    # -- news --------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Work off and book everything up to and with the present step."""
        now = self.world.now
        for project in self.engagements:
            self.work_off(project, now)
        self.accounts.settle(now)

    def happened(self, what: str, project: Engagement) -> None:
        """Tell a manager who listens, behind the last turn of this step."""
        if self.bell is None:
            return
        if not self.happenings:
            self.bell = self.world.moved(self.bell, 0, rank=LAST)
        self.happenings.append((self.world.now, what, project.name))


def _forget(agent: Employee | Engagement) -> None:
    """Let an agent wait for ever."""
    if agent.turn is not None:
        agent.turn.callbacks = []
