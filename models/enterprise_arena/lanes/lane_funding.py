"""Funding on arrays: which requests are accepted, what comes of them, and their settlement.

The rules are those of `officer/funding.py`; chances and base rates of a month come from `Figures`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen

from desim.core.streams import generator
from desim.lanes.lane_columns import Array
from models.enterprise_arena.lanes.decimals import cents
from models.enterprise_arena.lanes.lane_draws import Luck
from models.enterprise_arena.lanes.lane_state import (
    DEBT_PLACE,
    DRAWN,
    EQUITY_PLACE,
    ISSUED,
    NOT_RAISED,
    RUNNING,
    LaneState,
    Notice,
    Request,
)
from models.enterprise_arena.lanes.notes_owed import drawn_note
from models.enterprise_arena.params import ArenaParams


def no_request(lanes: int) -> Request:
    """Return requests of lanes without one."""
    whole, real = np.zeros(lanes, dtype=np.int64), np.zeros(lanes)
    return Request(whole, whole, real, whole, whole != 0, real, real, real + np.inf)


def no_notice(lanes: int) -> Notice:
    """Return the notice of a month without an outcome."""
    whole, real = np.zeros(lanes, dtype=np.int64), np.zeros(lanes)
    return Notice(whole, whole, real, real)


@frozen(eq=False)
class Terms:
    """The terms of funding as arrays.

    Attributes:
        params: The parameters.
        decay: Factor on the chance of equity by rounds closed.
        is_forced: Whether the outcome is a parameter, by month of the request.
        succeeds: The outcome where it is forced.
        fill: The share of the amount that arrives where it is forced.
        delay: Months to the outcome where it is forced.
    """

    params: ArenaParams
    decay: Array
    is_forced: Array
    succeeds: Array
    fill: Array
    delay: Array

    def excess(self, state: LaneState) -> Array:
        """Return the leverage above the threshold, at least 0."""
        leverage = state.money.debt / np.maximum(state.money.equity, 100)
        return np.maximum(0.0, leverage - self.params.leverage_threshold)


def terms_of(params: ArenaParams) -> Terms:
    """Return the terms of funding as arrays."""
    horizon, forced = params.horizon, params.forced
    rows = [forced.get(month, (False, 0.0, 1)) for month in range(horizon)]
    return Terms(
        params,
        np.array([params.round_decay**rounds for rounds in range(horizon + 1)]),
        np.array([month in forced for month in range(horizon)]),
        np.array([row[0] for row in rows]),
        np.array([float(row[1]) for row in rows]),
        # A delay beyond the horizon is as good as any other.
        np.array([min(row[2], 2 * horizon) for row in rows]),
    )


def submitted(
    terms: Terms, luck: Luck, state: LaneState, now: "Array | int", given: tuple[Array, Array]
) -> tuple[Request, Array]:
    """Return the requests that all lanes would have under way, and the indicative rates.

    Args:
        terms: The terms of funding.
        luck: The draws.
        state: The state before.
        now: The present month: one for all lanes, or of each.
        given: Instrument and amount in dollars.
    """
    params, (instrument, amount) = terms.params, given
    excess = terms.excess(state)
    is_equity = instrument == EQUITY_PLACE
    by_equity = at(luck.economy.equity_chance, now) * terms.decay[state.tallies.equity]
    own = np.maximum(0.0, 1 - params.leverage_penalty * excess)
    chance = np.where(is_equity, by_equity, at(luck.economy.debt_chance, now) * own)
    fortune = [at(table, now) for table in luck.draws]
    succeeds, fill, delay = _outcome(params, fortune, chance, params.delay_range)
    if params.forced:
        forced = terms.is_forced[now]
        succeeds = np.where(forced, terms.succeeds[now], succeeds)
        fill = np.where(forced, terms.fill[now], fill)
        delay = np.where(forced, terms.delay[now], delay)
    if params.max_raise_multiple is None:
        most = state.request.most
    else:
        most = np.maximum(0.0, np.rint(params.max_raise_multiple * state.money.equity))
    received = np.minimum(cents(fill * amount), most)
    request = Request(
        state.month + delay, instrument, amount, state.month, succeeds, received, chance, most
    )
    return request, at(luck.economy.base_rate, now) + params.leverage_spread * excess


def _outcome(
    params: ArenaParams, fortune: Any, chance: Array, delays: tuple[Array, Array]
) -> tuple[Array, Array, Array]:
    """Return success, filled share and months to the outcome from three uniform draws."""
    luck, share, wait = fortune
    low, high = params.fill_range
    soonest, latest = delays
    months = soonest + ((latest - soonest + 1) * wait).astype(np.int64)
    return luck < chance, low + (high - low) * share, months


def at(table: Array, now: "Array | int") -> Array:
    """Return the row of a month from a table of months and lanes, or the entry of each lane."""
    if isinstance(now, int):
        return table[now]
    return table[now, np.arange(len(now)) if table.shape[1] > 1 else 0]


def settled(terms: Terms, luck: Luck, state: LaneState, now: "Array | int") -> LaneState:
    """Return the state after the outcomes that are due in the present month (J1 and J2)."""
    request, money, tallies = state.request, state.money, state.tallies
    due = (request.due == state.month) & (state.ended == RUNNING)
    if not np.count_nonzero(due):
        return state._replace(notice=no_notice(len(due)))
    wins = due & request.succeeds
    issues = wins & (request.instrument == EQUITY_PLACE)
    draws = wins & (request.instrument == DEBT_PLACE)
    issued, lent = issues * request.received, draws * request.received
    rate, notes = np.zeros(len(due)), state.notes
    if np.count_nonzero(draws):
        # The contract rate uses the leverage just before the draw (SPEC section 8.4).
        spread = terms.params.leverage_spread * terms.excess(state)
        rate = at(luck.economy.base_rate, now) + spread
        term = terms.params.note_term_months
        notes = drawn_note(notes, draws & (lent > 0), lent, rate, state.month, term)
    event = ISSUED * issues + DRAWN * draws + NOT_RAISED * (due & ~request.succeeds)
    return state._replace(
        money=money._replace(
            cash=money.cash + issued + lent,
            equity=money.equity + issued,
            debt=money.debt + lent,
        ),
        notes=notes,
        request=request._replace(due=np.where(due, 0, request.due)),
        tallies=tallies._replace(
            equity=tallies.equity + issues,
            debt=tallies.debt + draws,
            equity_raised=tallies.equity_raised + issued,
            debt_raised=tallies.debt_raised + lent,
        ),
        notice=Notice(event, request.instrument, request.received, rate),
    )


def redrawn(terms: Terms, request: Request, month: Array, seeds: Sequence[int]) -> Request:
    """Return the requests under way with their outcomes drawn again, unless they are forced.

    The odds are those of their month; of their duration it is known that it is longer than the time
    since then.

    Args:
        terms: The terms of funding.
        request: The requests.
        month: The present month.
        seeds: The seed of the streams of each lane.
    """
    horizon = terms.params.horizon
    forced = terms.is_forced[np.minimum(request.month, horizon - 1)]
    again = (request.due > 0) & ~forced & (month < horizon)
    fortune = np.zeros((3, len(seeds)))
    for lane in np.flatnonzero(again).tolist():
        fortune[:, lane] = generator(seeds[lane], "outcome").random(3)
    since, delay = month - request.month, request.due - request.month
    soonest, latest = terms.params.delay_range
    known = since >= latest
    left = (
        np.where(known, delay, np.maximum(soonest, since + 1)),
        np.where(known, delay, latest),
    )
    succeeds, fill, wait = _outcome(terms.params, fortune, request.chance, left)
    received = np.minimum(cents(fill * request.amount), request.most)
    return request._replace(
        due=np.where(again, request.month + wait, request.due),
        succeeds=np.where(again, succeeds, request.succeeds),
        received=np.where(again, received, request.received),
    )
