"""The agents of a firm: consultants, projects, and the arithmetic of their work."""

from enum import Enum
from typing import Any

from attrs import define, field
from simpy.events import Event

from models.edt.scenario import Consultant, Project


class Phase(Enum):
    """The phase of a project; the value is its letter in histories."""

    ACQUIRED = "a"
    READY = "r"
    STARTED = "s"
    FULLY_STAFFED = "f"
    COMPLETED = "c"

    #: Whether consultants can deliver work. An attribute, since an enum's `name` and `value` are
    #: computed at every access.
    active: bool

    #: The name in observations.
    label: str

    def __init__(self, letter: str) -> None:
        self.active = letter in "sf"
        self.label = self.name.lower()


@define(eq=False)
class StaffMember:
    """A consultant during an episode.

    Attributes:
        rank: Place in the list of agents: lower ranks act first.
        hired: Whether the consultant is on the payroll.
        turn: The event of the next turn; not scheduled while there is nothing to wait for.
        log: Pairs of a step and the project's index from then on, None while available.
    """

    terms: Consultant
    rank: int
    hired: bool = True
    project: "Engagement | None" = None
    turn: Event | None = None
    log: list[tuple[int, int | None]] = field(factory=list)


@define(eq=False)
class Engagement:
    """A project during an episode: one of the scenario, or a follow-on.

    Work is delivered in rounds. Round t is the work that the project receives between its own turns
    of the steps t - 1 and t; rounds are computed when their result is needed.

    Attributes:
        terms: The project of the scenario; for a follow-on the parent's, with its own name and
            probabilities.
        index: Place among all projects, follow-ons in the order of creation.
        rank: Place in the list of agents.
        key: Names its random streams, independent of all decisions.
        start: Time at which it becomes ready, as decided.
        deadline: Time with which it ends, as decided.
        start_step: Step of `start`; None if no step is at that time.
        deadline_step: First step that is not before `deadline`, nor before the project's creation.
        on_time: Whether that step is at the deadline exactly, so that a follow-on is possible.
        worked: The last round that is computed.
        phases: Pairs of a step and the phase from then on.
        remaining: Effort still to deliver; 0 before it starts.
        effort_risk: 1 less the probability of the present block of effort.
        staff: Consultants who are or were on it; `hands` is how many deliver.
        occurrences: Number of gate events so far, by kind.
        due: The step of its next turn.
        status: The last observation of it, which is reused until it changes.
        staffing: Pairs of a step and the number of staff from then on.
        rounds: First round, number of equal rounds, effort left before them, effort of each.
    """

    terms: Project
    index: int
    rank: int
    key: str
    start: float
    deadline: float
    start_step: int | None
    deadline_step: int
    on_time: bool
    seats: int
    accepted: bool
    worked: int
    phases: list[tuple[int, Phase]]
    phase: Phase = Phase.ACQUIRED
    remaining: float = 0.0
    effort_risk: float = 0.0
    staff: list[StaffMember] = field(factory=list)
    hands: int = 0
    occurrences: dict[str, int] = field(factory=dict)
    turn: Event | None = None
    due: int = 0
    status: Any = None
    staffing: list[tuple[int, int]] = field(factory=list)
    rounds: list[tuple[int, int, float, float]] = field(factory=list)

    @property
    def name(self) -> str:
        """The name of the project."""
        return self.terms.name

    def become(self, phase: Phase, step: int) -> None:
        """Enter a phase."""
        self.phase = phase
        self.phases.append((step, phase))

    def refill(self, effort: float, step: int) -> None:
        """Set the remaining effort."""
        self.remaining = effort
        self.rounds.append((step, 1, effort, 0.0))


# -- rounds of work, in floats as the published simulator computes them ----------------------------

# Multiples of 1 / _FINE below _LARGE leave 53 - 16 - 32 = 5 binary places for sums.
_FINE, _LARGE = 2.0**16, 2.0**32


def _exact(*numbers: float) -> bool:
    """Return whether sums and differences of these doubles are exact."""
    return all(number < _LARGE and (number * _FINE).is_integer() for number in numbers)


def deliver(remaining: float, hands: int, dt: float, most: int) -> tuple[int, float, float]:
    """Deliver what a step allows, for as many equal rounds as possible.

    The result is the number of rounds, the effort of each, and the effort that remains. A hand
    delivers *dt* in a round. Effort is subtracted hand by hand, as the published simulator does, so
    that floats end at the same step; where doubles are exact, full rounds are computed at once.
    """
    full = hands * dt
    if remaining >= full and _exact(remaining, dt):
        rounds = min(most, int(remaining // full))
        return rounds, full, remaining - rounds * full
    delivered = 0.0
    for _ in range(hands):
        effort = min(dt, remaining)
        remaining -= effort
        delivered += effort
    return 1, delivered, remaining


def rounds_left(remaining: float, hands: int, dt: float, limit: int) -> int:
    """Return the rounds, at least 1, until no effort remains; `limit + 1` if that takes longer."""
    if not hands:
        return 1 if remaining <= 0 else limit + 1
    if _exact(remaining, dt):
        return max(1, int(-(-remaining // (hands * dt))))
    rounds = 0
    while rounds <= limit and (remaining > 0 or not rounds):
        rounds += 1
        for _ in range(hands):
            remaining -= min(dt, remaining)
    return rounds


def at_step(log: list[tuple[int, Any]], steps: int, before: Any = None) -> list[Any]:
    """Return the value at each of the steps 1 to *steps*; the last change of a step counts."""
    changes, value, values = dict(log), before, []
    for step in range(1, steps + 1):
        value = changes.get(step, value)
        values.append(value)
    return values
