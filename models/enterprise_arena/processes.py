"""The lender's processes: months, year ends, paydays, service of notes.

Each waits with the rank of its step (`ranks.py`), so that the order in which processes are started
does not matter. The process of a funding request is in `funding.py`.
"""

from collections.abc import Generator
from functools import partial
from itertools import count
from typing import Any, TypeAlias

from simpy import Event, Resource
from simpy import Process as SimPyProcess

from desim import World
from models.enterprise_arena.accounting.accounts import (
    ALLOWANCE,
    CASH,
    INTEREST_RECEIVABLE,
    LOANS,
    PAID_IN_CAPITAL,
    PAYABLES,
    PRINCIPAL_RECEIVABLE,
    TAX_PAYABLE,
    cents,
    dollars,
)
from models.enterprise_arena.accounting.books import Books
from models.enterprise_arena.accounting.operations import (
    operate,
    pay_payables,
    pay_staff,
    rate_of_new_loans,
    service_notes,
    settle_tax,
)
from models.enterprise_arena.economy import draws
from models.enterprise_arena.officer import desk
from models.enterprise_arena.officer.commands import execute
from models.enterprise_arena.params import ArenaParams
from models.enterprise_arena.ranks import (
    MONTH_END,
    OPEN,
    OPERATE,
    PAYDAY,
    SERVICE,
    YEAR_END,
)
from models.enterprise_arena.rules import YEAR
from models.enterprise_arena.state import BANKRUPT, CFO, SURVIVED, Lender

Process: TypeAlias = Generator[Event, Any, None]


def begin(world: World, params: ArenaParams) -> Lender:
    """Post the opening balances and start the processes."""
    lender = _founded(world, params)
    world.process(months(world, lender))
    world.process(year_ends(world, lender))
    world.process(paydays(world, lender))
    world.process(note_service(world, lender))
    return lender


def months(world: World, lender: Lender) -> Process:
    """Run month after month: test solvency, ask for commands, operate, tax, close (SPEC 2.1)."""
    officer: SimPyProcess | None = None
    for month in range(lender.params.horizon):
        yield world.timeout(min(month, 1), rank=OPEN)
        if lender.cash < 0:
            break
        lender.open_month()
        if lender.params.thinking.takes_time:
            # The month goes on without the officer, whose answer may belong to a later one.
            if officer is None or not officer.is_alive:
                officer = world.process(decide(world, lender))
            yield world.timeout(0, rank=OPERATE)
        else:
            yield from decide(world, lender)
        operate(lender, month)
        yield world.timeout(0, rank=MONTH_END)
        settle_tax(lender, month)
        lender.close_month()
        if world.log:
            cash, debt = dollars(lender.cash), dollars(lender.debt)
            world.log.info("month closed", month=month, cash=cash, debt=debt)
        if lender.cash < 0 and lender.params.solvency == "month_end":
            break
    # Closing cash decides; a request that is due after the last month is lost.
    if lender.cash < 0:
        world.log.info("bankruptcy", cash=dollars(lender.cash))
    world.end(BANKRUPT if lender.cash < 0 else SURVIVED)


def decide(world: World, lender: Lender) -> Process:
    """Ask the officer for commands until one ends the month."""
    observe = partial(desk.observe, lender)
    while True:
        # Asked before all events of rank OPERATE and above, so that these follow the action.
        command = yield world.ask(CFO, observe, before=OPERATE)
        is_over = execute(lender, command)
        if lender.reply is not None and not lender.reply.ok:
            world.log.info("refused", role=CFO, command=command, why=lender.reply.out)
        if is_over:
            return


def year_ends(world: World, lender: Lender) -> Process:
    """Close the income and expense accounts at the start of every January but the first."""
    while True:
        yield world.timeout(YEAR, rank=YEAR_END)
        lender.books.close_year(world.now)
        world.log.info("year closed")


def paydays(world: World, lender: Lender) -> Process:
    """Pay the staff and the payables to vendors on the payday of every month."""
    yield world.timeout(0, rank=PAYDAY)
    for month in count():
        pay_staff(lender, month)
        pay_payables(lender, month)
        if world.log:
            vendors = dollars(lender.payables_due)
            world.log.info("payday", payroll=dollars(lender.payroll), vendors=vendors)
        yield world.timeout(1, rank=PAYDAY)


def note_service(world: World, lender: Lender) -> Process:
    """Pay interest and principal of the notes, in every month with a note outstanding."""
    while True:
        if not lender.term_loans:
            lender.drawing = world.event()
            yield lender.drawing
            yield world.timeout(0, rank=SERVICE)
        service_notes(lender)
        world.log.info("notes served", notes=len(lender.term_loans))
        yield world.timeout(1, rank=SERVICE)


# -- before month 0 --------------------------------------------------------------------------------


def _founded(world: World, params: ArenaParams) -> Lender:
    path = draws.path(world, params)
    macro = params.table if path is None else path.macro
    cash = cents(params.opening_cash)
    return Lender(
        world=world,
        params=params,
        macro=macro,
        path=path,
        growth=getattr(macro, params.growth_column),
        books=Books(opening_balances(params)),
        noise=draws.noise(world, params),
        draws=draws.luck(world, params),
        forced=params.forced,
        users=float(params.opening_users),
        lending_rate=rate_of_new_loans(params, macro, 0),
        shares=float(params.opening_shares),
        loss_carryforward=cents(params.opening_loss_carryforward),
        slot=Resource(world, capacity=1),
        drawing=world.event(),
        peak=cash,
        low=cash,
    )


def opening_balances(params: ArenaParams) -> dict[str, int]:
    """Return the opening balances without retained earnings, cents (SPEC section 3)."""
    return {
        CASH: cents(params.opening_cash),
        LOANS: cents(params.opening_loans),
        PRINCIPAL_RECEIVABLE: cents(params.opening_principal_receivable),
        INTEREST_RECEIVABLE: cents(params.opening_interest_receivable),
        ALLOWANCE: -cents(params.opening_allowance),
        PAYABLES: -cents(params.opening_payables),
        TAX_PAYABLE: -cents(params.opening_tax_payable),
        PAID_IN_CAPITAL: -cents(params.opening_shares * params.share_price),
    }
