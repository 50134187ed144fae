"""The commands of all lanes: checks, and their effects up to the end of the month.

The effects are those of `officer/commands.py`. Commands that read documents, market data or notes
have no lanes.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from desim.errors import WrongAction
from desim.lanes.lane_columns import CLASS, Array, Columns
from desim.lanes.lane_protocols import NoLanes
from desim.schema import members, tag
from desim.schema.validators import LARGEST_NUMBER
from models.enterprise_arena.actions import (
    INSTRUMENTS,
    BookClosing,
    CheckCashInBank,
    Command,
    FundRaisingRequest,
    Pass,
    VerifyCashPosition,
)
from models.enterprise_arena.lanes.lane_draws import Luck
from models.enterprise_arena.lanes.lane_funding import Terms, submitted
from models.enterprise_arena.lanes.lane_state import (
    NO_COMMAND,
    OUT_OF_CALLS,
    UNDER_WAY,
    WRONG_AMOUNT,
    LaneState,
    Reply,
    placed,
    written,
)

_COMMANDS = members(Command)
PASS, CLOSE, REQUEST = (_COMMANDS.index(each) for each in (Pass, BookClosing, FundRaisingRequest))
_CASH_TOOLS = [_COMMANDS.index(each) for each in (VerifyCashPosition, CheckCashInBank)]


class Given(NamedTuple):
    """The commands of all lanes.

    Attributes:
        to: The number of the class among those of `Command`; `NO_COMMAND` in lanes that do not
            wait.
        requests: Whether the command is a request.
        passes: Whether it is a pass.
        closings: Whether it closes the books.
        tools: Whether it is a call of a cash tool.
        instrument: The place of the requested one in `INSTRUMENTS`.
        amount: The requested dollars.
    """

    to: Array
    requests: Array
    passes: Array
    closings: Array
    tools: Array
    instrument: Array
    amount: Array


# -- checks ----------------------------------------------------------------------------------------


def checked(columns: Columns | Mapping[str, Array], asks: Array) -> Given:
    """Return the commands of the lanes that wait.

    Raises:
        WrongAction: A command is not in the schema; the text names the lane.
        NoLanes: A command has no lanes.
    """
    to = _classes(columns, asks)
    requests, passes, closings = to == REQUEST, to == PASS, to == CLOSE
    tools = asks & ~(requests | passes | closings)
    if np.count_nonzero(tools):
        _check_tools(to, tools)
    instrument, amount = np.zeros(len(to), dtype=np.int64), np.zeros(len(to))
    if np.count_nonzero(requests):
        instrument = np.where(requests, _instruments(_column(columns, "type", asks), requests), 0)
        amount = np.where(requests, _amounts(_column(columns, "amount", asks), requests), 0.0)
    return Given(to, requests, passes, closings, tools, instrument, amount)


def _classes(columns: Columns | Mapping[str, Array], asks: Array) -> Array:
    """Return the number of each command's class among those of `Command`."""
    classes = members(columns.kind) if isinstance(columns, Columns) else _COMMANDS
    given = np.zeros((), dtype=np.int64)
    if len(classes) > 1 or CLASS in columns:
        given = _column(columns, CLASS, asks)
    if given.dtype.kind not in "iu":
        raise WrongAction(f"column {CLASS!r} has values of {given.dtype}; they are whole numbers")
    if classes != _COMMANDS:
        _check_range(CLASS, given, asks, len(classes))
        given = np.array([_COMMANDS.index(each) for each in classes])[np.where(asks, given, 0)]
    return np.where(asks, given, NO_COMMAND)


def _column(columns: Mapping[str, Array], name: str, asks: Array) -> Array:
    if name not in columns:
        raise WrongAction(f"the commands of all lanes have no column {name!r}")
    given = np.asarray(columns[name])
    if given.shape not in ((), asks.shape):
        raise WrongAction(f"column {name!r} has {given.shape} values for {len(asks)} lanes")
    return given


def _check_tools(to: Array, tools: Array) -> None:
    _check_range(CLASS, to, tools, len(_COMMANDS))
    for kind in np.unique(to[tools]).tolist():
        if kind not in _CASH_TOOLS:
            lane = int(np.flatnonzero(to == kind)[0])
            raise NoLanes(f"{tag(_COMMANDS[kind])} has no lanes, and lane {lane} was given one")


def _instruments(given: Array, used: Array) -> Array:
    if given.dtype.kind not in "iu":
        raise WrongAction(f"column 'type' has values of {given.dtype}; they are whole numbers")
    _check_range("type", given, used, len(INSTRUMENTS))
    return given


def _check_range(name: str, given: Array, used: Array, count: int) -> None:
    wrong = (given < 0) | (given >= count)
    if np.count_nonzero(wrong) and np.count_nonzero(wrong := used & wrong):
        lane = int(np.flatnonzero(wrong)[0])
        number = np.broadcast_to(given, used.shape)[lane]
        raise WrongAction(
            f"lane {lane}: {name}={number} was given; it is between 0 and {count - 1}"
        )


def _amounts(given: Array, used: Array) -> Array:
    if given.dtype.kind not in "iuf":
        raise WrongAction(f"column 'amount' has values of {given.dtype}; they are numbers")
    wrong = ~(np.abs(given) <= LARGEST_NUMBER)
    if np.count_nonzero(wrong) and np.count_nonzero(wrong := used & wrong):
        lane = int(np.flatnonzero(wrong)[0])
        raise WrongAction(
            f"lane {lane}: amount={np.broadcast_to(given, used.shape)[lane]} was given; it is "
            f"between -{LARGEST_NUMBER:g} and {LARGEST_NUMBER:g}"
        )
    return given


# -- effects ---------------------------------------------------------------------------------------


def commanded(
    terms: Terms, luck: Luck, state: LaneState, now: "Array | int", given: Given
) -> tuple[LaneState, Array]:
    """Return the state after a command of every lane, and in which lanes the month goes on."""
    tallies, count = state.tallies, len(given.to)
    goes_on, nothing, rate = given.tools, np.zeros(count, dtype=np.int64), np.zeros(count)
    reply = Reply(given.to, nothing, goes_on, state.month, given.instrument, given.amount, rate)
    tallies = tallies._replace(passes=tallies.passes + given.passes)
    if np.count_nonzero(given.closings):
        tallies = tallies._replace(closings=tallies.closings + given.closings)
    state = state._replace(tallies=tallies, reply=reply)
    if np.count_nonzero(given.requests):
        state = _requested(terms, luck, state, now, given)
        goes_on = state.reply.goes_on
    if np.count_nonzero(given.tools):
        state = _looked(terms, state, given.tools)
    if np.count_nonzero(goes_on):
        counts = state.this_month
        state = state._replace(this_month=counts._replace(answered=counts.answered + goes_on))
    return state, goes_on


def _requested(
    terms: Terms, luck: Luck, state: LaneState, now: "Array | int", given: Given
) -> LaneState:
    """Accept or refuse the requests of some lanes."""
    tallies, reply = state.tallies, state.reply
    pending = state.request.due > 0
    wrong = (given.amount <= 0) | (given.amount > terms.params.largest_request)
    refused = given.requests & (pending | wrong)
    accepted = given.requests & ~refused
    state = state._replace(tallies=tallies._replace(requests=tallies.requests + given.requests))
    rows = np.flatnonzero(accepted)
    if len(rows):
        asked = (given.instrument[rows], given.amount[rows])
        new, rates = submitted(terms, luck, state, now, rows, asked)
        state = state._replace(
            request=placed(state.request, rows, new),
            reply=reply._replace(rate=written(reply.rate, rows, rates)),
        )
    return _refused(terms, state, refused, pending) if np.count_nonzero(refused) else state


def _refused(terms: Terms, state: LaneState, refused: Array, pending: Array) -> LaneState:
    """Count refused requests; in some of the lanes the month goes on."""
    counts, tallies = state.this_month, state.tallies
    refusals = counts.refusals + refused
    goes_on = refused & (refusals <= terms.params.free_refusals)
    fault = refused * np.where(pending, UNDER_WAY, WRONG_AMOUNT)
    return state._replace(
        this_month=counts._replace(refusals=refusals),
        tallies=tallies._replace(
            refused=tallies.refused + refused, free_refusals=tallies.free_refusals + goes_on
        ),
        reply=state.reply._replace(fault=fault, goes_on=state.reply.goes_on | goes_on),
    )


def _looked(terms: Terms, state: LaneState, tools: Array) -> LaneState:
    """Count calls of the cash tool; one beyond the budget is refused."""
    counts, tallies = state.this_month, state.tallies
    called = tools & (counts.calls < terms.params.tool_budget)
    fault = np.where(tools & ~called, OUT_OF_CALLS, state.reply.fault)
    return state._replace(
        this_month=counts._replace(calls=counts.calls + called),
        tallies=tallies._replace(
            tool_calls=tallies.tool_calls + called, tools=tallies.tools + tools
        ),
        reply=state.reply._replace(fault=fault),
    )
