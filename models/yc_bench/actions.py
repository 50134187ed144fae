"""The founder's actions: one frozen class for each command of the published console.

A class has the name of its command (`task accept` is `TaskAccept`), a field that of its option
(`--task-id` is `task_id`), so that a line of the console and an action are two forms of a command.
"""

from collections.abc import Mapping
from typing import ClassVar

from attrs import evolve, field, frozen
from attrs.validators import matches_re, optional

from desim.schema.validators import bounded_whole, long_text, short_text, short_texts
from desim.show.column import CENTS, Column
from models.yc_bench.specs import Domain

#: Lists of tasks: those of the company, and rows of the market, which state their requirements.
_OWN, _MARKET = ("planned", "active"), "reply.out.tasks:requirements.task_id"
#: The statuses of tasks.
STATUSES = ("market", "planned", "active", "completed_success", "completed_fail", "cancelled")

_day = matches_re(r"\d{1,2}/\d{1,2}/\d{4}")
_month = optional(matches_re(r"\d{4}-\d{1,2}"))


def _task_of(*lists: str) -> Mapping[str, Column]:
    return {"task_id": Column(label="Task", kind="identifier", of=lists)}


def _names(names: object) -> tuple[str, ...]:
    """Convert a list of names, or one text with commas as on the console."""
    if isinstance(names, str):
        names = filter(None, map(str.strip, names.split(",")))
    return tuple(names)  # type: ignore[arg-type]


@frozen
class _OnTask:
    """A command on one task.

    Attributes:
        task_id: The task's title.
    """

    task_id: str = field(validator=short_text)


@frozen
class SimInit:
    """Found a company; refused once there is one.

    Attributes:
        seed: Seed of the world.
        start_date: First day, MM/DD/YYYY.
        company_name: What the company is called.
        horizon_years: Years until the run ends.
        employee_count: Size of the staff; the world's own where it is not given.
        market_task_count: Tasks on the market; the world's own where it is not given.
    """

    columns: ClassVar[Mapping[str, Column]] = {
        "seed": Column(usual=(0, 10**9)),
        "horizon_years": Column("years", usual=(1, 10)),
        "employee_count": Column("people", usual=(1, 100)),
        "market_task_count": Column("tasks", usual=(1, 1_000)),
    }

    seed: int = field(validator=bounded_whole)
    start_date: str = field(validator=_day)
    company_name: str = field(validator=short_text)
    horizon_years: int = field(default=1, validator=bounded_whole)
    employee_count: int | None = field(default=None, validator=optional(bounded_whole))
    market_task_count: int | None = field(default=None, validator=optional(bounded_whole))


@frozen
class SimResume:
    """Let time pass until the next event or payday; needs an active task."""


@frozen
class EndTurn:
    """End the turn; after several turns without a resume the clock is moved on for you."""


@frozen
class CompanyStatus:
    """Show funds, prestige, payroll, runway and counts of tasks."""


@frozen
class EmployeeList:
    """List the staff with salaries, rates by domain and active tasks."""


@frozen
class MarketBrowse:
    """List tasks that could be accepted now, the best paid first.

    Attributes:
        domain: Only tasks of this domain.
        reward_min_cents: Only tasks that pay at least this much.
        limit: Rows at most; the market's own limit where it is not given.
        offset: Rows to skip.
    """

    #: Rewards of the market are between $3,000 and $24,000; it has 200 tasks.
    columns: ClassVar[Mapping[str, Column]] = {
        "reward_min_cents": evolve(CENTS, usual=(0, 100_000)),
        "limit": Column("tasks", usual=(1, 1_000)),
        "offset": Column("tasks", usual=(0, 1_000)),
    }

    domain: Domain | None = field(default=None)
    reward_min_cents: int | None = field(default=None, validator=optional(bounded_whole))
    limit: int | None = field(default=None, validator=optional(bounded_whole))
    offset: int = field(default=0, validator=bounded_whole)


@frozen
class TaskList:
    """List the company's own tasks with progress and deadline.

    Attributes:
        status: Only tasks of this status: planned, active, completed_success, completed_fail.
    """

    columns: ClassVar[Mapping[str, Column]] = {
        "status": Column(kind="identifier", choices=STATUSES)
    }

    status: str | None = field(default=None, validator=optional(short_text))


@frozen
class TaskInspect(_OnTask):
    """Show one task with everything known of it."""

    columns: ClassVar[Mapping[str, Column]] = _task_of(*_OWN, _MARKET)


@frozen
class ClientList:
    """List clients with trust, tier and specialties."""


@frozen
class ClientHistory:
    """List clients with tasks done and failed for each."""


@frozen
class FinanceLedger:
    """List entries of the company's ledger.

    Attributes:
        from_date: First day, MM/DD/YYYY.
        to_date: Last instant, 00:00 of that day, MM/DD/YYYY.
        category: Only entries of this category.
    """

    from_date: str | None = field(default=None, validator=optional(_day))
    to_date: str | None = field(default=None, validator=optional(_day))
    category: str | None = field(default=None, validator=optional(short_text))


@frozen
class ReportMonthly:
    """Show the monthly reports.

    Attributes:
        from_month: First month, YYYY-MM.
        to_month: Last month, YYYY-MM.
    """

    from_month: str | None = field(default=None, validator=_month)
    to_month: str | None = field(default=None, validator=_month)


@frozen
class TaskAccept(_OnTask):
    """Take a task from the market; its deadline starts to run."""

    columns: ClassVar[Mapping[str, Column]] = _task_of(_MARKET)


@frozen
class TaskAssign(_OnTask):
    """Put people on a planned or active task; nobody can be taken off again.

    Attributes:
        employees: Their names.
    """

    columns: ClassVar[Mapping[str, Column]] = {
        **_task_of(*_OWN),
        "employees": Column(kind="identifier", of=("reply.out.employees.name",)),
    }

    employees: tuple[str, ...] = field(converter=_names, validator=short_texts)


@frozen
class TaskAssignAll(_OnTask):
    """Put all employees on a planned or active task."""

    columns: ClassVar[Mapping[str, Column]] = _task_of("planned")


@frozen
class TaskDispatch(_OnTask):
    """Start work on a planned task that has people."""

    columns: ClassVar[Mapping[str, Column]] = _task_of("planned")


@frozen
class TaskCancel(_OnTask):
    """Give up a planned or active task.

    Attributes:
        reason: Why.
    """

    columns: ClassVar[Mapping[str, Column]] = _task_of(*_OWN)

    reason: str = field(validator=short_text)


@frozen
class _OfText:
    """A change of the notes.

    Attributes:
        content: The text.
    """

    content: str = field(validator=long_text)


@frozen
class ScratchpadRead:
    """Read your notes."""


@frozen
class ScratchpadWrite(_OfText):
    """Replace your notes."""


@frozen
class ScratchpadAppend(_OfText):
    """Add a line to your notes."""


@frozen
class ScratchpadClear:
    """Throw your notes away."""


@frozen
class RunCommand:
    """Run a command, given as a line of the console.

    Attributes:
        command: For example `yc-bench task accept --task-id Task-42`.
    """

    command: str = field(validator=long_text)


Command = (
    (SimInit | SimResume | EndTurn | CompanyStatus | EmployeeList | MarketBrowse | TaskList)
    | (TaskInspect | ClientList | ClientHistory | FinanceLedger | ReportMonthly)
    | (TaskAccept | TaskAssign | TaskAssignAll | TaskDispatch | TaskCancel)
    | (ScratchpadRead | ScratchpadWrite | ScratchpadAppend | ScratchpadClear | RunCommand)
)
