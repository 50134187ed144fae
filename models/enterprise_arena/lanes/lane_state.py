"""The state of all lanes: tuples of arrays with one entry a lane, never written in place.

Money is whole cents in doubles, which are exact below 2**53; `arena_lanes.py` refuses a step that
comes near it. Arrays of notes have one row for each place of a note.
"""

from typing import Any, NamedTuple, TypeVar

import numpy as np

from desim.lanes.lane_columns import Array

#: Values of `LaneState.ended`.
RUNNING, BANKRUPTED, SURVIVING = 0, 1, 2
#: Values of `Request.instrument`, the places of the names in `INSTRUMENTS`.
EQUITY_PLACE, DEBT_PLACE = 0, 1
#: Values of `Notice.event`.
NOTHING, ISSUED, DRAWN, NOT_RAISED = 0, 1, 2, 3
#: Values of `Reply.fault`.
ACCEPTED, UNDER_WAY, WRONG_AMOUNT, OUT_OF_CALLS = 0, 1, 2, 3
#: The value of `Reply.to` before the first command.
NO_COMMAND = -1


class Money(NamedTuple):
    """What the decisions of a lender move.

    Attributes:
        cash: In the bank, cents.
        debt: Notes outstanding, cents.
        equity: Book equity, cents.
        tax: Accrued last month and not paid yet, cents.
        losses: Carried forward, cents.
        closing: Cash at the end of the last month closed, at first the opening cash, cents.
        before: The same a month earlier, cents.
        peak: Highest cash at the opening of a month, cents.
        low: Lowest cash at the opening of a month, cents.
    """

    cash: Array
    debt: Array
    equity: Array
    tax: Array
    losses: Array
    closing: Array
    before: Array
    peak: Array
    low: Array


class Notes(NamedTuple):
    """The notes of all lanes, one row for each place; a place with a balance of 0 is free.

    Attributes:
        balance: Cents outstanding.
        instalment: Cents of principal repaid each month.
        rate: Contract rate, a share a year.
        last: The month of the last instalment.
    """

    balance: Array
    instalment: Array
    rate: Array
    last: Array


class Request(NamedTuple):
    """The funding request under way; where `due` is 0 there is none, and the rest is of old ones.

    Attributes:
        due: The month of its outcome.
        instrument: `EQUITY_PLACE` or `DEBT_PLACE`.
        amount: Dollars requested.
        month: In which it was submitted.
        succeeds: Whether money arrives.
        received: Cents that arrive if it succeeds.
        chance: The odds of success as of `month`.
        most: Cents that arrive at most; infinite without a limit.
    """

    due: Array
    instrument: Array
    amount: Array
    month: Array
    succeeds: Array
    received: Array
    chance: Array
    most: Array


class Tallies(NamedTuple):
    """Counts of the whole episode.

    Attributes:
        requests: Requests, refused ones included.
        refused: Refused requests.
        free_refusals: Those that did not use the month.
        equity: Equity rounds closed.
        debt: Requests for debt that succeeded.
        equity_raised: Cents.
        debt_raised: Cents.
        closings: Closings of the books.
        passes: Passes.
        tools: Commands to tools.
        tool_calls: Those within the budget.
    """

    requests: Array
    refused: Array
    free_refusals: Array
    equity: Array
    debt: Array
    equity_raised: Array
    debt_raised: Array
    closings: Array
    passes: Array
    tools: Array
    tool_calls: Array

    @property
    def decisions(self) -> Array:
        """The number of commands."""
        return self.requests + self.closings + self.passes + self.tools


class ThisMonth(NamedTuple):
    """Counts that begin again in every month.

    Attributes:
        calls: Tool calls within the budget.
        refusals: Refused requests.
        answered: Commands that did not end the month.
    """

    calls: Array
    refusals: Array
    answered: Array


class Notice(NamedTuple):
    """The outcome of funding that became known this month.

    Attributes:
        event: `NOTHING`, `ISSUED`, `DRAWN` or `NOT_RAISED`.
        instrument: Of the request.
        received: Cents that arrived.
        rate: Contract rate of the note drawn.
    """

    event: Array
    instrument: Array
    received: Array
    rate: Array


class Reply(NamedTuple):
    """What the reply to the last command contains.

    Attributes:
        to: The number of its class among those of `Command`, or `NO_COMMAND`.
        fault: `ACCEPTED`, or why it was refused.
        goes_on: Whether the month goes on after a refused request.
        month: In which it was given.
        instrument: Of a request.
        amount: Of a request, dollars.
        rate: The indicative rate of a request for debt.
    """

    to: Array
    fault: Array
    goes_on: Array
    month: Array
    instrument: Array
    amount: Array
    rate: Array


class LaneState(NamedTuple):
    """The state of all lanes.

    Attributes:
        month: The present month; months closed are those before it.
        ended: `RUNNING`, `BANKRUPTED` or `SURVIVING`.
        money: Cash, debt and what taxes depend on.
        notes: Notes owed.
        request: The funding request under way.
        tallies: Counts of the episode.
        this_month: Counts of the month.
        notice: The outcome that became known this month.
        reply: The reply to the last command.
    """

    month: Array
    ended: Array
    money: Money
    notes: Notes
    request: Request
    tallies: Tallies
    this_month: ThisMonth
    notice: Notice
    reply: Reply


Group = TypeVar("Group", bound=tuple[Any, ...])


def taken(group: Group, rows: Array) -> Group:
    """Return the entries of some lanes, in the order of *rows*."""
    return type(group)(
        *[taken(one, rows) if isinstance(one, tuple) else one[..., rows] for one in group]
    )


def merged(before: Group, after: Group, moved: Array) -> Group:
    """Return *after* in the lanes that *moved*, *before* in the others."""
    return type(before)(
        *[
            merged(old, new, moved) if isinstance(old, tuple) else _chosen(old, new, moved)
            for old, new in zip(before, after, strict=True)
        ]
    )


def _chosen(old: Array, new: Array, moved: Array) -> Array:
    if old is new:
        return old
    if old.ndim > 1 and len(old) < len(new):
        old = np.concatenate([old, np.zeros_like(new[len(old) :])])
    return np.where(moved, new, old)
