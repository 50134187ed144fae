"""The company while an episode runs: people, clients, tasks, books, and what the desk shows.

Only what is, and how to look it up; what changes it lives in `work.py` (progress and plans),
`completion.py`, `commands.py` and `processes.py`.
"""

from bisect import insort
from collections import Counter
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from attrs import define, field

from desim import World
from models.yc_bench.accounts import Accounts
from models.yc_bench.numbers import stored
from models.yc_bench.spec import ClientSpec, EmployeeSpec, TaskSpec

if TYPE_CHECKING:
    from simpy.events import Event

    from models.yc_bench.clock import Clock
    from models.yc_bench.params import YCBench
    from models.yc_bench.turns import Turns

__all__ = ["FOUNDER", "Client", "Company", "Employee", "Task", "enter", "identifier"]

#: The one seat there is.
FOUNDER = "founder"


@define(eq=False)
class Client:
    """A client and what it thinks of the company.

    Attributes:
        spec: As drawn.
        trust: 0 to 5, 3 decimals but where the rules leave it unrounded.
        succeeded: Tasks done in time.
        failed: Tasks done late.
        unrounded: Whether trust is left unrounded until the present step is over.
    """

    spec: ClientSpec
    trust: Decimal = Decimal(0)
    succeeded: int = 0
    failed: int = 0
    unrounded: bool = False

    @property
    def name(self) -> str:
        """Of the client."""
        return self.spec.name


@define(eq=False)
class Employee:
    """Somebody on the payroll.

    Attributes:
        spec: As drawn.
        salary_cents: Cents a month.
        rates: Units an hour by domain, 4 decimals.
        tasks: Planned and active tasks they are on, in the order of assignment.
        load: How many active tasks share their time.
    """

    spec: EmployeeSpec
    salary_cents: int
    rates: dict[str, Decimal]
    tasks: "list[Task]" = field(factory=list)
    load: int = 0

    @property
    def name(self) -> str:
        """`Emp_1` and so on."""
        return self.spec.name


@define(eq=False)
class Task:
    """A task of the market or of the company.

    Attributes:
        spec: As drawn.
        row: Its place in the order of creation: 0 for the first of the initial market.
        shown: What replies call it: its title or its identifier.
        client: Whose it is.
        delta: Prestige won, as used and shown.
        boost: Share by which rates grow.
        required: Units of work, 4 decimals.
        completed: Units done and on record, 4 decimals.
        status: market, planned, active, completed_success, completed_fail or cancelled.
        rank: Its rank among events of one instant; by default the order of creation.
        accepted: Tick.
        deadline: Tick.
        finished: Tick.
        team: Who is on it, in the order of assignment.
        assigned: When each of them was put there, ticks.
        milestone: The last milestone reached, percent.
        next_milestone: The one `milestone_due` belongs to, percent.
        due: When it will be done as planned, tick; none without an event.
        milestone_due: When the next milestone will be reached as planned; none without one.
        turn: The event its process waits for.
        cause: Why it was late, if it was.
        listing: Its row of the market, once it was shown.
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
    team: list[Employee] = field(factory=list)
    assigned: list[int] = field(factory=list)
    milestone: int = 0
    next_milestone: int = 0
    due: int | None = None
    milestone_due: int | None = None
    turn: "Event | None" = None
    cause: str = ""
    listing: dict[str, Any] | None = None

    @property
    def title(self) -> str:
        """`Task-N`; titles may repeat."""
        return self.spec.title

    @property
    def domain(self) -> str:
        """Of the work."""
        return self.spec.domain

    @property
    def open(self) -> bool:
        """Whether it is the company's and not over."""
        return self.status in ("planned", "active")


#: No row has more of them.
_DIGITS = 18

#: In which order equal titles are looked at (SPEC 11).
_STATUS_ORDER = {"market": 0, "planned": 1, "active": 2}


@define(eq=False)
class Company:
    """The state of an episode.

    Attributes:
        world: The clock.
        game: The parameters.
        clock: Ticks to dates and business hours.
        accounts: The books.
        clients: In the order in which initial tasks are dealt.
        employees: `Emp_1` first.
        tasks: All tasks by row.
        prestige: By domain, 3 decimals; keys in the order of generation.
        market: Tasks to be had, the best paid first, ties by row.
        owned: Tasks accepted, in the order of acceptance.
        planned: Accepted and not dispatched, by row.
        planned_shown: What replies call the planned tasks; none once that has changed.
        active: Under way, by row.
        turns: The present turn and how many there were.
        horizon: Tick of the horizon.
        settled: Tick up to which progress and trust are on record.
        target: Tick to which the present resume goes.
        over: The horizon event has happened.
        bankruptcy: Tick of the first bankruptcy.
        bankruptcy_due: Tick of a bankruptcy event that has not been handled.
        scratchpad: The notes.
        busy: Ticks of active tasks so far: two tasks for a day count two days.
        drawn: The clients as drawn, in the order of `clients`.
        midpoints: Middle of each tier's salaries, cents.
        foreseen: Replacements that a world file tells, by slot and generation.
        generations: How many tasks of each slot were accepted.
        replaced: How many tasks were replaced.
        start: Starts the process of a task that was dispatched.
        wait: What the founder waits for while time passes.
        report: What happened in the present resume.
        counts: How many commands of each kind were given.
    """

    world: World
    game: "YCBench"
    clock: "Clock"
    accounts: Accounts
    turns: "Turns"
    horizon: int
    clients: list[Client] = field(factory=list)
    employees: list[Employee] = field(factory=list)
    prestige: dict[str, Decimal] = field(factory=dict)
    tasks: list[Task] = field(factory=list)
    market: list[Task] = field(factory=list)
    owned: list[Task] = field(factory=list)
    planned: list[Task] = field(factory=list)
    planned_shown: tuple[str, ...] | None = None
    active: list[Task] = field(factory=list)
    settled: int = 0
    target: int | None = None
    over: bool = False
    bankruptcy: int | None = None
    bankruptcy_due: int | None = None
    scratchpad: str = ""
    busy: int = 0
    drawn: tuple[ClientSpec, ...] = ()
    midpoints: dict[str, int] = field(factory=dict)
    foreseen: Mapping[tuple[int, int], TaskSpec] = field(factory=dict)
    generations: dict[int, int] = field(factory=dict)
    replaced: int = 0
    start: "Callable[[Task], object]" = field(default=id)
    wait: "Event | None" = None
    report: list[dict[str, Any]] = field(factory=list)
    counts: Counter[str] = field(factory=Counter)
    _titles: dict[str, list[Task]] = field(factory=dict)
    _staff: dict[str, Employee] = field(factory=dict)

    @property
    def ledgers(self) -> tuple[Any, ...]:
        """What the digest covers."""
        return (self.accounts.book,)

    @property
    def funds_cents(self) -> int:
        """Money in the bank; below zero is bankrupt."""
        return self.accounts.funds

    @property
    def payroll_cents(self) -> int:
        """Sum of the salaries, cents a month."""
        return sum(e.salary_cents for e in self.employees)

    @property
    def bankrupt(self) -> bool:
        """Whether funds are below zero; exactly zero is alive."""
        return self.funds_cents < 0

    def hire(self, spec: EmployeeSpec) -> None:
        """Put somebody on the payroll."""
        who = Employee(spec, spec.salary_cents, dict(spec.rates))
        self.employees.append(who)
        self._staff[spec.name] = who

    def list_task(self, task: Task) -> None:
        """Put a task under its title; its row must be the next."""
        self.tasks.append(task)
        self._titles.setdefault(task.title, []).append(task)

    def task(self, name: str) -> Task | None:
        """Find a task by title or identifier; among equal titles the one to be had, then by age."""
        found = self._titles.get(name, ())
        if len(found) == 1:
            return found[0]
        if found:
            return min(found, key=lambda t: (_STATUS_ORDER.get(t.status, 3), t.row))
        row = name.removeprefix("<task:").removesuffix(">")
        if name != f"<task:{row}>" or not row.isascii() or not row.isdigit() or len(row) > _DIGITS:
            return None
        return self.tasks[int(row)] if int(row) < len(self.tasks) else None

    def employee(self, name: str) -> Employee | None:
        """Find somebody by name or identifier."""
        return self._staff.get(name) or next(
            (e for e in self.employees if f"<employee:{e.name}>" == name), None
        )


def enter(company: Company, spec: TaskSpec) -> Task:
    """Put a task on the market."""
    game, row = company.game, len(company.tasks)
    task = Task(
        spec=spec,
        row=row,
        shown=f"<task:{row}>" if game.tasks_by_identifier else spec.title,
        client=company.clients[spec.client],
        delta=stored(spec.prestige_delta, game.prestige_delta_digits),
        boost=stored(spec.skill_boost, 4),
        required=stored(spec.required_qty, 4),
        rank=row,
    )
    company.list_task(task)
    insort(company.market, task, key=_best_paid)
    return task


def _best_paid(task: Task) -> tuple[int, int]:
    return -task.spec.reward_cents, task.row


def identifier(task: Task) -> str:
    """Return a task's unique identifier, in the form of the reference data."""
    return f"<task:{task.row}>"
