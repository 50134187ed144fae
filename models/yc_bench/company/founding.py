"""The founding of a company: its world is drawn or taken from a file, and its calendar starts.

A bankrupt company opens again, where the rules give further episodes (SPEC section 15).

The same seed is played once more from its first day: market, staff, clients and books are new, and
so is the count of turns. The scratchpad is kept. The clock of the simulation goes on; the new
company's dates are counted from the tick at which it opens.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import attrs

from desim import World
from models.yc_bench.accounts import CompanyAccounts
from models.yc_bench.clock import CompanyClock
from models.yc_bench.company.entities import Client
from models.yc_bench.params import YCBenchParams
from models.yc_bench.processes import horizon, paydays
from models.yc_bench.rules.checks import stored
from models.yc_bench.rules.draw_market import draw_market
from models.yc_bench.rules.draw_people import draw_clients, draw_employees
from models.yc_bench.rules.specs import DOMAINS, ClientSpec, EmployeeSpec, TaskSpec
from models.yc_bench.state import CompanyState, PastEpisode, enter

Drawn = tuple[tuple[ClientSpec, ...], tuple[EmployeeSpec, ...], tuple[TaskSpec, ...]]


def found(world: World, params: YCBenchParams) -> CompanyState:
    """Return a company that opens now; its paydays and its horizon are not on the calendar yet."""
    fixed = params.fixed_world
    if fixed is not None:
        company = _founded(world, params, fixed.funds_cents, fixed.initial_prestige)
        company.drawn, company.foreseen = fixed.clients, fixed.foreseen
        _populate(company, fixed.employees, fixed.tasks)
        return company
    company = _founded(world, params, params.initial_funds_cents, params.initial_prestige_level)
    # 1 and 1.0 are equal, and draw numbers of different types.
    company.drawn, staff, tasks = _draw(params, world.seed, repr(params))
    if world.log:
        world.log.debug("draw", stream="clients", drawn=[each.name for each in company.drawn])
        world.log.debug("draw", stream="employees", drawn=[each.name for each in staff])
        world.log.debug("draw", stream="market", drawn=[each.title for each in tasks])
    _populate(company, staff, tasks)
    return company


@lru_cache(maxsize=4)
def _draw(params: YCBenchParams, seed: int, _types: str) -> Drawn:
    """Return clients, staff and initial tasks of a seed, which all episodes of a process share."""
    clients = draw_clients(params, seed)
    return clients, draw_employees(params, seed), draw_market(params, seed, clients)


def start_calendar(world: World, company: CompanyState) -> None:
    """Start the paydays and the horizon of a company that opens now."""
    # Ranks order events of one instant, so the order of these lines does not matter.
    world.process(paydays(world, company, company.episode))
    world.process(horizon(world, company, company.episode))


def _founded(world: World, params: YCBenchParams, funds: int, prestige: float) -> CompanyState:
    """Return a company without clients, staff and tasks."""
    clock = CompanyClock.of(params, opened=world.now)
    return CompanyState(
        world=world,
        params=params,
        clock=clock,
        accounts=CompanyAccounts(
            funds, opened=world.now, fines_as_rewards=params.late_fines_as_rewards
        ),
        horizon=clock.horizon,
        settled=world.now,
        prestige=dict.fromkeys(DOMAINS, stored(prestige, 3)),
        midpoints={tier.name: tier.midpoint for tier in params.tiers},
    )


def _populate(
    company: CompanyState, staff: Sequence[EmployeeSpec], tasks: Sequence[TaskSpec]
) -> None:
    company.clients = [Client(spec) for spec in company.drawn]
    for spec in staff:
        company.hire(spec)
    for task in tasks:
        enter(company, task)


#: Fields that a new company takes over from the one before; all others are as founded.
_KEPT = frozenset(
    {"world", "params", "episode", "past", "scratchpad", "start", "replacement_seeds"}
)


def reopens(company: CompanyState, reason: str) -> bool:
    """Return whether a further episode follows one that ended for this reason."""
    return reason == "bankruptcy" and company.episode < company.params.episodes


def reopen(company: CompanyState) -> None:
    """Replace a bankrupt company by a new one in the world of the same seed."""
    company.past.append(PastEpisode(summary(company, "bankruptcy"), company.accounts))
    for task in company.active:
        # Its process, which waits for an event without callbacks, is never resumed; one that has
        # not started yet returns at once, because the task is cancelled.
        task.status = "cancelled"
        if task.wait is not None and task.wait.callbacks is not None:
            task.wait.callbacks.clear()
    new = found(company.world, company.params)
    for each in attrs.fields(CompanyState):
        if each.name not in _KEPT:
            setattr(company, each.name, getattr(new, each.name))
    company.episode += 1
    start_calendar(company.world, company)


def summary(company: CompanyState, ended: str) -> dict[str, Any]:
    """Return how the present episode ended: plain values, money in cents."""
    return {
        "episode": company.episode,
        "ended": ended,
        "ended_on": company.clock.text(company.last_tick),
        "final_funds_cents": company.funds_at(company.last_tick),
        "turns": company.turns,
        "commands": company.counts.total() - company.counts["EndTurn"],
        "tasks_accepted": len(company.owned),
        "tasks_succeeded": sum(client.succeeded for client in company.clients),
        "tasks_failed": sum(client.failed for client in company.clients),
    }
