"""The state of an episode: the company with its books, clients, staff and tasks."""

from bisect import insort
from collections import Counter
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import attrs
from attrs import define, field
from simpy.events import Event

from desim import World
from models.yc_bench.company.accounts import CASH, CompanyAccounts
from models.yc_bench.company.clock import CompanyClock
from models.yc_bench.company.entities import Client, StaffMember, Task, best_paid
from models.yc_bench.params import YCBenchParams
from models.yc_bench.specs import DOMAINS, TaskSpec, stored
from models.yc_bench.world import draw

#: Order in which tasks of equal titles are looked up (SPEC 11).
_STATUS_ORDER = {"market": 0, "planned": 1, "active": 2}

#: The cents among the entries of a report.
_AMOUNTS = {"funds_after", "funds_delta", "listed_reward", "salary_bump_total_cents"}


@define(eq=False)
class CompanyState:
    """The state of an episode; times are ticks, None for what has not happened.

    Attributes:
        past: Figures and books of the episodes that a bankruptcy ended.
        idle_since: From when the year passed without the founder.
        clients: In the order in which initial tasks are dealt.
        prestige: By domain, 3 decimals.
        market: Tasks of the market, the best paid first, ties by row.
        open: Those tasks of the market that fit prestige and trust, see `commands.open_tasks`.
        open_levels: The levels of prestige and trust for which `open` was selected.
        adversarial_offered: Sum over all acceptances of the adversarial share of the open tasks.
        owned: Tasks accepted, in the order of acceptance; of one instant the last created first.
        planned: Accepted and not dispatched, by row, as `active` and `tasks`.
        settled: Up to when progress and trust are recorded.
        target: Time of the event for which the present resume waits.
        over: Whether the horizon event has happened.
        bankruptcy_due: Time of a bankruptcy event that has not been handled.
        busy: Ticks of active tasks so far: two tasks for a day count two days.
        workload: Whenever it changed: the tick, active tasks, people on one.
        foreseen: Replacements from a world file, by slot and generation.
        generations: Number of tasks accepted, by slot.
        replacement_seeds: The seed of each replacement so far, by its number: a task that was on
            the market comes again if the company opens again, also after a redraw.
        start: Starts the process of a dispatched task.
        wait: The event for which the founder waits in a resume; `closing` ends a thinking founder.
    """

    world: World
    params: YCBenchParams
    clock: CompanyClock
    accounts: CompanyAccounts
    episode: int = 1
    past: list[tuple[dict[str, Any], CompanyAccounts]] = field(factory=list)
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
    active: list[Task] = field(factory=list)
    settled: int = 0
    target: int | None = None
    over: bool = False
    bankruptcy: int | None = None
    bankruptcy_due: int | None = None
    scratchpad: str = ""
    busy: int = 0
    workload: list[tuple[int, int, int]] = field(factory=list)
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
    _named: dict[str, list[Task]] = field(factory=dict)

    @property
    def ledgers(self) -> tuple[Any, ...]:
        """The books of all episodes, which the digest of the result covers."""
        return (*[accounts.book for _, accounts in self.past], self.accounts.book)

    @property
    def funds_cents(self) -> int:
        """Money in the bank; below zero is bankrupt."""
        return self.accounts.book.balance(CASH)

    @property
    def payroll_cents(self) -> int:
        """Sum of the salaries, cents a month."""
        return sum(e.salary_cents for e in self.employees)

    @property
    def bankrupt(self) -> bool:
        """Whether funds are or were below zero: cash of a partner then comes too late."""
        return self.bankruptcy is not None or self.accounts.book.balance(CASH) < 0

    @property
    def last_tick(self) -> int:
        """The tick at which the run ended; the present one while it runs."""
        return self.world.now if self.ended is None else self.ended

    def funds_at(self, tick: int) -> int:
        """Return the funds at the end of a tick, cents; after the run, those at its end."""
        return self.accounts.book.balance(CASH, at=min(tick, self.last_tick))

    def happened(self, entry: dict[str, Any], **shown: Any) -> None:
        """Add an entry to the report of the present resume; log it with amounts in dollars."""
        self.report.append(entry)
        if self.world.log:
            for name, value in entry.items():
                if name not in ("type", "task_id"):
                    amount = value / 100 if name in _AMOUNTS else value
                    shown[name.removesuffix("_cents")] = amount
            self.world.log.info(entry["type"].replace("_", " "), **shown)

    def enter(self, spec: TaskSpec) -> Task:
        """Put a task on the market."""
        params, row = self.params, len(self.tasks)
        task = Task(
            spec=spec,
            row=row,
            shown=f"<task:{row}>" if params.tasks_by_identifier else spec.title,
            client=self.clients[spec.client],
            domains=spec.domains,
            delta=stored(spec.prestige_delta, params.prestige_delta_digits),
            boost=stored(spec.skill_boost, 4),
            required=stored(spec.required_qty, 4),
            rank=row,
        )
        self.tasks.append(task)
        for name in (task.title, task.identifier):
            self._named.setdefault(name, []).append(task)
        insort(self.market, task, key=best_paid)
        return task

    def task(self, name: str) -> Task | None:
        """Return a task by title or identifier, or None: of equal titles that of the market."""
        named = self._named.get(name, ())
        return min(named, key=lambda t: (_STATUS_ORDER.get(t.status, 3), t.row), default=None)

    def summary(self, ended: str) -> dict[str, Any]:
        """Return how the present episode ended: plain values, money in cents."""
        return {
            "episode": self.episode,
            "ended": ended,
            "ended_on": self.clock.text(self.last_tick),
            "final_funds_cents": self.funds_at(self.last_tick),
            "turns": self.turns,
            "commands": self.counts.total() - self.counts["EndTurn"],
            "tasks_accepted": len(self.owned),
            "tasks_succeeded": sum(client.succeeded for client in self.clients),
            "tasks_failed": sum(client.failed for client in self.clients),
        }

    def reopen(self) -> None:
        """Become a new company of the same seed (SPEC 15); the simulation's clock goes on."""
        self.past.append((self.summary("bankruptcy"), self.accounts))
        for task in self.active:
            # Its process, which waits for an event without callbacks, is never resumed; one that
            # has not started yet returns at once, because the task is cancelled.
            task.status = "cancelled"
            if task.wait is not None and task.wait.callbacks is not None:
                task.wait.callbacks.clear()
        new = found(self.world, self.params, self.accounts.purse.balances)
        for each in attrs.fields(CompanyState):
            if each.name not in _KEPT:
                setattr(self, each.name, getattr(new, each.name))
        self.episode += 1


#: Fields that a new company takes over from the one before; all others are as founded.
_KEPT = {"world", "params", "episode", "past", "scratchpad", "start", "replacement_seeds"}


def found(
    world: World, params: YCBenchParams, balances: Mapping[str, int] | None = None
) -> CompanyState:
    """Return a company that opens now, with what one before it left with partners, in cents."""
    now, clock, fixed = world.now, CompanyClock(params, world.now), params.fixed_world
    if fixed is None:
        clients, staff, tasks = draw(params, world.seed)
        funds, prestige = params.initial_funds_cents, params.initial_prestige_level
        if world.log:
            world.log.debug("draw", stream="clients", drawn=[each.name for each in clients])
            world.log.debug("draw", stream="employees", drawn=[each.name for each in staff])
            world.log.debug("draw", stream="market", drawn=[each.title for each in tasks])
    else:
        clients, staff, tasks = fixed.clients, fixed.employees, fixed.tasks
        funds, prestige = fixed.funds_cents, fixed.initial_prestige
    company = CompanyState(
        world=world,
        params=params,
        clock=clock,
        accounts=CompanyAccounts(
            funds, now, balances or {}, fines_as_rewards=params.late_fines_as_rewards
        ),
        settled=now,
        prestige=dict.fromkeys(DOMAINS, stored(prestige, 3)),
        midpoints={tier.name: sum(tier.salary_cents) // 2 for tier in params.tiers},
        clients=[Client(spec) for spec in clients],
        employees=[StaffMember(each, each.salary_cents, dict(each.rates)) for each in staff],
        foreseen=fixed.foreseen if fixed else {},
    )
    for task in tasks:
        company.enter(task)
    return company
