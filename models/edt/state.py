"""The agents during an episode: consultants as staff members, projects as engagements."""

from enum import Enum
from typing import Any

from attrs import define, field
from simpy.events import Event

from models.edt.observation import ProjectStatus
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
        terms: The consultant of the scenario.
        rank: Place in the list of agents: lower ranks act first.
        hired: Whether the consultant is on the payroll.
        project: The project the consultant is on; None while available.
        turn: The event of the next turn; not scheduled while there is nothing to wait for.
        log: Pairs of a step and the project's index from then on, None while available.
    """

    terms: Consultant
    rank: int
    hired: bool = True
    project: "Engagement | None" = None
    turn: Event | None = None
    log: list[tuple[int, int | None]] = field(factory=list)

    @property
    def name(self) -> str:
        """Name of the consultant."""
        return self.terms.name


@define(eq=False)
class Engagement:
    """A project during an episode: one of the scenario, or a follow-on.

    Work is delivered in rounds. Round t is the work that the project receives between its own turns
    of the steps t - 1 and t; rounds are computed when their result is needed.

    Attributes:
        terms: The project of the scenario; of the parent for a follow-on.
        name: For people.
        index: Place among all projects, follow-ons in the order of creation.
        rank: Place in the list of agents.
        key: Names its random streams, independent of all decisions.
        start: Time at which it becomes ready, as decided.
        deadline: Time with which it ends, as decided.
        start_step: Step of `start`; None if no step is at that time.
        deadline_step: First step that is not before `deadline`, nor before the project's creation.
        on_time: Whether that step is at the deadline exactly, so that a follow-on is possible.
        contracted_probability: The share of the contracted revenue that is sure, 0 to 1.
        follow_on_probability: 0 to 1; 0 for a follow-on.
        seats: The largest number of consultants.
        accepted: Whether consultants may join.
        phase: The present phase.
        remaining: Effort still to deliver; 0 before it starts.
        effort_risk: 1 less the probability of the present block of effort.
        staff: Consultants who are or were on it.
        hands: Number of consultants who deliver.
        worked: The last round that is computed.
        occurrences: Number of gate events so far, by kind.
        turn: The event of its next turn.
        due: The step of that turn.
        status: The manager's last observation of it; None before the first.
        phases: Pairs of a step and the phase from then on.
        staffing: Pairs of a step and the number of staff from then on.
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
    phase: Phase = Phase.ACQUIRED
    remaining: float = 0.0
    effort_risk: float = 0.0
    staff: list[StaffMember] = field(factory=list)
    hands: int = 0
    worked: int = 0
    occurrences: dict[str, int] = field(factory=dict)
    turn: Event | None = None
    due: int = 0
    status: ProjectStatus | None = None
    phases: list[tuple[int, Phase]] = field(factory=list)
    staffing: list[tuple[int, int]] = field(factory=list)
    rounds: list[tuple[int, int, float, float]] = field(factory=list)

    def become(self, phase: Phase, step: int) -> None:
        """Enter a phase and log it."""
        self.phase = phase
        self.phases.append((step, phase))

    def refill(self, effort: float, step: int) -> None:
        """Set the remaining effort and log it."""
        self.remaining = effort
        self.rounds.append((step, 1, effort, 0.0))


def at_step(log: list[tuple[int, Any]], steps: int, before: Any = None) -> list[Any]:
    """Return the value at each of the steps 1 to *steps*; the last change of a step counts."""
    changes, value, values = dict(log), before, []
    for step in range(1, steps + 1):
        value = changes.get(step, value)
        values.append(value)
    return values
