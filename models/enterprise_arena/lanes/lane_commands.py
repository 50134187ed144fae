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
    ACCEPTED,
    OUT_OF_CALLS,
    UNDER_WAY,
    WRONG_AMOUNT,
    LaneState,
    Reply,
    merged,
)

_COMMANDS = members(Command)
PASS, CLOSE, REQUEST = (_COMMANDS.index(each) for each in (Pass, BookClosing, FundRaisingRequest))
_CASH_TOOLS = [_COMMANDS.index(each) for each in (VerifyCashPosition, CheckCashInBank)]
_HAVE_LANES = np.isin(np.arange(len(_COMMANDS)), [PASS, CLOSE, REQUEST, *_CASH_TOOLS])


class Given(NamedTuple):
    """The commands of all lanes; what lanes that do not wait were given is a pass.

    Attributes:
        to: The number of the class among those of `Command`.
        instrument: Of a request, the place in `INSTRUMENTS`.
        amount: Of a request, dollars.
    """

    to: Array
    instrument: Array
    amount: Array


# -- checks ----------------------------------------------------------------------------------------


def checked(columns: Columns | Mapping[str, Array], asks: Array) -> Given:
    """Return the commands of the lanes that wait.

    Raises:
        WrongAction: A command is not in the schema; the text names the lane.
        NoLanes: A command has no lanes.
    """
    classes = members(columns.kind) if isinstance(columns, Columns) else _COMMANDS
    to = _numbers(columns, CLASS, asks, len(classes)) if CLASS in columns else _only(classes, asks)
    if classes != _COMMANDS:
        to = np.array([_COMMANDS.index(each) for each in classes])[to]
    to = np.where(asks, to, PASS)
    if not _HAVE_LANES[to].all():
        lane = int(np.flatnonzero(~_HAVE_LANES[to])[0])
        raise NoLanes(f"{tag(_COMMANDS[to[lane]])} has no lanes, and lane {lane} was given one")
    requests = to == REQUEST
    if not requests.any():
        return Given(to, np.zeros_like(to), np.zeros(len(to)))
    for name in ("type", "amount"):
        if name not in columns:
            raise WrongAction(f"{tag(FundRaisingRequest)} has no column {name!r}")
    return Given(
        to,
        np.where(requests, _numbers(columns, "type", requests, len(INSTRUMENTS)), 0),
        np.where(requests, _amounts(columns["amount"], requests), 0.0),
    )


def _only(classes: tuple[type, ...], asks: Array) -> Array:
    if len(classes) > 1:
        raise WrongAction(f"the commands have no column {CLASS!r}, the number of their class")
    return np.zeros(len(asks), dtype=np.int64)


def _numbers(columns: Mapping[str, Array], name: str, used: Array, count: int) -> Array:
    """Return a column of whole numbers from 0 to below *count*."""
    given = np.asarray(columns[name])
    if given.dtype.kind not in "iu":
        raise WrongAction(f"column {name!r} has values of {given.dtype}; they are whole numbers")
    given = np.broadcast_to(given, used.shape)
    wrong = used & ((given < 0) | (given >= count))
    if wrong.any():
        lane = int(np.flatnonzero(wrong)[0])
        raise WrongAction(
            f"lane {lane}: {name}={given[lane]} was given; it is between 0 and {count - 1}"
        )
    return np.where(used, given, 0)


def _amounts(column: Array, used: Array) -> Array:
    given = np.asarray(column)
    if given.dtype.kind not in "iuf":
        raise WrongAction(f"column 'amount' has values of {given.dtype}; they are numbers")
    given = np.broadcast_to(given.astype(float), used.shape)
    wrong = used & ~(np.abs(given) <= LARGEST_NUMBER)
    if wrong.any():
        lane = int(np.flatnonzero(wrong)[0])
        raise WrongAction(
            f"lane {lane}: amount={given[lane]} was given; it is between "
            f"-{LARGEST_NUMBER:g} and {LARGEST_NUMBER:g}"
        )
    return given


# -- effects ---------------------------------------------------------------------------------------


def commanded(
    terms: Terms, luck: Luck, state: LaneState, now: "Array | int", given: Given
) -> tuple[LaneState, Array]:
    """Return the state after a command of every lane, and whether it ends the month.

    Lanes that do not wait pass.
    """
    params, tallies, requests = terms.params, state.tallies, given.to == REQUEST
    passes, closings = given.to == PASS, given.to == CLOSE
    ends, fault, rate = np.ones_like(passes), np.zeros_like(given.to), np.zeros_like(given.amount)
    goes_on, request, this_month = ~ends, state.request, state.this_month
    if requests.any():
        fault = np.where(requests, _fault(terms, state, given.amount), ACCEPTED)
        accepted, refused = requests & (fault == ACCEPTED), fault != ACCEPTED
        if accepted.any():
            new, rate = submitted(terms, luck, state, now, (given.instrument, given.amount))
            request = merged(request, new, accepted)
        this_month = this_month._replace(refusals=this_month.refusals + refused)
        goes_on = refused & (this_month.refusals <= params.free_refusals)
        tallies = tallies._replace(
            requests=tallies.requests + requests,
            refused=tallies.refused + refused,
            free_refusals=tallies.free_refusals + goes_on,
        )
        ends = ~goes_on
    tools = ~(requests | passes | closings)
    if tools.any():
        called = tools & (this_month.calls < params.tool_budget)
        fault = np.where(tools & ~called, OUT_OF_CALLS, fault)
        this_month = this_month._replace(calls=this_month.calls + called)
        tallies = tallies._replace(tool_calls=tallies.tool_calls + called)
        ends = ends & ~tools
    after = state._replace(
        request=request,
        tallies=tallies._replace(
            decisions=tallies.decisions + 1,
            passes=tallies.passes + passes,
            closings=tallies.closings + closings,
        ),
        this_month=this_month._replace(answered=this_month.answered + 1),
        reply=Reply(given.to, fault, goes_on, state.month, given.instrument, given.amount, rate),
    )
    return after, ends


def _fault(terms: Terms, state: LaneState, amount: Array) -> Array:
    """Return why a request of each lane is refused, or `ACCEPTED`."""
    wrong = ~((amount > 0) & (amount <= terms.params.largest_request))
    return np.where(state.request.due > 0, UNDER_WAY, np.where(wrong, WRONG_AMOUNT, ACCEPTED))
