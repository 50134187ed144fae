"""The end of a month and the opening of the next one on arrays, for all lanes at once."""

import numpy as np

from desim.lanes.lane_columns import Array
from models.enterprise_arena.accounting.accounts import CASH, TAX_PAYABLE, cents
from models.enterprise_arena.accounting.books import Books
from models.enterprise_arena.lanes.lane_draws import Luck
from models.enterprise_arena.lanes.lane_funding import Terms, at, no_notice, no_request, settled
from models.enterprise_arena.lanes.lane_state import (
    BANKRUPTED,
    NO_COMMAND,
    RUNNING,
    SURVIVING,
    LaneState,
    Money,
    Reply,
    Tallies,
    ThisMonth,
)
from models.enterprise_arena.lanes.notes_owed import no_notes, serviced
from models.enterprise_arena.params import ArenaParams
from models.enterprise_arena.processes import opening_balances


def opened(params: ArenaParams, lanes: int) -> LaneState:
    """Return the state of some lanes at the first decision."""
    books = Books(opening_balances(params))
    whole, real = np.zeros(lanes, dtype=np.int64), np.zeros(lanes)
    cash = real + books.held[CASH]
    money = Money(
        cash=cash,
        debt=real,
        equity=real + books.equity,
        tax=real - books.held[TAX_PAYABLE],
        losses=real + cents(params.opening_loss_carryforward),
        closing=cash,
        before=cash,
        peak=cash,
        low=cash,
    )
    counts = Tallies(*[whole] * len(Tallies._fields))
    return LaneState(
        month=whole,
        ended=whole + RUNNING,
        money=money,
        notes=no_notes(lanes),
        request=no_request(lanes),
        tallies=counts._replace(equity_raised=real, debt_raised=real),
        this_month=ThisMonth(whole, whole, whole),
        notice=no_notice(lanes),
        reply=Reply(whole + NO_COMMAND, whole, whole != 0, whole, whole, real, real),
    )


def next_month(
    terms: Terms, luck: Luck, state: LaneState, now: "Array | int", moves: Array
) -> tuple[LaneState, Array]:
    """Return the state at the next month's decision, and a bound of each lane's amounts, cents.

    In lanes that do not move only their month, request and tallies are right.

    Args:
        terms: The terms of funding.
        luck: The draws, and the months that no decision moves.
        state: The state after the month's commands.
        now: The present month: one for all lanes, or of each.
        moves: Whether the month of a lane ends.
    """
    after, interest = _closed(luck, state, now, moves)
    last = luck.params.horizon - 1
    if not isinstance(now, int):
        after = _opened(settled(terms, luck, after, np.minimum(now + 1, last)))
    elif now < last:
        after = _opened(settled(terms, luck, after, now + 1))
    money, raised = after.money, after.tallies
    most = np.abs(money.cash) + np.abs(money.equity) + np.abs(interest) + money.losses
    return after, most + raised.equity_raised + raised.debt_raised


def _closed(
    luck: Luck, state: LaneState, now: "Array | int", moves: Array
) -> tuple[LaneState, Array]:
    """Return the state at the end of the month (J3 to J16), and the interest that was paid."""
    money, horizon = state.money, luck.params.horizon
    interest, principal, notes = serviced(state.notes, state.month)
    income = at(luck.months.income, now) - interest
    # Above 0 it is taxed, below 0 it is the loss carried forward.
    taxable = income - money.losses
    tax = np.rint(luck.params.tax_rate * np.maximum(taxable, 0.0))
    cash = money.cash + at(luck.months.cash, now) - interest - principal - money.tax
    month = state.month + moves
    ended = state.ended
    if not isinstance(now, int) or now == horizon - 1:
        end = np.where(cash < 0, BANKRUPTED, SURVIVING)
        ended = np.where(month == horizon, end, state.ended)
    money = Money(
        cash=cash,
        debt=money.debt - principal,
        equity=money.equity + income - tax,
        tax=tax,
        losses=np.maximum(-taxable, 0.0),
        closing=cash,
        before=money.closing,
        peak=money.peak,
        low=money.low,
    )
    return state._replace(month=month, ended=ended, money=money, notes=notes), interest


def _opened(state: LaneState) -> LaneState:
    """Return the state after the solvency test; the month's counts begin again.

    Cash below zero is neither a new peak nor lower than the closing cash, so the episodes that end
    here are no case of their own.
    """
    money, ended = state.money, state.ended
    short = money.cash < 0
    if np.count_nonzero(short):
        ended = np.where(short & (ended == RUNNING), BANKRUPTED, ended)
    none = np.zeros(len(ended), dtype=np.int64)
    return state._replace(
        ended=ended,
        money=money._replace(
            peak=np.maximum(money.peak, money.cash), low=np.minimum(money.low, money.cash)
        ),
        this_month=ThisMonth(none, none, none),
    )
