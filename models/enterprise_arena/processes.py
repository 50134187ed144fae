"""The processes: draws before month 0, then months, year ends, paydays and the service of notes.

Each process waits with the rank of its step, so that the order in which processes are started does
not matter. The process of a funding request is in `funding.py`.

Source: SPEC sections 2, 5 and 6.
"""

from collections.abc import Generator
from functools import partial
from itertools import count
from math import fsum
from typing import Any, TypeAlias

from simpy import Event, Resource
from simpy import Process as SimPyProcess

from desim import World
from models.enterprise_arena import funding, regimes, tools
from models.enterprise_arena.books import (
    ACCRUE_INTEREST,
    ACCRUE_TAX,
    ALLOWANCE,
    CASH,
    INTEREST_RECEIVABLE,
    LOANS,
    ORIGINATE,
    PAID_IN_CAPITAL,
    PAY_INTEREST,
    PAY_STAFF,
    PAY_TAX,
    PAY_VENDORS,
    PAYABLES,
    PRINCIPAL_RECEIVABLE,
    REPAY_NOTES,
    TAX_PAYABLE,
    Books,
    cents,
    dollars,
)
from models.enterprise_arena.lender import BANKRUPT, CFO, SURVIVED, Indicators, Lender
from models.enterprise_arena.macro import Macro
from models.enterprise_arena.params import (
    MONTH_END,
    OPEN,
    OPERATE,
    PAYDAY,
    SERVICE,
    YEAR,
    YEAR_END,
    ArenaParams,
)

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
    observe = partial(tools.observe, lender)
    while True:
        # Asked before all events of rank OPERATE and above, so that these follow the action.
        command = yield world.ask(CFO, observe, before=OPERATE)
        is_over = tools.execute(lender, command)
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
    """J10 to J12: pay staff and vendors every month, and adjust the allowance."""
    params, books = lender.params, lender.books
    yield world.timeout(0, rank=PAYDAY)
    for month in count():
        books.post(month, PAY_STAFF, lender.payroll)
        books.post(month, PAY_VENDORS, lender.payables_due)
        books.provide(month, params.allowance_on_loans, params.allowance_on_receivables)
        if world.log:
            vendors = dollars(lender.payables_due)
            world.log.info("payday", payroll=dollars(lender.payroll), vendors=vendors)
        yield world.timeout(1, rank=PAYDAY)


def note_service(world: World, lender: Lender) -> Process:
    """J13 and J14: pay interest, then an instalment of each note, while one is outstanding."""
    while True:
        if not lender.term_loans:
            lender.drawing = world.event()
            yield lender.drawing
            yield world.timeout(0, rank=SERVICE)
        loans, books, month = lender.term_loans, lender.books, lender.month
        interest = round(fsum([loan.balance * loan.rate / 12 for loan in loans]))
        books.post(month, ACCRUE_INTEREST, interest)
        books.post(month, PAY_INTEREST, interest)
        term = lender.params.note_term_months
        books.post(month, REPAY_NOTES, sum([loan.repay(month, term) for loan in loans]))
        lender.term_loans = [loan for loan in loans if loan.balance]
        world.log.info("notes served", notes=len(lender.term_loans))
        yield world.timeout(1, rank=SERVICE)


# -- a month's operations --------------------------------------------------------------------------


def operate(lender: Lender, month: int) -> None:
    """Post J3 to J9 of the present month, and set the payroll and payables of its payday."""
    params, books = lender.params, lender.books
    now = indicators(lender, month)
    lender.indicators.append(now)
    lender.payables_due = -books.held[PAYABLES]
    books.collect(month, now.collection_rate, params.receivable_chargeoff_share)
    books.charge_off_loans(month, chargeoff_rate(params, lender.macro.unrate[month]))
    revenue = books.bill(month, params.amortisation_rate, lender.lending_rate)
    lend(lender, month, now.growth)
    earned = dollars(revenue)
    expense = params.overhead + earned * (now.gross_margin - now.ebitda_margin) / 100
    lender.payroll = cents(expense * params.payroll_share_of_opex)
    cost = cents(earned * (1 - now.gross_margin / 100))
    books.accrue_vendors(month, cost, cents(expense) - lender.payroll)


def indicators(lender: Lender, month: int) -> Indicators:
    """Return the industry's figures of a month plus the lender's noise, clipped to their ranges."""
    params, macro = lender.params, lender.macro
    e1, e2, e3, e4 = lender.noise[month]
    gross = _clipped(macro.ind_gross_margin[month] + e1, params.gross_margin_range)
    ebitda = _clipped(macro.ind_ebitda_margin[month] + e2, params.ebitda_margin_range)
    rate = _clipped(params.collection_base + e4, params.collection_range)
    return Indicators(gross, min(ebitda, gross), lender.growth[month] + e3, rate)


def _clipped(value: float, between: tuple[float, float]) -> float:
    low, high = between
    return low if value < low else min(value, high)


def chargeoff_rate(params: ArenaParams, unemployment: float) -> float:
    """Return the share of the loans that defaults in a year.

    base x max(floor, 1 + slope x (unemployment - pivot)), unemployment in percent (SPEC section 6).
    """
    gap = unemployment - params.chargeoff_unemployment_pivot
    return params.chargeoff_base_annual * max(
        params.chargeoff_floor, 1 + params.chargeoff_unemployment_slope * gap
    )


def rate_of_new_loans(params: ArenaParams, macro: Macro, month: int) -> float:
    """Return the yield of loans made in a month, a share a year.

    interest_bearing_share x (two-year Treasury + Baa yield) (SPEC section 6).
    """
    return params.interest_bearing_share * (macro.tsy2y[month] + macro.baa[month]) / 100


def lend(lender: Lender, month: int, growth: float) -> None:
    """J8: pay out loans to new borrowers, and blend their rate into the yield of all loans."""
    before = dollars(lender.books.held[LOANS])
    lent = cents(max(0.0, growth / 100 * lender.users) * lender.params.average_loan)
    lender.books.post(month, ORIGINATE, lent)
    lender.users = borrowers(lender.users, growth)
    rate = rate_of_new_loans(lender.params, lender.macro, month)
    added = dollars(lent)
    if after := before + added:
        lender.lending_rate = (lender.lending_rate * before + rate * added) / after


def borrowers(before: float, growth: float) -> float:
    """Return the borrowers after a month of *growth* percent (SPEC section 6, J8).

    They are at least 1, or as many as before where those are fewer: 0 stay 0.
    """
    return max(min(1.0, before), before * (1 + growth / 100))


def settle_tax(lender: Lender, month: int) -> None:
    """J15 and J16: pay last month's tax, accrue this month's after losses carried forward."""
    books = lender.books
    books.post(month, PAY_TAX, -books.held[TAX_PAYABLE])
    to_date = books.pretax
    # The accounts of the year to date are closed in January, so it starts from zero.
    income = to_date - (lender.pretax_to_date if month % YEAR else 0)
    lender.pretax_to_date = to_date
    if income < 0:
        lender.loss_carryforward -= income
        return
    used = min(income, lender.loss_carryforward)
    lender.loss_carryforward -= used
    books.post(month, ACCRUE_TAX, round(lender.params.tax_rate * (income - used)))


# -- before month 0 --------------------------------------------------------------------------------


def _founded(world: World, params: ArenaParams) -> Lender:
    # Everything is drawn for all months at once, so that no decision shifts a later month's draws.
    path = None
    if params.history == "regimes":
        path = _switching(params).draw(world.stream("regimes"), params.horizon)
    macro = params.table if path is None else path.macro
    cash = cents(params.opening_cash)
    return Lender(
        world=world,
        params=params,
        macro=macro,
        path=path,
        growth=getattr(macro, params.growth_column),
        books=Books(opening_balances(params)),
        noise=_noise(world, params),
        draws=_luck(world, params),
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


def redraw(world: World, lender: Lender) -> None:
    """Draw again the noise and requests not yet used, and the macro figures not yet published.

    The macro figures of the present month are published before its decision. Its noise has no
    effect before the month is operated.
    """
    params, used = lender.params, lender.months_closed
    lender.noise[used:] = _noise(world, params)[used:]
    lender.draws[used:] = _luck(world, params)[used:]
    if lender.path is not None:
        generator = world.stream("regimes")
        lender.follow(_switching(params).draw_again(generator, lender.path, lender.month))
    funding.redraw(lender)


def _switching(params: ArenaParams) -> regimes.Switching:
    return regimes.fit(params.table, params.growth_column)


def _noise(world: World, params: ArenaParams) -> list[list[float]]:
    deviates = world.stream("noise").standard_normal((params.horizon, 4))
    drawn: list[list[float]] = (deviates * params.sigmas).tolist()
    return drawn


def _luck(world: World, params: ArenaParams) -> list[list[float]]:
    drawn: list[list[float]] = world.stream("funding").random((params.horizon, 3)).tolist()
    return drawn
