"""One episode of a server: it stops at the decisions of its client."""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import anyio
from anyio import to_thread
from attrs import evolve, field, frozen

from desim.adapters.seat.seat_environment import SeatEnvironment
from desim.adapters.seat.setup import Setup
from desim.adapters.seat.stepped_session import SteppedSession
from desim.core.events import Decision
from desim.core.reported import Rows
from desim.errors import (
    DesimError,
    ModelFailed,
    PolicyFailed,
    UsageError,
    WrongAction,
    possible,
)
from desim.faults import RAISED, fault_text
from desim.records.record_lock import RecordLock

_T = TypeVar("_T")

#: The caller's name as a policy, in records.
LABEL = "mcp"


class EpisodeFailed(ModelFailed):
    """An episode that cannot go on in this process."""


@frozen
class Turn:
    """The state of an episode that a client sees after its answers.

    Attributes:
        observations: The observations of the open decisions, by seat, as plain values.
        rewards: By seat, the change of its score or metric since the turn before.
        ended: The facts of the episode's end; None before its end.
        possible: The tags of the actions that may be answered now, by seat; without the seats that
            may answer with every action.
    """

    observations: Mapping[str, Any]
    rewards: Mapping[str, float]
    ended: Mapping[str, Any] | None = None
    possible: Mapping[str, tuple[str, ...]] = field(factory=dict)


class _World(SeatEnvironment):
    """The environment of one episode, in which a policy that failed can be called again."""

    def fail(self, fault: DesimError) -> None:
        if not isinstance(fault, PolicyFailed):
            super().fail(fault)


class OpenEpisode:
    """An episode at play, whose calls run one after the other in a thread.

    In a thread, because a policy of another role may compute or wait for long while the episodes of
    other clients must continue. A policy that is a coroutine also runs there, in an event loop of
    the episode's own.

    Attributes:
        used: The time of the last call, in seconds of `time.monotonic`.
        turn: The last turn.
    """

    def __init__(self, setup: Setup, name: str, threads: anyio.CapacityLimiter) -> None:
        self.name = name
        self.used = time.monotonic()
        self.turn = Turn({}, {})
        self._threads = threads
        self._lock = anyio.Lock()
        self._world = _World(setup, LABEL)
        self._record_lock: RecordLock | None = None

    @property
    def busy(self) -> bool:
        """Whether a call is under way."""
        return self._lock.locked()

    async def begin(
        self, start: Callable[[SeatEnvironment], SteppedSession], lock: RecordLock | None
    ) -> Turn:
        """Start the session and return the first turn.

        Args:
            start: Begins the episode of the environment.
            lock: The lock of its record, which is released when the episode closes.
        """
        self._record_lock = lock
        return await self._in_thread(partial(self._start, start))

    async def answer(self, seat: str, action: Any) -> Turn:
        """Answer the open decision of a seat and return the next turn.

        Raises:
            WrongAction: The action does not fit the schema; nothing changes.
            UsageError: The seat has no open decision, or the episode is over.
            PolicyFailed: The policy of another role failed after the answer was taken.
            EpisodeFailed: The episode cannot go on.
        """
        return await self._in_thread(partial(self._answer, seat, action))

    async def present(self) -> Turn:
        """Return the last turn; ask the policies of other roles again if one has failed."""
        return await self._in_thread(self._present)

    async def tables(self, seat: str) -> Mapping[str, Rows]:
        """Return the tables that a seat may look up; empty if the world has no tables for it."""
        return await self._in_thread(lambda: self._at_play().tables(seat))

    async def close(self) -> None:
        """Close the record, which can be continued if the episode has not ended."""
        async with self._lock:
            await to_thread.run_sync(self._close, limiter=self._threads)

    async def _in_thread(self, work: Callable[[], _T]) -> _T:
        async with self._lock:
            try:
                return await to_thread.run_sync(work, limiter=self._threads)
            finally:
                self.used = time.monotonic()

    # -- in the thread -----------------------------------------------------------------------------

    def _start(self, start: Callable[[SeatEnvironment], SteppedSession]) -> Turn:
        turn = self._moved(start(self._world))
        # Without the rewards of a resumed episode's past and of events before the first question.
        self.turn = evolve(turn, rewards=dict.fromkeys(turn.rewards, 0.0))
        return self.turn

    def _present(self) -> Turn:
        if self.turn.ended is not None:
            return self.turn
        session = self._at_play()
        return self.turn if session.open else self._moved(session)

    def _answer(self, seat: str, action: Any) -> Turn:
        session = self._at_play()
        decision = _open_decision(session, seat)
        try:
            session.answer(decision, action)
        except WrongAction:
            raise
        except RAISED as fault:  # for instance a full disk: the run has the answer, the record not
            raise EpisodeFailed(_sentence_of(fault)) from fault
        return self._moved(session)

    def _moved(self, session: SteppedSession) -> Turn:
        """Move on to the client's next decisions, or to the end, which closes the session."""
        try:
            rewards = self._world.move(session)
        except PolicyFailed as fault:
            raise PolicyFailed(
                f"{fault}; your answer was taken, present_observation asks that policy again"
            ) from fault
        except RAISED as fault:
            raise EpisodeFailed(_sentence_of(fault)) from fault
        shown = {one.role: session.seen(one) for one in session.open}
        possible = {one.role: one.possible for one in session.open if one.possible}
        self.turn = Turn(shown, rewards, session.end_facts() if session.done else None, possible)
        if session.done:
            self._close()
        return self.turn

    def _at_play(self) -> SteppedSession:
        if self._world.session is None:
            raise UsageError("the episode is over or closed; begin_episode begins a new one")
        return self._world.session

    def _close(self) -> None:
        self._world.close()
        lock, self._record_lock = self._record_lock, None
        if lock is not None:
            lock.__exit__()


def _open_decision(session: SteppedSession, seat: str) -> Decision:
    for decision in session.open:
        if decision.role == seat:
            return decision
    seats = [decision.role for decision in session.open]
    raise UsageError(f"{seat!r} has no open decision; {possible(seat, seats)}")


def _sentence_of(fault: BaseException) -> str:
    return str(fault) if isinstance(fault, DesimError) else fault_text(fault)
