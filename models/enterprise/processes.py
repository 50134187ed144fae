"""The group's own processes: month ends, and the departments' losses of projects and clients.

They run after all events of the parts at an instant, in this order: losses, month end, balance.
"""

import datetime as dt
from collections.abc import Callable, Generator
from functools import partial
from typing import Any

from simpy import Process as SimPyProcess

from desim import World
from desim.composition import AFTER_PARTS, Group
from desim.core.calendar import month_start
from models.enterprise.controller import Department, GroupPosition
from models.enterprise.params import CONTROLLER, TREASURY, EnterpriseParams
from models.enterprise.pool import balance, close_unpaid, execute
from models.enterprise.state import Company, Limits, dollars

Process = Generator[Any, Any, None]
Lose = Callable[[Any], object]
_LOSS, _MONTH_END, _BALANCE = AFTER_PARTS, AFTER_PARTS + 1, AFTER_PARTS + 2


def begin(world: World, params: EnterpriseParams, group: Group) -> Company:
    """Start the group's processes on parts that have begun."""
    limits = {name: Limits(cash_before=group.cash(name)) for name in group.parts}
    del limits[TREASURY]
    company = Company(params, group, limits)
    company.consolidate()
    world.process(month_ends(world, company))
    if params.consultancy is not None and params.lost_project:
        lose = params.consultancy.lose_project
        world.process(loss(world, company, "consultancy", params.lost_project, lose))
    if params.startup is not None and params.lost_client:
        lose = partial(_lose_best_client, params.startup)
        world.process(loss(world, company, "startup", params.lost_client, lose))
    return company


def month_ends(world: World, company: Company) -> Process:
    """At every month's end: ask the controller, balance the pool, close insolvent departments."""
    controller: SimPyProcess | None = None
    for month in range(1, company.params.months + 1):
        yield world.timeout(_until(company, month), rank=_MONTH_END)
        company.month = month
        company.consolidate()
        treasury = company.group.part(TREASURY)
        if treasury.world.ended and month < company.params.months:
            world.end(f"{TREASURY}: {treasury.ended}")
            return
        if CONTROLLER in world.seats and not company.params.thinking.takes_time:
            yield from decide(world, company)
        elif CONTROLLER in world.seats:
            # The month goes on without the controller, whose answer may belong to a later one.
            if controller is None or not controller.is_alive:
                controller = world.process(decide(world, company, before=_BALANCE))
            yield world.timeout(0, rank=_BALANCE)
        balance(company)
        close_unpaid(company)
        company.consolidate()
        world.log.info("month closed", month=month, net_worth=dollars(company.worths[-1]))
    world.end("horizon")


def decide(world: World, company: Company, before: int | None = None) -> Process:
    """Ask the controller for commands until the month may go on."""
    over = False
    while not over:
        command = yield world.ask(CONTROLLER, partial(position, company), before)
        over = execute(company, command)
        if company.reply:
            world.log.info("refused", role=CONTROLLER, command=command, why=company.reply)


def loss(world: World, company: Company, name: str, month: int, lose: Lose) -> Process:
    """Let a department lose something at the end of a month, unless it has ended."""
    yield world.timeout(_until(company, month), rank=_LOSS)
    if not company.group.part(name).world.ended:
        with company.group.at(name) as state:
            lose(state)


def _lose_best_client(startup: Any, state: Any) -> None:
    startup.lose_client(state, max(state.clients, key=lambda client: client.trust).name)


def _until(company: Company, month: int) -> int:
    end = month_start(company.group.clock.start.date(), month)
    return company.group.until(dt.datetime.combine(end, dt.time()))


def position(company: Company) -> GroupPosition:
    """Return the group's position now."""
    return GroupPosition(
        month=company.month,
        months=company.params.months,
        grace=company.params.grace,
        treasury_cash=dollars(company.group.cash(TREASURY)),
        notes=dollars(company.group.part(TREASURY).state.debt),
        net_worth=dollars(company.worths[-1]),
        departments=tuple(_department(company, name) for name in company.limits),
        reply=company.reply,
    )


def _department(company: Company, name: str) -> Department:
    limits, cash = company.limits[name], company.group.cash(name)
    return Department(
        name=name,
        cash=dollars(cash),
        cash_change=dollars(cash - limits.cash_before),
        floor=dollars(limits.floor),
        ceiling=None if limits.ceiling is None else dollars(limits.ceiling),
        owed_to_treasury=dollars(company.owed(name)),
        unpaid=dollars(company.unpaid(name)),
        months_unpaid=limits.months_unpaid,
        status=company.status(name),
    )
