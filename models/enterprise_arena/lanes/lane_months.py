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
    terms: Terms, luck: Luck, state: LaneState, now: "Array | int"
) -> tuple[LaneState, Array]:
    """Return the state at the next month's decision, and a bound of each lane's amounts, cents.

    Args:
        terms: The terms of funding.
        luck: The draws, and the months that no decision moves.
        state: The state after the month's commands.
        now: The present month: one for all lanes, or of each.
    """
    closed, paid = _closed(luck, state, now)
    horizon = luck.params.horizon
    later = now + 1 if isinstance(now, int) else np.minimum(now + 1, horizon - 1)
    if not isinstance(now, int) or now + 1 < horizon:
        closed = _opened(settled(terms, luck, closed, later))
    money, raised = closed.money, closed.tallies
    most = np.abs(money.cash) + np.abs(money.equity) + money.losses + np.abs(paid)
    return closed, most + raised.equity_raised + raised.debt_raised


def _closed(luck: Luck, state: LaneState, now: "Array | int") -> tuple[LaneState, Array]:
    """Return the state at the end of the month (J3 to J16), and the interest that was paid."""
    money, horizon = state.money, luck.params.horizon
    interest, principal, notes = serviced(state.notes, state.month)
    income = at(luck.months.income, now) - interest
    gain = np.maximum(income, 0.0)
    used = np.minimum(gain, money.losses)
    tax = np.rint(luck.params.tax_rate * (gain - used))
    cash = money.cash + at(luck.months.cash, now) - interest - principal - money.tax
    month = state.month + 1
    money = money._replace(
        cash=cash,
        debt=money.debt - principal,
        equity=money.equity + income - tax,
        tax=tax,
        losses=money.losses - np.minimum(income, 0.0) - used,
        closing=cash,
        before=money.closing,
    )
    end = np.where(cash < 0, BANKRUPTED, SURVIVING)
    ended = np.where(month == horizon, end, RUNNING)
    return state._replace(month=month, ended=ended, money=money, notes=notes), interest


def _opened(state: LaneState) -> LaneState:
    """Return the state after the solvency test; the month's counts begin again.

    Cash below zero is neither a new peak nor lower than the closing cash, so the episodes that end
    here are no case of their own.
    """
    money = state.money
    bankrupt = (money.cash < 0) & (state.ended == RUNNING)
    none = np.zeros_like(state.month)
    return state._replace(
        ended=np.where(bankrupt, BANKRUPTED, state.ended),
        money=money._replace(
            peak=np.maximum(money.peak, money.cash), low=np.minimum(money.low, money.cash)
        ),
        this_month=ThisMonth(none, none, none),
    )
