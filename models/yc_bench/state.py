"""The state of an episode: the company with its books, clients, staff and tasks.

`work.py` (progress and plans), `completion.py`, `commands/` and `processes.py` change the state.
"""

from bisect import insort
from collections import Counter
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from attrs import define, field, frozen
from simpy.events import Event

from desim import World
from models.yc_bench.accounts import CASH, CompanyAccounts
from models.yc_bench.clock import CompanyClock
from models.yc_bench.company.entities import Client, StaffMember, Task
from models.yc_bench.observation import ReadOnlyRow
from models.yc_bench.params import YCBenchParams
from models.yc_bench.rules.checks import stored
from models.yc_bench.rules.specs import ClientSpec, EmployeeSpec, TaskSpec

#: The one role.
FOUNDER = "founder"


#: Identifiers with more digits name no row.
_DIGITS = 18

#: Order in which tasks of equal titles are looked up (SPEC 11).
_STATUS_ORDER = {"market": 0, "planned": 1, "active": 2}


@frozen
class PastEpisode:
    """An episode that a bankruptcy ended, before another one opened.

    Attributes:
        figures: Its figures at the end, as `founding.summary` returns them.
        accounts: Its books.
    """

    figures: dict[str, Any]
    accounts: CompanyAccounts


#: The cents among the entries of a report.
_AMOUNTS = {"funds_after", "funds_delta", "listed_reward", "salary_bump_total_cents"}


@define(eq=False)
class CompanyState:
    """The state of an episode.

    Attributes:
        world: The clock.
        params: The parameters.
        clock: Dates and working hours of ticks.
        accounts: The books.
        horizon: Tick at which the run ends.
        episode: Number of the episode, from 1; a bankruptcy may open a further one.
        past: The episodes before.
        ended: Tick at which the run ended; None while it runs.
        idle_since: Tick from which the year passed without the founder; None if it did not.
        turns: Turns begun.
        clients: In the order in which initial tasks are dealt.
        employees: `Emp_1` first.
        tasks: All tasks by row.
        prestige: By domain, 3 decimals; keys in the order of generation.
        market: Tasks of the market, the best paid first, ties by row.
        open: Those tasks of the market that fit prestige and trust, see `open_market.py`.
        open_levels: The whole levels of prestige and trust for which `open` was selected.
        adversarial_offered: Sum over all acceptances of the adversarial share of the open tasks.
        owned: Tasks accepted, in the order of acceptance; of one instant the last created first.
        planned: Accepted and not dispatched, by row.
        planned_shown: Names of the planned tasks on the desk; None once `planned` has changed.
        active: Under way, by row.
        settled: Tick up to which progress and trust are recorded.
        target: Tick of the event for which the present resume waits.
        over: Whether the horizon event has happened.
        bankruptcy: Tick of the first bankruptcy.
        bankruptcy_due: Tick of a bankruptcy event that has not been handled.
        rescued_late: Whether a partner sent cash when funds were below zero, which does not undo
            a bankruptcy.
        scratchpad: The text of the scratchpad.
        busy: Ticks of active tasks so far: two tasks for a day count two days.
        workload: Whenever it changed: the tick, active tasks, people on one.
        drawn: The clients as drawn, in the order of `clients`.
        midpoints: Middle of each tier's salaries, cents.
        foreseen: Replacements from a world file, by slot and generation.
        generations: Number of tasks accepted, by slot.
        replaced: Number of tasks replaced.
        replacement_seeds: The seed of each replacement so far, by its number: a task that was on
            the market comes again if the company opens again, also after a redraw.
        start: Starts the process of a dispatched task.
        wait: The event for which the founder waits while time passes.
        closing: Happens if the company is over while the founder thinks; None otherwise.
        report: The events of the present resume.
        counts: Commands given, by class name.
        ledger_rows: The entries of the published ledger as printed, as far as they were shown.
    """

    world: World
    params: YCBenchParams
    clock: CompanyClock
    accounts: CompanyAccounts
    horizon: int
    episode: int = 1
    past: list[PastEpisode] = field(factory=list)
    ended: int | None = None
    idle_since: int | None = None
    turns: int = 0
    clients: list[Client] = field(factory=list)
    employees: list[StaffMember] = field(factory=list)
    prestige: dict[str, Decimal] = field(factory=dict)
    tasks: list[Task] = field(factory=list)
    market: list[Task] = field(factory=list)
    open: list[Task] = field(factory=list)
    open_levels: tuple[int, ...] | None = None
    adversarial_offered: float = 0.0
    owned: list[Task] = field(factory=list)
    planned: list[Task] = field(factory=list)
    planned_shown: tuple[str, ...] | None = None
    active: list[Task] = field(factory=list)
    settled: int = 0
    target: int | None = None
    over: bool = False
    bankruptcy: int | None = None
    bankruptcy_due: int | None = None
    rescued_late: bool = False
    scratchpad: str = ""
    busy: int = 0
    workload: list[tuple[int, int, int]] = field(factory=list)
    drawn: tuple[ClientSpec, ...] = ()
    midpoints: dict[str, int] = field(factory=dict)
    foreseen: Mapping[tuple[int, int], TaskSpec] = field(factory=dict)
    generations: dict[int, int] = field(factory=dict)
    replaced: int = 0
    replacement_seeds: dict[int, int] = field(factory=dict)
    start: Callable[[Task], object] = field(default=id)
    wait: Event | None = None
    closing: Event | None = None
    report: list[dict[str, Any]] = field(factory=list)
    counts: Counter[str] = field(factory=Counter)
    ledger_rows: list[ReadOnlyRow] = field(factory=list)
    _titles: dict[str, list[Task]] = field(factory=dict)
    _staff: dict[str, StaffMember] = field(factory=dict)

    def happened(self, entry: dict[str, Any], **shown: Any) -> None:
        """Add an entry to the report of the present resume, and log it.

        Args:
            entry: Its `type` and figures, amounts in cents, which the log has in dollars.
            **shown: Further fields of the log line.
        """
        self.report.append(entry)
        if self.world.log:
            for name, value in entry.items():
                if name not in ("type", "task_id"):
                    amount = value / 100 if name in _AMOUNTS else value
                    shown[name.removesuffix("_cents")] = amount
            self.world.log.info(entry["type"].replace("_", " "), **shown)

    @property
    def ledgers(self) -> tuple[Any, ...]:
        """The books of all episodes, which the digest of the result covers."""
        return (*[each.accounts.book for each in self.past], self.accounts.book)

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
        """Whether funds are below zero, or were when a partner sent cash; zero is alive."""
        return self.funds_cents < 0 or self.rescued_late

    @property
    def last_tick(self) -> int:
        """The tick at which the run ended; the present one while it runs."""
        return self.world.now if self.ended is None else self.ended

    def funds_at(self, tick: int) -> int:
        """Return the funds at the end of a tick, cents; after the run, those at its end."""
        return self.accounts.book.balance(CASH, at=min(tick, self.last_tick))

    def hire(self, spec: EmployeeSpec) -> None:
        """Put an employee on the payroll."""
        who = StaffMember(spec, spec.salary_cents, dict(spec.rates))
        self.employees.append(who)
        self._staff[spec.name] = who

    def list_task(self, task: Task) -> None:
        """Put a task under its title; its row must be the next."""
        self.tasks.append(task)
        self._titles.setdefault(task.title, []).append(task)

    def task(self, name: str) -> Task | None:
        """Return a task by title or identifier, or None.

        Among equal titles a task of the market comes first, then planned, active and other ones.
        """
        named = self._titles.get(name, ())
        if len(named) == 1:
            return named[0]
        if named:
            return min(named, key=lambda t: (_STATUS_ORDER.get(t.status, 3), t.row))
        row = name.removeprefix("<task:").removesuffix(">")
        if name != f"<task:{row}>" or not row.isascii() or not row.isdigit() or len(row) > _DIGITS:
            return None
        return self.tasks[int(row)] if int(row) < len(self.tasks) else None

    def employee(self, name: str) -> StaffMember | None:
        """Return an employee by name or identifier, or None."""
        return self._staff.get(name) or next(
            (e for e in self.employees if f"<employee:{e.name}>" == name), None
        )


def enter(company: CompanyState, spec: TaskSpec) -> Task:
    """Put a task on the market."""
    params, row = company.params, len(company.tasks)
    task = Task(
        spec=spec,
        row=row,
        shown=f"<task:{row}>" if params.tasks_by_identifier else spec.title,
        client=company.clients[spec.client],
        delta=stored(spec.prestige_delta, params.prestige_delta_digits),
        boost=stored(spec.skill_boost, 4),
        required=stored(spec.required_qty, 4),
        rank=row,
    )
    company.list_task(task)
    insort(company.market, task, key=best_paid)
    return task


def best_paid(task: Task) -> tuple[int, int]:
    """Return the key of the order of the market: the best paid first, ties by row."""
    return -task.spec.reward_cents, task.row
