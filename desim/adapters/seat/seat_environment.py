"""An episode that stops wherever its caller has to decide."""

import asyncio
import contextlib
import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from desim.adapters.seat.reward import SCORE, Rewards
from desim.catalog.policy_spec import label as label_of
from desim.core.model_protocols import Model, Rows, offers
from desim.core.reported import HasSeries, HasTables
from desim.core.result import Result, Series, read_series
from desim.core.roles import Option
from desim.core.world import Decision
from desim.episodes.lineup import resolve
from desim.episodes.session import Session
from desim.errors import PolicyFailed, UsageError
from desim.records.episode import Episode
from desim.records.record_lock import RecordLock
from desim.schema import TAG, codec, tag, to_plain

__all__ = ["SteppedSession"]


class _Caller:
    """The policy of a seat: its answers come through `SteppedSession.answer`."""

    def decide(self, _: Any) -> Any:
        raise UsageError("the caller of this session answers for its seats")


class SteppedSession:
    """One episode in which the caller answers for some roles, and policies for the others.

    It stops at the caller's decisions that fall on one instant, `open`. After an `answer` to each
    of them, `advance` moves on to the next ones.

    Args:
        model: The frozen parameters.
        seed: A whole number of at least 0.
        seats: The caller's roles.
        others: Policies by role for the other roles.
        rewards: See `Rewards`; by seat.
        max_decisions: Answers of the seats after which the episode is truncated.
        last_tick: The last tick at which the caller decides; the episode is truncated at its first
            decision after it.
        record: The file that receives the episode; None records nothing.
        past: A cut record, whose decisions are made again before the first open one.
        label: The caller's name in the record.
        locked: Whether the caller holds the lock of the record; otherwise the session locks it.

    Raises:
        UsageError: The seed, a role or a reward is wrong, the file exists, or it is locked.
        ModelFailed: The model raised an exception.

    Attributes:
        open: The caller's decisions without an answer; empty at the end.
        answered: How many decisions the caller has made, those of *past* included.
        truncated: Whether a limit was reached before the world's own end. The open decisions then
            show what the last answers led to, and take no answer.
        result: How the episode ended; None before its end, and where it was truncated.
    """

    def __init__(
        self,
        model: Model[Any],
        seed: int = 0,
        *,
        seats: Sequence[str],
        others: Mapping[str, Any] | None = None,
        rewards: Mapping[str, str] | None = None,
        max_decisions: int | None = None,
        last_tick: int | None = None,
        record: str | Path | None = None,
        past: Episode | None = None,
        label: str = "external",
        locked: bool = False,
    ) -> None:
        self.model, self.seed = model, seed
        self._seats = frozenset(seats)
        others = others or {}
        labels = dict.fromkeys(seats, label) | {role: label_of(one) for role, one in others.items()}
        policies = {role: _Caller() for role in seats} | dict(others)
        lineup = resolve(model, policies, seed, labels)
        self._stack = contextlib.ExitStack()
        with self._stack:  # closes what is open if a line below raises
            if record is not None and not locked:
                self._stack.enter_context(RecordLock(record))
            session = Session(model, lineup, seed, record, past, keep_steps=False)
            self._session = self._stack.enter_context(session)
            self._run = session.run
            self._rewards = Rewards(self._run, rewards or dict.fromkeys(seats, SCORE))
            self._stack = self._stack.pop_all()
        self._past = past.steps if past else ()
        self._max, self._last_tick = max_decisions, last_tick
        self._kept: dict[int, Any] = {}
        self._runner: asyncio.Runner | None = None
        self.open: list[Decision] = []
        self.answered = 0
        self.truncated = False
        self.result: Result | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def done(self) -> bool:
        """Whether the episode has ended or is truncated."""
        return self.result is not None or self.truncated

    @property
    def tick(self) -> int:
        """The present tick of the clock."""
        return self._run.world.now

    @property
    def score(self) -> float:
        """The world's score of the present state."""
        return self._run.score()

    def rewards(self) -> dict[str, float]:
        """Return by seat the change of its score or metric since the last call."""
        return self._rewards.changes()

    def answer(self, decision: Decision, action: Any) -> None:
        """Answer an open decision of the caller's.

        Args:
            decision: One of `open`.
            action: An instance of one of the role's action classes, or its tagged object.

        Raises:
            WrongAction: The action does not fit the role's schema; nothing changes.
            UsageError: The decision is not open, or the episode is truncated.
        """
        if self.truncated:
            raise UsageError(f"the episode is truncated after {self.answered:,} decisions")
        if decision not in self.open:
            raise UsageError(f"the decision of {decision.role!r} is not open")
        if self._run.open[0] is decision:
            self._session.take(decision, action)
        else:  # recorded in the order of the questions, after those before it
            kept, _ = codec(self.model.roles[decision.role].action).take(action)
            self._kept[id(decision)] = kept
        self.open.remove(decision)
        self.answered += 1

    def answer_default(self, decision: Decision) -> dict[str, Any]:
        """Answer an open decision by its role's default action, and return its tagged object.

        Raises:
            UsageError: The role has neither a default action nor options, or as `answer`.
        """
        action = self.model.roles[decision.role].default_for(decision.observation)
        name = tag(type(action))  # type: ignore[arg-type] # classes do hash
        plain = {TAG: name, **to_plain(action)}
        self.answer(decision, plain)
        return plain

    def step(self, action: Any) -> list[Decision]:
        """Answer the one open decision and advance.

        Raises:
            WrongAction: As `answer`.
            UsageError: The episode is over, or several decisions are open.
        """
        if self.done or len(self.open) != 1:
            state = "the episode is over" if self.done else f"{len(self.open)} decisions are open"
            raise UsageError(f"{state}; a step answers one open decision")
        self.answer(self.open[0], action)
        return self.advance()

    def advance(self) -> list[Decision]:
        """Move on to the next decisions of the caller's and return them; none at the end.

        Decisions of the caller that have no answer stay open, and the clock where it is.

        Raises:
            ModelFailed: The model raised an exception.
            PolicyFailed: A policy of another role did; the next call asks it again.
        """
        while not (self.open or self.result):
            for decision in self._run.open:
                self._session.take(decision, self._answer_of(decision))
            self._move()
        return self.open

    async def advance_async(self) -> list[Decision]:
        """As `advance`, in the event loop that runs; policies that wait do so together."""
        while not (self.open or self.result):
            decisions = self._run.open
            answers = await asyncio.gather(*(self._answer_async(one) for one in decisions))
            for decision, action in zip(decisions, answers, strict=True):
                self._session.take(decision, action)
            self._move()
        return self.open

    def options(self, decision: Decision) -> Sequence[Option]:
        """Return the options that a role offers at a decision; empty where it offers none."""
        offered = self.model.roles[decision.role].options
        return offered(decision.observation) if offered else ()

    def tables(self, seat: str) -> Mapping[str, Rows]:
        """Return the tables that the world lets a seat look up."""
        return self.model.tables(self._run.state, seat) if offers(self.model, HasTables) else {}

    def series(self) -> Series:
        """Return what the world reports period by period, so far; empty where it reports nothing.

        For people who watch: it may hold what no role observes.
        """
        offered = offers(self.model, HasSeries)
        return read_series(self.model, self._run.state) if offered else {}

    def close(self) -> None:
        """Close the record; it can be continued where the episode has not ended."""
        self._stack.close()
        if self._runner is not None:
            self._runner.close()
            self._runner = None

    def _move(self) -> None:
        """Move the clock to the next questions; at the end write the result."""
        decisions = self._session.advance()
        if not decisions:
            self.result = self._session.episode().result
            return
        self._open_or_repeat()
        self.truncated = bool(self.open) and self._beyond_limit()

    def _beyond_limit(self) -> bool:
        if self._max is not None and self.answered >= self._max:
            return True
        return self._last_tick is not None and self.tick > self._last_tick

    def _open_or_repeat(self) -> None:
        """Open the seats' decisions, or take their answers from the record."""
        decisions = self._run.handed_out
        past, first = self._past, self._run.decisions
        for number, decision in enumerate(decisions, first):
            if decision.role not in self._seats:
                continue
            if number < len(past):
                self._kept[id(decision)] = past[number].action
                self.answered += 1
            else:
                self.open.append(decision)

    def _answer_of(self, decision: Decision) -> Any:
        if decision.role in self._seats:
            return self._kept.pop(id(decision))
        answer = self._session.decide(decision)
        return self._awaited(decision, answer) if inspect.isawaitable(answer) else answer

    async def _answer_async(self, decision: Decision) -> Any:
        if decision.role in self._seats:
            return self._kept.pop(id(decision))
        return await self._session.decide_async(decision)

    def _awaited(self, decision: Decision, answer: Any) -> Any:
        """Await the answer of a policy that is a coroutine, in an event loop of the session's.

        Raises:
            PolicyFailed: It raised an exception, or an event loop runs here already.
        """
        if _loop_runs():
            answer.close()
            raise PolicyFailed(
                f"the policy of {decision.role!r} is a coroutine, and an event loop runs here; "
                "use advance_async"
            )
        self._runner = self._runner or asyncio.Runner()
        waiting = self._session.awaited(decision, answer)
        return self._runner.get_loop().run_until_complete(waiting)


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
