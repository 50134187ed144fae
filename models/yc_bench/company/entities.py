"""Clients, staff and tasks while an episode runs; times are ticks."""

from decimal import Decimal
from operator import attrgetter
from typing import Any

from attrs import define, field
from simpy.events import Event

from models.yc_bench.specs import ClientSpec, EmployeeSpec, TaskSpec


@define(eq=False)
class Client:
    """A client and its trust in the company, 0 to `trust_max`.

    Attributes:
        unmasked: When an adversarial client's first swollen task was finished late.
        unrounded: Whether trust is left unrounded until the present step is over.
        lost: When the client left; None while it is a client.
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
    """An employee with rates in units an hour by domain; `load` tasks share their time."""

    spec: EmployeeSpec
    salary_cents: int
    rates: dict[str, Decimal]
    tasks: "list[Task]" = field(factory=list)  # a class defined below
    load: int = 0

    @property
    def name(self) -> str:
        """`Emp_1` and so on."""
        return self.spec.name


@define(eq=False)
class Task:
    """A task of the market or of the company.

    Attributes:
        row: Place in the order of creation: 0 for the first of the initial market.
        shown: Its title or its identifier, as replies name it.
        delta: Prestige won with success, as used and shown.
        boost: Share by which rates grow with success.
        required: Units of work, of which `completed` are done and recorded.
        status: One of `actions.STATUSES`.
        team: The staff assigned to it with the ticks of assignment, in that order.
        rank: Rank among events of one instant.
        milestone: The last one reached, percent; `next_milestone` is that of `milestone_due`.
        due: Planned tick of its completion; None without an event, as `milestone_due`.
        wait: The event for which its process waits.
        cause: One of `work.CAUSES` of its lateness; `cause_detail` is one of `work.DETAILS`.
        listing: Its row of the market, once shown; `closed_row` is that of a past task.
    """

    spec: TaskSpec
    row: int
    shown: str
    client: Client
    domains: tuple[str, ...]
    delta: Decimal
    boost: Decimal
    required: Decimal
    completed: Decimal = Decimal(0)
    status: str = "market"
    accepted: int | None = None
    deadline: int | None = None
    finished: int | None = None
    team: dict[StaffMember, int] = field(factory=dict)
    rank: int = 0
    milestone: int = 0
    next_milestone: int = 0
    due: int | None = None
    milestone_due: int | None = None
    wait: Event | None = None
    cause: str = ""
    cause_detail: str = ""
    listing: dict[str, Any] | None = None
    closed_row: dict[str, Any] | None = None

    @property
    def title(self) -> str:
        """`Task-N`; titles may repeat."""
        return self.spec.title

    # A trace shows its process by its name.
    name = title

    @property
    def identifier(self) -> str:
        """Its unique name, in the form of the reference data."""
        return f"<task:{self.row}>"

    @property
    def open(self) -> bool:
        """Whether the company has accepted it and it is not over."""
        return self.status in ("planned", "active")


#: The key of the order of creation.
by_row = attrgetter("row")


def best_paid(task: Task) -> tuple[int, int]:
    """Return the key of the order of the market: the best paid first, ties by row."""
    return -task.spec.reward_cents, task.row
