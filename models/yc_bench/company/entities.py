"""Clients, staff and tasks while an episode runs."""

from decimal import Decimal

from attrs import define, field
from simpy.events import Event

from models.yc_bench.observation import ReadOnlyRow
from models.yc_bench.rules.specs import ClientSpec, EmployeeSpec, TaskSpec


@define(eq=False)
class Client:
    """A client and its trust in the company.

    Attributes:
        spec: As drawn.
        trust: 0 to `trust_max`, with `trust_digits` decimals unless the rules leave it unrounded.
        succeeded: Tasks done in time.
        failed: Tasks done late.
        unmasked: Tick of the first late task that an adversarial client has swollen.
        unrounded: Whether trust is left unrounded until the present step is over.
        lost: Tick at which the client left; None while it is a client.
    """

    spec: ClientSpec
    trust: Decimal = Decimal(0)
    succeeded: int = 0
    failed: int = 0
    unmasked: int | None = None
    unrounded: bool = False
    lost: int | None = None

    @property
    def name(self) -> str:
        """Name of the client."""
        return self.spec.name


@define(eq=False)
class StaffMember:
    """An employee.

    Attributes:
        spec: As drawn.
        salary_cents: Cents a month.
        rates: Units an hour by domain, 4 decimals.
        tasks: Their planned and active tasks, in the order of assignment.
        load: Number of tasks that share their time.
        shown_rates: Their row of rates as listed; None if a rate has changed since.
    """

    spec: EmployeeSpec
    salary_cents: int
    rates: dict[str, Decimal]
    tasks: "list[Task]" = field(factory=list)  # a class defined below
    load: int = 0
    shown_rates: ReadOnlyRow | None = None

    @property
    def name(self) -> str:
        """`Emp_1` and so on."""
        return self.spec.name


@define(eq=False)
class Task:
    """A task of the market or of the company.

    Attributes:
        spec: As drawn.
        row: Place in the order of creation: 0 for the first of the initial market.
        shown: Its name in replies: its title or its identifier.
        client: The client that offers it.
        delta: Prestige won with success, as used and shown.
        boost: Share by which rates grow with success.
        required: Units of work, 4 decimals.
        completed: Units done and recorded, 4 decimals.
        status: market, planned, active, completed_success, completed_fail or cancelled.
        rank: Rank among events of one instant; by default the order of creation.
        accepted: Tick.
        deadline: Tick.
        finished: Tick.
        team: The staff assigned to it, in the order of assignment.
        assigned: Tick of each assignment.
        milestone: The last milestone reached, percent.
        next_milestone: The milestone to which `milestone_due` belongs, percent.
        due: Planned tick of its completion; None without an event.
        milestone_due: Planned tick of the next milestone; None without one.
        wait: The event for which its process waits.
        cause: Cause of its lateness, if it was late: one of `completion.CAUSES`.
        cause_detail: One of `completion.DETAILS`, or empty.
        listing: Its row of the market, once it has been shown.
        closed_row: Its row of `task list`, once it has been shown after the end of the task.
    """

    spec: TaskSpec
    row: int
    shown: str
    client: Client
    delta: Decimal
    boost: Decimal
    required: Decimal
    completed: Decimal = Decimal(0)
    status: str = "market"
    rank: int = 0
    accepted: int | None = None
    deadline: int | None = None
    finished: int | None = None
    team: list[StaffMember] = field(factory=list)
    assigned: list[int] = field(factory=list)
    milestone: int = 0
    next_milestone: int = 0
    due: int | None = None
    milestone_due: int | None = None
    wait: Event | None = None
    cause: str = ""
    cause_detail: str = ""
    listing: ReadOnlyRow | None = None
    closed_row: ReadOnlyRow | None = None

    @property
    def title(self) -> str:
        """`Task-N`; titles may repeat."""
        return self.spec.title

    @property
    def name(self) -> str:
        """Its title, by which a trace shows its process."""
        return self.title

    @property
    def domain(self) -> str:
        """Domain of the work; of several the first."""
        return self.spec.domain

    @property
    def domains(self) -> tuple[str, ...]:
        """Domains of the work."""
        return self.spec.domains

    @property
    def open(self) -> bool:
        """Whether the company has accepted it and it is not over."""
        return self.status in ("planned", "active")


def identifier(task: Task) -> str:
    """Return a task's unique identifier, in the form of the reference data."""
    return f"<task:{task.row}>"
