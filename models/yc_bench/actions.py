"""What the founder can do: one frozen class a command of the published console.

A class is named like its command (`task accept` is `TaskAccept`), a field like its option
(`--task-id` is `task_id`), so that the console and the actions are two spellings of one thing.
"""

from typing import Literal

from attrs import field, frozen
from attrs.validators import instance_of, matches_re, optional

__all__ = [
    "DOMAINS",
    "ClientHistory",
    "ClientList",
    "Command",
    "CompanyStatus",
    "Domain",
    "EmployeeList",
    "EndTurn",
    "FinanceLedger",
    "MarketBrowse",
    "ReportMonthly",
    "RunCommand",
    "ScratchpadAppend",
    "ScratchpadClear",
    "ScratchpadRead",
    "ScratchpadWrite",
    "SimInit",
    "SimResume",
    "TaskAccept",
    "TaskAssign",
    "TaskAssignAll",
    "TaskCancel",
    "TaskDispatch",
    "TaskInspect",
    "TaskList",
]

Domain = Literal["research", "inference", "data_environment", "training"]

#: In the order in which worlds are drawn.
DOMAINS: tuple[Domain, ...] = ("research", "inference", "data_environment", "training")

_whole = instance_of(int)
_text = instance_of(str)
_day = optional(matches_re(r"\d{1,2}/\d{1,2}/\d{4}"))
_month = optional(matches_re(r"\d{4}-\d{1,2}"))


def _names(names: object) -> tuple[str, ...]:
    """Take a list of names, or one text with commas as the console does."""
    given = names.split(",") if isinstance(names, str) else names
    return tuple(given)  # type: ignore[arg-type]


# -- time ------------------------------------------------------------------------------------------


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

    seed: int = field(validator=_whole)
    start_date: str = field(validator=matches_re(r"\d{1,2}/\d{1,2}/\d{4}"))
    company_name: str = field(validator=_text)
    horizon_years: int = field(default=1, validator=_whole)
    employee_count: int | None = field(default=None, validator=optional(_whole))
    market_task_count: int | None = field(default=None, validator=optional(_whole))


@frozen
class SimResume:
    """Let time pass until the next event or payday; needs an active task."""


@frozen
class EndTurn:
    """End the turn; after several turns without a resume the clock is moved on for you."""


# -- looking ---------------------------------------------------------------------------------------


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

    domain: Domain | None = field(default=None)
    reward_min_cents: int | None = field(default=None, validator=optional(_whole))
    limit: int | None = field(default=None, validator=optional(_whole))
    offset: int = field(default=0, validator=_whole)


@frozen
class TaskList:
    """List the company's own tasks with progress and deadline.

    Attributes:
        status: Only tasks of this status: planned, active, completed_success, completed_fail.
    """

    status: str | None = field(default=None, validator=optional(_text))


@frozen
class TaskInspect:
    """Show one task with everything known of it.

    Attributes:
        task_id: The task's title.
    """

    task_id: str = field(validator=_text)


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

    from_date: str | None = field(default=None, validator=_day)
    to_date: str | None = field(default=None, validator=_day)
    category: str | None = field(default=None, validator=optional(_text))


@frozen
class ReportMonthly:
    """Show monthly reports; there are never any.

    Attributes:
        from_month: First month, YYYY-MM.
        to_month: Last month, YYYY-MM.
    """

    from_month: str | None = field(default=None, validator=_month)
    to_month: str | None = field(default=None, validator=_month)


# -- acting ----------------------------------------------------------------------------------------


@frozen
class TaskAccept:
    """Take a task from the market; its deadline starts to run.

    Attributes:
        task_id: The task's title.
    """

    task_id: str = field(validator=_text)


@frozen
class TaskAssign:
    """Put people on a planned or active task; nobody can be taken off again.

    Attributes:
        task_id: The task's title.
        employees: Their names.
    """

    task_id: str = field(validator=_text)
    employees: tuple[str, ...] = field(converter=_names)


@frozen
class TaskAssignAll:
    """Always refused; use `task_assign` with the names.

    Attributes:
        task_id: The task's title.
    """

    task_id: str = field(validator=_text)


@frozen
class TaskDispatch:
    """Start work on a planned task that has people.

    Attributes:
        task_id: The task's title.
    """

    task_id: str = field(validator=_text)


@frozen
class TaskCancel:
    """Give up a planned or active task.

    Attributes:
        task_id: The task's title.
        reason: Why.
    """

    task_id: str = field(validator=_text)
    reason: str = field(validator=_text)


# -- notes -----------------------------------------------------------------------------------------


@frozen
class ScratchpadRead:
    """Read your notes."""


@frozen
class ScratchpadWrite:
    """Replace your notes.

    Attributes:
        content: The new text.
    """

    content: str = field(validator=_text)


@frozen
class ScratchpadAppend:
    """Add a line to your notes.

    Attributes:
        content: The line.
    """

    content: str = field(validator=_text)


@frozen
class ScratchpadClear:
    """Throw your notes away."""


# -- text ------------------------------------------------------------------------------------------


@frozen
class RunCommand:
    """Give any of the other commands as a line of the console.

    Attributes:
        command: For example `yc-bench task accept --task-id Task-42`.
    """

    command: str = field(validator=_text)


Command = (
    SimInit
    | SimResume
    | EndTurn
    | CompanyStatus
    | EmployeeList
    | MarketBrowse
    | TaskList
    | TaskInspect
    | ClientList
    | ClientHistory
    | FinanceLedger
    | ReportMonthly
    | TaskAccept
    | TaskAssign
    | TaskAssignAll
    | TaskDispatch
    | TaskCancel
    | ScratchpadRead
    | ScratchpadWrite
    | ScratchpadAppend
    | ScratchpadClear
    | RunCommand
)
