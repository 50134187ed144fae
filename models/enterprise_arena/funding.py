"""Funding requests: whether one is accepted, its outcome, and when it settles (SPEC section 8)."""

import math
from collections.abc import Generator, Sequence
from typing import Any, TypeAlias

from attrs import evolve
from simpy import Event
from simpy.resources.resource import Request as SlotRequest

from desim.errors import possible
from desim.short_repr import short_repr
from models.enterprise_arena.books import DRAW_NOTE, ISSUE_SHARES, cents, dollars
from models.enterprise_arena.desk import (
    DEBT,
    DEBT_DELIVERED,
    DECLINED,
    EQUITY,
    EQUITY_DELIVERED,
    INSTRUMENTS,
    CommandReply,
)
from models.enterprise_arena.lender import FundingRequest, Lender, TermLoan
from models.enterprise_arena.params import SETTLE, ArenaParams, Raising

Process: TypeAlias = Generator[Event, Any, None]

#: The name of the officer's action.
ACTION = "fund_raising_request"

#: Why a request is refused while another is under way.
PENDING = "a funding request is under way; one may be pending at a time"


# -- odds and rates --------------------------------------------------------------------------------


def equity_chance(terms: Raising, vix: float) -> float:
    """Return the chance of a first equity round, 0 to 1.

    1 / (1 + exp((VIX - midpoint) / scale)) (SPEC section 8.1).
    """
    return 1 / (1 + math.exp((vix - terms.equity_midpoint) / terms.equity_scale))


def debt_chance(terms: Raising, sofr: float, spread: float) -> float:
    """Return the chance of debt without leverage, 0 to 1; rates are in percent.

    base - slope x SOFR - slope x (Baa spread above the pivot), clipped (SPEC section 8.1).
    """
    wide = max(0.0, spread - terms.debt_spread_pivot)
    chance = terms.debt_base - terms.debt_sofr_slope * sofr - terms.debt_spread_slope * wide
    low, high = terms.debt_range
    return min(max(chance, low), high)


def leverage_factor(terms: Raising, leverage: float) -> float:
    """Return the factor of leverage on the chance of debt, 0 to 1 (SPEC section 8.1)."""
    return max(0.0, 1 - terms.leverage_penalty * max(0.0, leverage - terms.leverage_threshold))


def contract_rate(lender: Lender) -> float:
    """Return the rate of a note drawn now, a share a year.

    Two-year Treasury + Baa yield + spread x (leverage above the threshold) (SPEC section 8.4).
    """
    params, macro, month = lender.params, lender.macro, lender.month
    base = (macro.tsy2y[month] + macro.baa[month]) / 100
    return base + params.leverage_spread * max(0.0, lender.leverage - params.leverage_threshold)


# -- a request -------------------------------------------------------------------------------------


def submit(lender: Lender, kind: str, amount: float) -> CommandReply:
    """Accept a request and start its process, or refuse it.

    A refused one uses the month, but for the first `free_refusals` of the month.
    """
    fault = _fault(lender, kind, amount)
    if fault:
        return _refused(lender, kind, amount, fault)
    chance, own = _chance(lender, kind)
    odds = {"p_macro": chance, "m_company": own, "p_adj": chance * own}
    lender.request = request = _outcome(lender, kind, amount, chance * own)
    rate = contract_rate(lender) if kind == DEBT else None
    submitted = _event(lender, "submitted", type=kind, requested=amount, **odds)
    lender.events.append({**submitted, "indicative_rate": rate})
    lender.world.log.info("request submitted", instrument=kind, amount=amount, rate=rate)
    lender.world.process(raising(lender, request, lender.slot.request()))
    out = {"status": "submitted", "type": kind, "amount": amount}
    rated = {} if rate is None else {"indicative_rate": rate}
    return CommandReply(ACTION, ok=True, out={**out, **rated})


def _refused(lender: Lender, kind: str, amount: float, fault: str) -> CommandReply:
    event = "rejected_pending" if lender.slot.count else "rejected_malformed"
    lender.events.append(_event(lender, event, type=kind, amount=amount))
    lender.counts["refused"] += 1
    lender.refusals += 1
    if lender.refusals <= lender.params.free_refusals:
        lender.counts["free_refusals"] += 1
        fault = f"{fault}; the month goes on"
    return CommandReply(ACTION, ok=False, out=fault)


def raising(lender: Lender, request: FundingRequest, place: SlotRequest) -> Process:
    """Hold the only place for a request until its outcome is due, then settle it."""
    with place:
        lender.outcome = lender.world.timeout(request.delay, rank=SETTLE)
        yield lender.outcome
        request = lender.request or request  # a redraw may have replaced it
        lender.request = lender.outcome = None
        settle(lender, request)


def settle(lender: Lender, request: FundingRequest) -> None:
    """Post the outcome of a request and notify the officer."""
    if not request.succeeds:
        _notify(lender, DECLINED, type=request.type)
        return
    lender.counts[request.type] += 1
    lender.raised[request.type] += request.received
    if request.type == EQUITY:
        _issue(lender, request)
    else:
        _draw(lender, request)


def _issue(lender: Lender, request: FundingRequest) -> None:
    amount = dollars(request.received)
    issued = amount / lender.params.share_price
    lender.books.post(lender.month, ISSUE_SHARES, request.received)
    lender.rounds += 1
    lender.shares += issued
    _notify(lender, EQUITY_DELIVERED, amount=amount, shares_issued=issued)


def _draw(lender: Lender, request: FundingRequest) -> None:
    # The contract rate uses the leverage just before the draw (SPEC section 8.4).
    rate, leverage, received = contract_rate(lender), lender.leverage, request.received
    lender.books.post(lender.month, DRAW_NOTE, received)
    lender.drawn += 1
    lender.term_loans.append(TermLoan(lender.drawn, received, received, rate, lender.month))
    if not lender.drawing.triggered:
        lender.drawing.succeed()
    hidden = {"leverage_at_settlement": leverage}
    _notify(lender, DEBT_DELIVERED, hidden, amount=dollars(received), contract_rate=rate)


def _fault(lender: Lender, kind: str, amount: float) -> str:
    if lender.slot.count:
        return PENDING
    if kind not in INSTRUMENTS:
        return f"type={short_repr(kind)} was given; {possible(kind, INSTRUMENTS)}"
    most = lender.params.largest_request
    if 0 < amount <= most:
        return ""
    return f"amount={short_repr(amount)} was given; it is above 0 and at most {most:,.0f} dollars"


def _chance(lender: Lender, kind: str) -> tuple[float, float]:
    params, macro, month = lender.params, lender.macro, lender.month
    if kind == EQUITY:
        return equity_chance(params, macro.vix_avg[month]), params.round_decay**lender.rounds
    chance = debt_chance(params, macro.sofr[month], macro.baa_10y_spread[month])
    return chance, leverage_factor(params, lender.leverage)


def _outcome(lender: Lender, kind: str, amount: float, chance: float) -> FundingRequest:
    params, month = lender.params, lender.month
    if month in lender.forced:
        succeeds, fill, delay = lender.forced[month]
    else:
        succeeds, fill, delay = _drawn(params, lender.draws[month], chance, params.delay_range)
    most = None
    if params.max_raise_multiple is not None:
        most = max(0, round(params.max_raise_multiple * lender.books.equity))
    received = _limited(fill * amount, most)
    return FundingRequest(kind, amount, month, succeeds, received, delay, chance, most)


def redraw(lender: Lender) -> None:
    """Draw the outcome of the request under way again, unless the parameters force it.

    The odds are those of its month. Of its duration it is known that it is longer than the time
    since then.
    """
    request, params = lender.request, lender.params
    if request is None or request.month in lender.forced:
        return
    assert lender.outcome is not None
    since = lender.month - request.month
    soonest, latest = params.delay_range
    # A part of a group may be redrawn on the very tick of an outcome that has not been processed.
    left = (max(soonest, since + 1), latest) if since < latest else (request.delay, request.delay)
    draws = lender.world.stream("outcome").random(3).tolist()
    succeeds, fill, delay = _drawn(params, draws, request.chance, left)
    received = _limited(fill * request.amount, request.most)
    lender.request = evolve(request, succeeds=succeeds, received=received, delay=delay)
    lender.outcome = lender.world.moved(lender.outcome, delay - since, rank=SETTLE)


def _drawn(
    params: ArenaParams, draws: Sequence[float], chance: float, delays: tuple[int, int]
) -> tuple[bool, float, int]:
    luck, share, wait = draws
    low, high = params.fill_range
    soonest, latest = delays
    return luck < chance, low + (high - low) * share, soonest + int((latest - soonest + 1) * wait)


def _limited(amount: float, most: int | None) -> int:
    received = cents(amount)
    return received if most is None else min(received, most)


def _notify(lender: Lender, event: str, hidden: dict[str, Any] | None = None, **shown: Any) -> None:
    outcome = _event(lender, event, **shown)
    lender.world.log.info("settlement", outcome=event, **shown)
    lender.notifications.append(outcome)
    lender.events.append({**outcome, **(hidden or {})})


def _event(lender: Lender, event: str, **figures: Any) -> dict[str, Any]:
    return {"event": event, "month": lender.month, **figures}
