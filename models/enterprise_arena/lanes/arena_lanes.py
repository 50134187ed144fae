"""Lanes of EnterpriseArena: episodes that are played together, closed loop, equal to `play`."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from desim.errors import UsageError
from desim.lanes.lane_arguments import lane_futures, lane_numbers, lane_seeds
from desim.lanes.lane_columns import Array, Columns
from desim.lanes.lane_protocols import NoLanes
from models.enterprise_arena.actions import INSTRUMENTS
from models.enterprise_arena.lanes import lane_score
from models.enterprise_arena.lanes.lane_commands import checked, commanded
from models.enterprise_arena.lanes.lane_draws import Luck, drawn
from models.enterprise_arena.lanes.lane_funding import at, redrawn, terms_of
from models.enterprise_arena.lanes.lane_months import next_month, opened
from models.enterprise_arena.lanes.lane_replies import Correspondence
from models.enterprise_arena.lanes.lane_state import (
    BANKRUPTED,
    RUNNING,
    SURVIVING,
    LaneState,
    merged,
    taken,
)
from models.enterprise_arena.observation import Month
from models.enterprise_arena.params import ArenaParams
from models.enterprise_arena.state import BANKRUPT, CFO, SURVIVED

#: Cents below which every amount and every sum of a few is exact in doubles, which hold whole
#: numbers up to 2**53.
EXACT = 2.0**50


class ArenaLanes:
    """Episodes of EnterpriseArena, one a seed; see `desim.lanes.lane_protocols.Lanes`.

    Requests, passes, closings and the cash tools have lanes; commands that read documents, market
    data or notes, or project cash, are refused with `NoLanes`.

    Args:
        params: The parameters.
        luck: The draws of the lanes.
        begun: Those with which the episodes began; None if nothing was drawn again since.
        state: The state of the lanes; None begins the episodes.
    """

    texts: ClassVar[Mapping[str, tuple[str, ...]]] = {"type": INSTRUMENTS}

    def __init__(
        self,
        params: ArenaParams,
        luck: Luck,
        begun: Luck | None = None,
        state: LaneState | None = None,
    ) -> None:
        self._params = params
        self._terms = terms_of(params)
        self._luck = _exact(luck)
        self._begun = luck if begun is None else begun
        self._follow(opened(params, len(luck.seeds)) if state is None else state)

    def __len__(self) -> int:
        return len(self._luck.seeds)

    @property
    def ended(self) -> Array:
        """Whether the episode of each lane has ended."""
        return ~self._asks

    @property
    def decisions(self) -> Array:
        """The number of commands that each lane has given."""
        return self._state.tallies.decisions

    def reset(self) -> Mapping[str, Columns]:
        """Begin the episodes again and return the first questions."""
        self._luck = self._begun
        self._follow(opened(self._params, len(self)))
        return self.questions()

    def step(self, actions: Mapping[str, Columns | Mapping[str, Array]]) -> Mapping[str, Columns]:
        """Give one command in every lane that waits, and return the next questions.

        Args:
            actions: Under "cfo" the columns `do`, and `type` and `amount` of requests.

        Raises:
            WrongAction: A command is not in the schema; nothing has changed.
            NoLanes: A command has no lanes, an amount would leave the exact range, or a month
                would have too many questions; nothing has changed.
        """
        if [*actions] != [CFO]:
            raise UsageError(f"answers of {', '.join(actions)} were given; the only role is {CFO}")
        asks, now = self._asks, self._now
        given = checked(actions[CFO], asks)
        after, goes_on = commanded(self._terms, self._luck, self._state, now, given)
        self._check_questions(after)
        moves = asks & ~goes_on
        later, most = next_month(self._terms, self._luck, after, now, moves)
        if np.count_nonzero(moves & ~(most < EXACT)):
            raise NoLanes("a lane would owe or own 2**50 cents, which lanes do not hold exactly")
        together = isinstance(now, int) and not np.count_nonzero(goes_on)
        if np.count_nonzero(moves) < len(self):
            later = _held(after, later, moves, goes_on)
        self._follow(later, now + 1 if together else None)
        return self.questions()

    def questions(self) -> Mapping[str, Columns]:
        """Return the open questions; empty once all episodes have ended."""
        if not np.count_nonzero(self._asks):
            return {}
        state, months, now = self._state, self._luck.months, self._now
        header = {
            "current_month": state.month,
            "cash_balance": state.money.cash / 100,
            "active_users": at(months.users, now),
            "loan_portfolio_gross": at(months.loans, now),
            "total_debt": state.money.debt / 100,
            "lending_rate": at(months.lending_rate, now),
            "pending_fundraisings": (state.request.due > 0).astype(np.int64),
            "tool_calls_remaining": self._params.tool_budget - state.this_month.calls,
        }
        letters = Correspondence(self._params, self._labels, state, months.earned, header)
        fixed = {"actions_remaining": 1, "notes": ()}
        return {CFO: Columns(Month, {**header, **fixed, **letters.columns()}, self._asks)}

    def score(self) -> Array:
        """Return the score of every lane, dollars."""
        return lane_score.score(self._luck, self._state)

    def metrics(self) -> Mapping[str, Sequence[Any]]:
        """Return the metrics of every lane by name."""
        return lane_score.metrics(self._luck, self._state)

    def end_reasons(self) -> Sequence[str]:
        """Return why each episode ended; empty texts for those under way."""
        reasons = {RUNNING: "", BANKRUPTED: BANKRUPT, SURVIVING: SURVIVED}
        return [reasons[ended] for ended in self._state.ended.tolist()]

    def fork(self, rows: Array) -> Self:
        """Return new lanes that continue lanes of these.

        Args:
            rows: The number of the lane that each new one continues.

        Raises:
            UsageError: A row is not the number of a lane.
        """
        rows = np.array(lane_numbers(rows, len(self)), np.int64)
        luck = self._luck.take(rows)
        begun = luck if self._begun is self._luck else self._begun.take(rows)
        return type(self)(self._params, luck, begun, taken(self._state, rows))

    def redraw(self, futures: Sequence[int]) -> None:
        """Draw again, in every lane, what the officer cannot know; see `economy/draws.py`.

        Args:
            futures: The seed of the future of each lane.

        Raises:
            UsageError: A future is not a whole number of at least 0, or their number is not that of
                the lanes.
        """
        futures = lane_futures(futures, len(self))
        if not futures:
            return
        state, horizon = self._state, self._params.horizon
        months = np.where(self.ended, horizon, state.month)
        luck = _exact(self._luck.redrawn(futures, months.tolist()))
        request = redrawn(self._terms, state.request, months, luck.seeds)
        self._luck = luck
        self._follow(state._replace(request=request))

    def _follow(self, state: LaneState, now: int | None = None) -> None:
        """Take a state; *now* is the month of all lanes that wait, if it is known."""
        self._state = state
        self._asks = state.ended == RUNNING
        self._now: Array | int = _common_month(state, self._asks) if now is None else now
        if not isinstance(self._now, int):
            self._now = np.minimum(self._now, self._params.horizon - 1)

    @property
    def _labels(self) -> Sequence[str]:
        paths = self._luck.paths
        return (self._params.table if paths is None else paths[0].macro).label

    def _check_questions(self, after: LaneState) -> None:
        most = self._params.max_questions_per_tick
        if (after.this_month.answered >= most).any():
            raise NoLanes(
                f"a lane would be asked more than {most} times in a month; "
                f"max_questions_per_tick is {most}"
            )


def _common_month(state: LaneState, asks: Array) -> "Array | int":
    """Return the month of the lanes that wait if they are in one, otherwise that of every lane."""
    months = np.unique(state.month[asks])
    return int(months[0]) if len(months) == 1 else state.month


def _held(after: LaneState, later: LaneState, moves: Array, goes_on: Array) -> LaneState:
    """Return *later* in the lanes whose month has ended, *after* in the others."""
    held = later._replace(
        ended=np.where(moves, later.ended, after.ended),
        money=merged(after.money, later.money, moves),
    )
    if not np.count_nonzero(
        goes_on
    ):  # the lanes that do not move have ended; the rest of them is not used
        return held
    return held._replace(
        notes=merged(after.notes, later.notes, moves),
        this_month=merged(after.this_month, later.this_month, moves),
        notice=merged(after.notice, later.notice, moves),
    )


def _exact(luck: Luck) -> Luck:
    if not luck.months.largest < EXACT:
        raise NoLanes("the loans of a lane exceed 2**50 cents, which lanes do not hold exactly")
    return luck


def arena_lanes(params: ArenaParams, seeds: Sequence[int], arrays: Any = None) -> ArenaLanes:
    """Return lanes of the lender.

    Raises:
        NoLanes: The parameters have no lanes, or no seed was given; one sentence says why.
        UsageError: A seed is not a whole number of at least 0.
    """
    if arrays not in (None, np):
        raise NoLanes("EnterpriseArena plays lanes on numpy arrays alone")
    if any(type(delay) is not int for delay in params.delay_range):
        raise NoLanes(f"delay_range={params.delay_range}: lanes need whole months")
    return ArenaLanes(params, drawn(params, lane_seeds(seeds)))
