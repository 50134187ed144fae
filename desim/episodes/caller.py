"""An episode that is driven from outside: it stops wherever its caller has to decide.

The page, the terminal and all adapters drive a `CallerSession`.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from desim.catalog.policy_spec import label
from desim.core.events import Decision
from desim.core.model import Model
from desim.core.policy import Policy
from desim.episodes.driver import awaited, decide_in_loop, own_loop
from desim.episodes.episode_options import EpisodeOptions
from desim.episodes.lineup import resolve
from desim.episodes.session import Session
from desim.errors import BadRecord, DesimError, PolicyFailed, UsageError, WrongAction
from desim.records.episode import Episode
from desim.records.record_lock import RecordLock
from desim.schema import codec


class CallerSeat(Policy):
    """The policy of a caller's role; `CallerSession.answer` takes the answers instead."""

    def decide(self, _: Any) -> Any:
        """Refuse to decide."""
        raise UsageError("the caller of this session answers for its seats")


class CallerSession:
    """One episode in which the caller answers for some roles, and policies for the others.

    It stops at the caller's decisions of one instant, `open`. After an `answer` to each, `advance`
    moves on to the next ones.

    Args:
        seats: The caller's roles, or by role the caller's name in the record.
        others: Policies by role for the other roles.
        record: The file that receives the episode; None records nothing.
        past: A cut record, whose decisions are made again before the first open one; a policy that
            began after some of them on record begins there again.
        locked: Whether the caller holds the lock of the record; otherwise the session locks it.

    Attributes:
        open: The caller's decisions without an answer; empty at the end.
        answered: The number of decisions that the caller has made, those of *past* included.
        episode: The ended episode; None before its end.
    """

    def __init__(
        self,
        model: Model[Any],
        seed: int = 0,
        *,
        seats: Sequence[str] | Mapping[str, str],
        others: Mapping[str, Any] | None = None,
        record: str | Path | None = None,
        past: Episode | None = None,
        locked: bool = False,
        keep_steps: bool = False,
    ) -> None:
        self.model, self.seed = model, seed
        self._seats = frozenset(seats)
        others = others or {}
        labels = dict(seats if isinstance(seats, Mapping) else dict.fromkeys(seats, "external"))
        labels |= {role: label(one) for role, one in others.items()}
        policies = {role: CallerSeat() for role in seats} | dict(others)
        lineup = resolve(model, policies, seed, labels)
        with contextlib.ExitStack() as stack:  # closes what is open if a line below raises
            if record is not None and not locked:
                stack.enter_context(RecordLock(record))
            how = EpisodeOptions(keep_steps=keep_steps, keep_state=False)
            session = Session(model, lineup, seed, record, past, how)
            self.session = stack.enter_context(session)
            self._in_loop = stack.enter_context(own_loop("advance_async"))
            self._stack = stack.pop_all()
        self.run = session.run
        self._kept: dict[Decision, Any] = {}
        self.open: list[Decision] = []
        self.answered = 0
        self.episode: Episode | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def done(self) -> bool:
        """Whether the episode has ended."""
        return self.episode is not None

    def answer(self, decision: Decision, action: Any) -> None:
        """Answer an open decision with an action of its role, or the action's tagged object.

        After an error (`WrongAction`, `UsageError`) nothing has changed.
        """
        if decision not in self.open:
            raise UsageError(f"the decision of {decision.role!r} is not open")
        if self.run.open[0] is decision:
            self.session.take(decision, action)
        else:  # taken in the order of the questions, after those before it
            self._kept[decision], _ = codec(decision.spec.action).take(action)
        self.open.remove(decision)
        self.answered += 1

    def advance(self) -> list[Decision]:
        """Move to the caller's next decisions and return them; an empty list at the end.

        Policies before an open decision of the caller decide first. Decisions of the caller without
        an answer stay open, and the clock where it is.
        After a `PolicyFailed` of another role the next call asks its policy again.
        """
        while not self.done and self._take_answers():
            self._move()
        return self.open

    async def advance_async(self) -> list[Decision]:
        """As `advance`, in the event loop that runs; policies that wait do so together."""
        while not self.done:
            await self._ask_others()
            if not self._take_answers():
                break
            self._move()
        return self.open

    def close(self) -> None:
        """Close the record; it can be continued where the episode has not ended."""
        self._stack.close()

    def _move(self) -> None:
        if not self.session.advance():
            self.episode = self.session.episode()
            return
        for decision in self.run.handed_out:
            if decision.role not in self._seats:
                continue
            if step := self.session.recorded(decision):
                self._kept[decision] = step.action
                self.answered += 1
            else:
                self.open.append(decision)

    def _take_answers(self) -> bool:
        """Take answers in the order of the questions; return whether none is missing."""
        for decision in self.run.open:
            if decision in self.open:
                return False
            action = self._kept.pop(decision) if decision in self._kept else self._ask(decision)
            try:
                self.session.take(decision, action)
            except WrongAction as wrong:
                if decision.role in self._seats:  # on record
                    raise BadRecord(f"decision {self.session.decided + 1}: {wrong}") from None
                raise PolicyFailed(str(wrong)) from wrong
        return True

    def _ask(self, decision: Decision) -> Any:
        with _as_policy_failed():
            answer = self.session.ask(decision, self.session.policies[decision.role].decide)
            if hasattr(answer, "__await__"):
                [(_, answer)] = self._in_loop(self.session, [(decision, answer)])
            return answer

    async def _ask_others(self) -> None:
        asked = [each for each in self.run.open if each.role not in self._seats]
        waiting = [(each, self._ask_async(each)) for each in asked if each not in self._kept]
        with _as_policy_failed():
            self._kept.update(await awaited(self.session, waiting))

    async def _ask_async(self, decision: Decision) -> Any:
        decide = decide_in_loop(self.session.policies[decision.role])
        answer = self.session.ask(decision, decide)
        return await answer if hasattr(answer, "__await__") else answer


@contextlib.contextmanager
def _as_policy_failed() -> Iterator[None]:
    try:
        yield
    except PolicyFailed:
        raise
    except DesimError as fault:
        raise PolicyFailed(str(fault)) from fault
