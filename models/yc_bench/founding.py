"""The founding of a company: its world is drawn or taken from a file, and its calendar starts."""

from collections.abc import Sequence

from desim import World
from models.yc_bench.accounts import CompanyAccounts
from models.yc_bench.clock import CompanyClock
from models.yc_bench.entities import Client
from models.yc_bench.params import YCBenchParams
from models.yc_bench.processes import horizon, paydays
from models.yc_bench.rules.decimals import stored
from models.yc_bench.rules.draw_market import draw_market
from models.yc_bench.rules.draw_people import draw_clients, draw_employees
from models.yc_bench.rules.specs import DOMAINS, EmployeeSpec, TaskSpec
from models.yc_bench.state import CompanyState, enter

__all__ = ["found", "start_calendar"]


def found(world: World, params: YCBenchParams) -> CompanyState:
    """Return a company that opens now; its paydays and its horizon are not on the calendar yet."""
    fixed, seed = params.fixed_world, world.seed
    if fixed is not None:
        company = _founded(world, params, fixed.funds_cents, fixed.initial_prestige)
        company.drawn, company.foreseen = fixed.clients, fixed.foreseen
        _populate(company, fixed.employees, fixed.tasks)
        return company
    company = _founded(world, params, params.initial_funds_cents, params.initial_prestige_level)
    company.drawn = draw_clients(params, seed)
    _populate(company, draw_employees(params, seed), draw_market(params, seed, company.drawn))
    return company


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
