"""Funding on arrays: requests with their outcomes, redraws of them, and their settlement.

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
    EQUITY_PLACE,
    ISSUED,
    NOT_RAISED,
    NOTE_DRAWN,
    RUNNING,
    LaneState,
    Notice,
    Request,
)
from models.enterprise_arena.lanes.notes_owed import new_note, with_notes
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

    def excess(self, debt: Array, equity: Array) -> Array:
        """Return the leverage above the threshold, at least 0; debt and book equity in cents."""
        leverage = debt / np.maximum(equity, 100)
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
    terms: Terms,
    luck: Luck,
    state: LaneState,
    now: "Array | int",
    rows: Array,
    given: tuple[Array, Array],
) -> tuple[Request, Array]:
    """Return the requests of some lanes with their outcomes, and the indicative rates.

    Args:
        terms: The terms of funding.
        luck: The draws.
        state: The state of all lanes.
        now: The present month: one for all lanes, or of each.
        rows: The numbers of the lanes whose requests are accepted.
        given: Their instruments, and their amounts in dollars.
    """
    params, (instrument, amount) = terms.params, given
    money, month, economy = state.money, state.month[rows], luck.economy
    equity = money.equity[rows]
    excess = terms.excess(money.debt[rows], equity)
    by_equity = at(economy.equity_chance, now, rows) * terms.decay[state.tallies.equity[rows]]
    own = np.maximum(0.0, 1 - params.leverage_penalty * excess)
    by_debt = at(economy.debt_chance, now, rows) * own
    chance = np.where(instrument == EQUITY_PLACE, by_equity, by_debt)
    fortune = [at(table, now, rows) for table in luck.draws]
    succeeds, fill, delay = _outcome(params, fortune, chance, params.delay_range)
    if params.forced:
        forced = terms.is_forced[month]
        succeeds = np.where(forced, terms.succeeds[month], succeeds)
        fill = np.where(forced, terms.fill[month], fill)
        delay = np.where(forced, terms.delay[month], delay)
    most = np.full(len(rows), np.inf)
    if params.max_raise_multiple is not None:
        most = np.maximum(0.0, np.rint(params.max_raise_multiple * equity))
    received = np.minimum(cents(fill * amount), most)
    request = Request(month + delay, instrument, amount, month, succeeds, received, chance, most)
    return request, at(economy.base_rate, now, rows) + params.leverage_spread * excess


def _outcome(
    params: ArenaParams, fortune: Any, chance: Array, delays: tuple[Array, Array]
) -> tuple[Array, Array, Array]:
    """Return success, filled share and months to the outcome from three uniform draws."""
    luck, share, wait = fortune
    low, high = params.fill_range
    soonest, latest = delays
    months = soonest + ((latest - soonest + 1) * wait).astype(np.int64)
    return luck < chance, low + (high - low) * share, months


def at(table: Array, now: "Array | int", rows: Array | None = None) -> Array:
    """Return the row of a month from a table of months and lanes, or the entry of each lane.

    Args:
        table: A table with a column for each lane, or one for all.
        now: The present month: one for all lanes, or of each.
        rows: The numbers of some lanes; None stands for all.
    """
    shared = table.shape[1] == 1
    if isinstance(now, int):
        return table[now] if shared or rows is None else table[now, rows]
    lanes = np.arange(len(now)) if rows is None else rows
    return table[now[lanes], 0 if shared else lanes]


def settled(
    terms: Terms, luck: Luck, state: LaneState, now: "Array | int", owed: Array
) -> LaneState:
    """Return the state after the outcomes that are due in the present month (J1 and J2).

    Args:
        terms: The terms of funding.
        luck: The draws.
        state: The state at the end of the month before.
        now: The present month: one for all lanes, or of each.
        owed: The balances of notes before the last service.
    """
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
        spread = terms.params.leverage_spread * terms.excess(money.debt, money.equity)
        rate = at(luck.economy.base_rate, now) + spread
        term = terms.params.note_term_months
        notes = with_notes(notes, new_note(lent, rate, state.month, term), owed)
    event = ISSUED * issues + NOTE_DRAWN * draws + NOT_RAISED * (due & ~request.succeeds)
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
