"""Funding: what a request is answered, what comes of it, and when (SPEC section 8)."""

import math
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from desim.errors import possible
from models.enterprise_arena.company import Company, Request, TermLoan, cents, dollars
from models.enterprise_arena.observation import Reply
from models.enterprise_arena.ranks import SETTLE
from models.enterprise_arena.rules import Raising

if TYPE_CHECKING:
    from simpy.events import Event
    from simpy.resources.resource import Request as Claim

__all__ = ["contract_rate", "debt_chance", "equity_chance", "leverage_factor", "raising", "submit"]

Process = Generator["Event", Any, None]

#: What the officer's action is called.
ACTION = "fund_raising_request"
TYPES = ("equity", "debt")


# -- odds and rates --------------------------------------------------------------------------------


def equity_chance(terms: Raising, vix: float) -> float:
    """Return the chance of a first equity round: logistic in implied volatility."""
    return 1 / (1 + math.exp((vix - terms.equity_midpoint) / terms.equity_scale))


def debt_chance(terms: Raising, sofr: float, spread: float) -> float:
    """Return the chance of debt without leverage: less where money is dear or spreads wide."""
    wide = max(0.0, spread - terms.debt_spread_pivot)
    chance = terms.debt_base - terms.debt_sofr_slope * sofr - terms.debt_spread_slope * wide
    low, high = terms.debt_range
    return min(max(chance, low), high)


def leverage_factor(terms: Raising, leverage: float) -> float:
    """Return the share of the chance of debt that leverage leaves."""
    return max(0.0, 1 - terms.leverage_penalty * max(0.0, leverage - terms.leverage_threshold))


def contract_rate(company: Company) -> float:
    """Return the rate of a note drawn now, a share a year: base rate and leverage spread."""
    game, macro, month = company.game, company.macro, company.month
    base = (macro.tsy2y[month] + macro.baa[month]) / 100
    return base + game.leverage_spread * max(0.0, company.leverage - game.leverage_threshold)


# -- a request -------------------------------------------------------------------------------------


def submit(company: Company, kind: str, amount: float) -> Reply:
    """Take a request, or refuse it; the month is used either way."""
    fault = _fault(company, kind, amount)
    if fault:
        event = "rejected_pending" if company.slot.count else "rejected_malformed"
        company.events.append(_told(company, event, type=kind, amount=amount))
        company.counts["refused"] += 1
        return Reply(ACTION, ok=False, out=fault)
    odds, own = _chance(company, kind)
    company.request = request = _outcome(company, kind, amount, odds * own)
    rate = contract_rate(company) if kind == "debt" else None
    company.events.append(
        _told(
            company,
            "submitted",
            type=kind,
            requested=amount,
            p_macro=odds,
            m_company=own,
            p_adj=odds * own,
            indicative_rate=rate,
        )
    )
    company.world.process(raising(company, request, company.slot.request()))
    out = {"status": "submitted", "type": kind, "amount": amount}
    return Reply(ACTION, ok=True, out=out if rate is None else {**out, "indicative_rate": rate})


def raising(company: Company, request: Request, claim: "Claim") -> Process:
    """Hold the one place for a request until its outcome is known, then settle it."""
    with claim:
        yield company.world.timeout(request.delay, rank=SETTLE)
        company.request = None
        settle(company, request)


def settle(company: Company, request: Request) -> None:
    """Book what comes of a request and tell it."""
    if not request.succeeds:
        _announce(company, "declined", type=request.type)
        return
    company.counts[request.type] += 1
    company.raised[request.type] += request.received
    if request.type == "equity":
        _issue(company, request)
    else:
        _draw(company, request)


def _issue(company: Company, request: Request) -> None:
    amount = dollars(request.received)
    issued = amount / company.game.share_price
    company.books.issue(company.month, request.received)
    company.rounds += 1
    company.shares += issued
    _announce(company, "equity_delivered", amount=amount, shares_issued=issued)


def _draw(company: Company, request: Request) -> None:
    """Fix the contract rate with the leverage just before the draw (SPEC section 8.4)."""
    rate, received = contract_rate(company), request.received
    leverage = company.leverage
    company.books.draw(company.month, received)
    company.drawn += 1
    company.term_loans.append(TermLoan(company.drawn, received, received, rate, company.month))
    if not company.drawing.triggered:
        company.drawing.succeed()
    _announce(
        company,
        "debt_delivered",
        {"leverage_at_settlement": leverage},
        amount=dollars(received),
        contract_rate=rate,
    )


def _fault(company: Company, kind: str, amount: float) -> str:
    """Say why a request cannot be taken; empty where it can."""
    if company.slot.count:
        return "a funding request is under way; one may be pending at a time"
    if kind not in TYPES:
        return f"type={kind!r} was given; {possible(kind, TYPES)}"
    most = company.game.largest_request
    if not 0 < amount <= most:
        return f"amount={amount!r} was given; it is above 0 and at most {most:,.0f} dollars"
    return ""


def _chance(company: Company, kind: str) -> tuple[float, float]:
    """Return the market's odds and the company's own factor, both of the present month."""
    game, macro, month = company.game, company.macro, company.month
    if kind == "equity":
        return equity_chance(game, macro.vix_avg[month]), game.round_decay**company.rounds
    odds = debt_chance(game, macro.sofr[month], macro.baa_10y_spread[month])
    return odds, leverage_factor(game, company.leverage)


def _outcome(company: Company, kind: str, amount: float, chance: float) -> Request:
    game, month = company.game, company.month
    if month in company.forced:
        succeeds, fill, delay = company.forced[month]
    else:
        luck, share, wait = company.draws[month]
        low, high = game.fill_range
        soonest, latest = game.delay_range
        succeeds, fill = luck < chance, low + (high - low) * share
        delay = soonest + int((latest - soonest + 1) * wait)
    received = cents(fill * amount)
    if game.max_raise_multiple is not None:
        received = min(received, max(0, round(game.max_raise_multiple * company.books.equity)))
    return Request(kind, amount, month, succeeds, received, delay)


def _announce(
    company: Company, event: str, hidden: dict[str, Any] | None = None, **shown: Any
) -> None:
    """Tell the officer, and note what the officer is not told."""
    told = _told(company, event, **shown)
    company.notifications.append(told)
    company.events.append({**told, **(hidden or {})})


def _told(company: Company, event: str, **figures: Any) -> dict[str, Any]:
    return {"event": event, "month": company.month, **figures}
