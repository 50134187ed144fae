"""The company's processes: the month, a year's end, a request for funding, notes, tax.

Each waits for the rank of its step (`ranks.py`), so that no order of scheduling matters. The
process of a request stands with the rest of funding in `funding.py`.
"""

from collections.abc import Generator
from functools import partial
from typing import TYPE_CHECKING, Any

from simpy import Resource

from desim import World
from models.enterprise_arena import desk, funding, regimes
from models.enterprise_arena.actions import Action, BookClosing, FundRaisingRequest
from models.enterprise_arena.company import CFO, Company, cents
from models.enterprise_arena.journal import Books
from models.enterprise_arena.macro import YEAR, Macro
from models.enterprise_arena.observation import Reply
from models.enterprise_arena.operations import operate, service_notes, settle_tax
from models.enterprise_arena.ranks import COMPILE, OPEN, OPERATE, SERVICE, TAX, YEAR_END

if TYPE_CHECKING:
    from simpy.events import Event

    from models.enterprise_arena.params import EnterpriseArena

__all__ = ["BANKRUPT", "SURVIVED", "begin"]

Process = Generator["Event", Any, None]

#: How an episode ends.
BANKRUPT, SURVIVED = "cash balance went negative", "horizon"


def begin(world: World, game: "EnterpriseArena") -> Company:
    """Open the books and start the processes."""
    company = _founded(world, game)
    world.process(months(world, company))
    world.process(year_ends(world, company))
    world.process(note_service(world, company))
    world.process(taxes(world, company))
    return company


def months(world: World, company: Company) -> Process:
    """Run month after month: test solvency, let the officer act, operate, close (SPEC 2.1)."""
    for month in range(company.game.horizon):
        yield world.timeout(min(month, 1), rank=OPEN)
        if company.cash < 0:
            world.end(BANKRUPT)
            return
        company.open_month()
        # The question waits for all that comes before OPERATE, so operations follow the answer.
        yield from act(world, company)
        operate(company)
        yield world.timeout(0, rank=COMPILE)
        company.close_month()
    # Closing cash decides: what was due after the last month is lost.
    world.end(BANKRUPT if company.cash < 0 else SURVIVED)


def act(world: World, company: Company) -> Process:
    """Ask the officer for tools and notes, as often as they want, and for the month's action."""
    see = partial(desk.see, company)
    while True:
        command = yield world.ask(CFO, see, before=OPERATE)
        company.reply = desk.answer(company, command)
        if company.reply is None:
            company.reply = take(company, command)
            return


def take(company: Company, action: Action) -> Reply:
    """Carry out the month's action; whatever else ends the month counts as a pass."""
    if type(action) is FundRaisingRequest:
        company.counts["requests"] += 1
        return funding.submit(company, action.type, action.amount)
    if type(action) is BookClosing:
        company.counts["closings"] += 1
        company.closings.append(company.month)
        return Reply("book_closing", ok=True, out={"closed": company.macro.label[company.month]})
    company.counts["passes"] += 1
    return Reply("pass", ok=True, out={})


def year_ends(world: World, company: Company) -> Process:
    """Close the income and expense accounts at the start of every January but the first."""
    while True:
        yield world.timeout(YEAR, rank=YEAR_END)
        company.books.close_year(world.now)


def note_service(world: World, company: Company) -> Process:
    """Pay interest and principal of the notes every month in which there are any."""
    while True:
        if not company.term_loans:
            company.drawing = world.event()
            yield company.drawing
            yield world.timeout(0, rank=SERVICE)
        service_notes(company)
        yield world.timeout(1, rank=SERVICE)


def taxes(world: World, company: Company) -> Process:
    """Tax each month's income, every month."""
    yield world.timeout(0, rank=TAX)
    before = 0
    while True:
        to_date = company.books.pretax
        settle_tax(company, to_date - before)
        # January starts from closed accounts.
        before = 0 if (world.now + 1) % YEAR == 0 else to_date
        yield world.timeout(1, rank=TAX)


# -- before month 0 --------------------------------------------------------------------------------


def _founded(world: World, game: "EnterpriseArena") -> Company:
    macro = _outside(world, game)
    offered = game.interest_bearing_share * (macro.tsy2y[0] + macro.baa[0]) / 100
    cash = cents(game.opening_cash)
    return Company(
        world=world,
        game=game,
        macro=macro,
        growth=getattr(macro, game.growth_column),
        books=Books(_opening(game)),
        noise=_noise(world, game),
        draws=world.stream("funding").random((game.horizon, 3)).tolist(),
        forced=game.forced,
        users=float(game.opening_users),
        lending_rate=offered,
        shares=float(game.opening_shares),
        loss_carryforward=cents(game.opening_loss_carryforward),
        slot=Resource(world, capacity=1),
        drawing=world.event(),
        peak=cash,
        low=cash,
    )


def _outside(world: World, game: "EnterpriseArena") -> Macro:
    if game.history == "regimes":
        drawn = world.stream("regimes")
        return regimes.draw(drawn, game.table, game.growth_column, game.horizon)
    return game.table


def _noise(world: World, game: "EnterpriseArena") -> list[list[float]]:
    """Draw all noise at once, by month, so that no decision shifts another month's."""
    sigmas = [
        game.sigma_gross_margin,
        game.sigma_ebitda_margin,
        game.sigma_growth,
        game.sigma_collection,
    ]
    if game.zero_noise:
        sigmas = [0.0] * 4
    drawn: list[list[float]] = (
        world.stream("noise").standard_normal((game.horizon, 4)) * sigmas
    ).tolist()
    return drawn


def _opening(game: "EnterpriseArena") -> dict[str, int]:
    """Return the opening balances but for retained earnings, cents (SPEC section 3)."""
    return {
        "1000": cents(game.opening_cash),
        "1100": cents(game.opening_loans),
        "1110": cents(game.opening_principal_receivable),
        "1120": cents(game.opening_interest_receivable),
        "1190": -cents(game.opening_allowance),
        "2000": -cents(game.opening_payables),
        "2100": -cents(game.opening_tax_payable),
        "3000": -cents(game.opening_shares * game.share_price),
    }
