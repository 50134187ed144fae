"""Who and what takes part in an episode: employees, and engagements with their work."""

from enum import Enum
from typing import TYPE_CHECKING, Any

from attrs import define, field

from models.edt.scenario import Consultant, Project

if TYPE_CHECKING:
    from simpy.events import Event

__all__ = ["Employee", "Engagement", "State", "at_step", "rounds_left"]


#: Multiples of 1 / _FINE below _LARGE have 53 binary places to spare for sums.
_FINE, _LARGE = 2.0**16, 2.0**32


class State(Enum):
    """Where a project stands; the value is its letter in histories."""

    ACQUIRED = "a"
    READY = "r"
    STARTED = "s"
    FULLY_STAFFED = "f"
    COMPLETED = "c"

    @property
    def active(self) -> bool:
        """Whether work can be delivered."""
        return self is State.STARTED or self is State.FULLY_STAFFED


@define(eq=False)
class Employee:
    """A consultant and what they are on.

    Attributes:
        terms: The consultant of the scenario.
        rank: Place in the list of agents: lower ranks act first.
        hired: Whether they are on the payroll.
        project: What they are on; none while available.
        turn: The event of their next turn; unscheduled while nothing awaits them.
        log: Step and project from then on, none when available.
    """

    terms: Consultant
    rank: int
    hired: bool = True
    project: "Engagement | None" = None
    turn: "Event | None" = None
    log: list[tuple[int, int | None]] = field(factory=list)


@define(eq=False)
class Engagement:
    """A project while the world runs: a listed one, or a follow-on.

    Work is delivered in rounds. Round t is all that the project has received between its own turns
    of the steps t - 1 and t; rounds are worked off when somebody needs to know.

    Attributes:
        terms: The project of the scenario; of the parent for a follow-on.
        name: Shown to people.
        index: Place among all projects, follow-ons in the order of creation.
        rank: Place in the list of agents.
        key: Names its random streams, whatever else was chosen.
        start: Time at which it becomes ready, as decided.
        deadline: Time with which it ends, as decided.
        start_step: Step of `start`, none if no step falls on it.
        deadline_step: First step that is not before `deadline`, nor before the project's creation.
        on_time: Whether that step is at the deadline exactly, so that a follow-on is possible.
        contracted_probability: Of this project.
        follow_on_probability: Of this project; 0 for a follow-on.
        seats: Consultants at most.
        accepted: Whether consultants may take it.
        state: Where it stands.
        remaining: Effort still to deliver; 0 before it starts.
        effort_risk: 1 less the probability of what is being worked on.
        staff: Who is or was on it.
        hands: How many deliver.
        worked: The last round that was worked off.
        occurrences: Gate events so far, by kind.
        turn: The event of its next turn.
        due: The step of that turn.
        states: Step and state from then on.
        staffing: Step and number of staff from then on.
        rounds: First round, number of equal rounds, effort left before them, effort of each.
    """

    terms: Project
    name: str
    index: int
    rank: int
    key: str
    start: float
    deadline: float
    start_step: int | None
    deadline_step: int
    on_time: bool
    contracted_probability: float
    follow_on_probability: float
    seats: int
    accepted: bool = True
    state: State = State.ACQUIRED
    remaining: float = 0.0
    effort_risk: float = 0.0
    staff: list[Employee] = field(factory=list)
    hands: int = 0
    worked: int = 0
    occurrences: dict[str, int] = field(factory=dict)
    turn: "Event | None" = None
    due: int = 0
    states: list[tuple[int, State]] = field(factory=list)
    staffing: list[tuple[int, int]] = field(factory=list)
    rounds: list[tuple[int, int, float, float]] = field(factory=list)

    def become(self, state: State, step: int) -> None:
        """Change the state and note it."""
        self.state = state
        self.states.append((step, state))

    def refill(self, effort: float, step: int) -> None:
        """Set the remaining effort and note it."""
        self.remaining = effort
        self.rounds.append((step, 1, effort, 0.0))

    def deliver(self, dt: float, most: int) -> tuple[int, float]:
        """Let every hand deliver what a step allows, for as many equal rounds as possible.

        Effort is subtracted hand by hand, as the reference does, so that floats end at the same
        step; where doubles are exact, all full rounds are done at once.

        Args:
            dt: Effort of one hand in one step.
            most: Rounds at most, at least 1.

        Returns:
            The number of rounds, and the effort delivered in each.
        """
        full = self.hands * dt
        if self.remaining >= full and exact(self.remaining, dt):
            rounds = min(most, int(self.remaining // full))
            self.remaining -= rounds * full
            return rounds, full
        delivered, remaining = 0.0, self.remaining
        for _ in range(self.hands):
            effort = min(dt, remaining)
            remaining -= effort
            delivered += effort
        self.remaining = remaining
        return 1, delivered


def exact(*numbers: float) -> bool:
    """Tell whether sums and differences of these doubles are exact: few binary places, not huge."""
    return all(number < _LARGE and (number * _FINE).is_integer() for number in numbers)


def rounds_left(remaining: float, hands: int, dt: float, limit: int) -> int:
    """Return in how many rounds, at least 1, the work is done; more than `limit` if never."""
    if not hands:
        return 1 if remaining <= 0 else limit + 1
    if exact(remaining, dt):
        return max(1, int(-(-remaining // (hands * dt))))
    rounds = 0
    while rounds <= limit and (remaining > 0 or not rounds):
        rounds += 1
        for _ in range(hands):
            remaining -= min(dt, remaining)
    return rounds


def at_step(log: list[tuple[int, Any]], steps: int, before: Any = None) -> list[Any]:
    """Spread changes over the steps 1 to `steps`; the last change of a step counts."""
    changes, value, spread = dict(log), before, []
    for step in range(1, steps + 1):
        value = changes.get(step, value)
        spread.append(value)
    return spread
