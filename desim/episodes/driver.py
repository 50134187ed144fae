"""Plays an episode in plain code or in an event loop, to its end or from decision to decision."""

import contextlib
import inspect
import types
from collections.abc import Awaitable, Callable, Collection, Generator, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from attrs import field, frozen

from desim import catalog
from desim.catalog.policy_spec import label
from desim.collector import rare_collections
from desim.core.events import Decision
from desim.core.limits import Alarm
from desim.core.model import Model
from desim.core.policy import OutsidePolicy, Policy
from desim.core.streams import kept_globals, unseeded_globals
from desim.episodes.lineup import Policies, resolve
from desim.episodes.session import EpisodeOptions, Session
from desim.errors import BadRecord, DesimError, PolicyFailed, UsageError, WriteFailed
from desim.faults import RAISED
from desim.records.episode import Episode
from desim.records.record_lock import RecordLock
from desim.schema import codec
from desim.schema.signatures import takes

if TYPE_CHECKING:  # asyncio takes longer to import than desim itself
    import asyncio

#: Decisions of one tick with their answers.
Answers = Sequence[tuple[Decision, Any]]


@frozen(kw_only=True, slots=False)
class ModelOptions:
    """The model that is played.

    Attributes:
        model: A name in the catalog or `module:Class`, with or without `/preset`; a model class; or
            a model.
        preset: A preset of the model; `desim list MODEL` shows them; default: the first.
        set: A parameter of the model, or with dots a field inside one. In Python a mapping of
            parameters to values or texts.
    """

    model: Model[Any] | type | str = field(kw_only=False)
    preset: str = ""
    set: Mapping[str, Any] | None = None

    def build(self) -> Model[Any]:
        """Return the model with its parameters."""
        return catalog.model(self.model, self.preset, self.set)


@frozen(kw_only=True, slots=False)
class PlayOptions(EpisodeOptions, ModelOptions):
    """The arguments of `play`.

    Attributes:
        policies: NAME or module:Name, then ,KEY=VALUE for each argument. Several that name
            different roles play together. In Python a spec, an instance, a class or a function for
            the default roles, or a mapping of roles to these.
        seed: A whole number of at least 0.
        record: Write the episode to a new file, line by line. It is locked until the episode has
            ended.
    """

    policies: Policies = field(default=None, kw_only=False)
    seed: int = field(default=0, kw_only=False)
    record: str | Path | None = None


@takes(PlayOptions)
def play(options: PlayOptions) -> Episode:
    """Play one episode, with an event loop of its own if a policy is a coroutine.

    Raises:
        UsageError: A model, policy, argument or role does not exist, or the file of the record or
            of the trace does.
        WrongAction: A policy returned an action that is not in its role's schema.
        PolicyFailed: A policy raised an exception.
        ModelFailed: The model raised an exception; the record names the place.
        LimitReached: The episode has used up its time, events or decisions.
        WriteFailed: The record cannot be written; it holds the decisions before that.
    """
    with kept_globals(options.seed), _opened(options) as session:
        return play_session(session)


@takes(PlayOptions)
async def play_async(options: PlayOptions) -> Episode:
    """Play one episode as `play` does, in the event loop that runs; see `play_session_async`."""
    with _opened(options) as session:
        return await play_session_async(session)


@contextlib.contextmanager
def _opened(options: PlayOptions) -> Iterator[Session]:
    model, record = options.build(), options.record
    lineup = resolve(model, options.policies, options.seed)
    lock = RecordLock(record) if record else contextlib.nullcontext()
    with lock, Session(model, lineup, options.seed, record, how=options) as session:
        yield session


def play_session(session: Session) -> Episode:
    """Play a session to its end, with an event loop if a policy returns an awaitable."""
    driver = Driver(session)
    with rare_collections(), Alarm(session.seconds), contextlib.closing(driver):
        driver.advance()
    assert driver.episode is not None
    return driver.episode


async def play_session_async(session: Session) -> Episode:
    """Play a session to its end in the event loop that runs.

    Awaitables of one tick are awaited concurrently. Their decisions are recorded in the order in
    which they were handed out, once all are made; what must not be lost if the run is killed before
    is written by the function that `OutsidePolicy.resume` takes.
    """
    driver = Driver(session)
    with rare_collections(), Alarm(session.seconds):
        await driver.advance_async()
    assert driver.episode is not None
    return driver.episode


class Driver:
    """Moves a session on: policies answer for their roles, and it stops at decisions of a caller.

    Attributes:
        open: The caller's decisions without an answer; empty at the end.
        answered: The number of decisions that the caller has made, those on record included.
        episode: The ended episode; None before its end.
    """

    def __init__(self, session: Session, seats: Collection[str] = ()) -> None:
        self.session, self.run = session, session.run
        self.open: list[Decision] = []
        self.answered = 0
        self.episode: Episode | None = None
        self._seats = seats
        self._kept: dict[Decision, Any] = {}  # answers behind one that is missing
        self._together = False  # whether policies behind an open decision of the caller decide
        self._runner: asyncio.Runner | None = None

    @property
    def done(self) -> bool:
        """Whether the episode has ended."""
        return self.episode is not None

    def advance(self) -> list[Decision]:
        """Move to the caller's next decisions and return them; an empty list at the end.

        Decisions of the caller without an answer stay open, and the clock where it is.
        """
        deciding = {role: policy.decide for role, policy in self.session.policies.items()}
        self._together = False
        with contextlib.suppress(StopIteration):
            self._moved(deciding, self._in_own_loop).send(None)  # awaits nothing
        return self.open

    async def advance_async(self) -> list[Decision]:
        """As `advance`, in the event loop that runs; policies that wait do so together."""
        policies, self._together = self.session.policies.items(), True
        deciding = {
            role: one.decide_async if isinstance(one, OutsidePolicy) else one.decide
            for role, one in policies
        }
        await self._moved(deciding, partial(awaited, self.session))
        return self.open

    def close(self) -> None:
        """Close the event loop, if one was needed."""
        runner, self._runner = self._runner, None
        # It runs where a stopped server leaves a policy that still decides in its thread.
        if runner is not None and not runner.get_loop().is_running():
            runner.close()

    async def _moved(
        self,
        deciding: Mapping[str, Callable[..., Any]],
        answers: Callable[[Answers], Awaitable[Answers]],
    ) -> None:
        if self.done:
            return
        decisions: Sequence[Decision] = self.run.open
        try:
            # Called directly without a caller: a call takes a hundredth of the time of a decision.
            move = self._move if self._seats else self.session.advance
            while decisions or (decisions := move()):
                if waiting := self._decide(decisions, deciding):
                    self._kept.update(await answers(waiting))
                elif self.open:
                    return
                decisions = self.run.open if waiting else ()
            if not self.open:
                self.episode = self.session.episode()
        except (BadRecord, PolicyFailed, WriteFailed):
            raise
        except DesimError as fault:
            # A caller must tell a wrong action of another role from its own.
            if self._seats and self.run.fault is None:
                raise PolicyFailed(str(fault)) from fault
            raise

    def _decide(
        self,
        decisions: Sequence[Decision],
        deciding: Mapping[str, Callable[..., Any]],
    ) -> list[tuple[Decision, Any]]:
        """Take answers in the order of the questions; return those that are to be awaited."""
        session, is_missing = self.session, False
        waiting: list[tuple[Decision, Any]] = []
        try:
            for decision in decisions:
                if self.open and decision in self.open:
                    if not self._together:
                        break
                    is_missing = True
                    continue
                if self._kept and decision in self._kept:
                    action = self._kept.pop(decision)
                else:
                    action = session.ask(decision, deciding[decision.role])
                if hasattr(action, "__await__"):
                    waiting.append((decision, action))
                    is_missing = True
                elif is_missing:
                    self._kept[decision] = action
                else:
                    session.take(decision, action)
        except BaseException:
            _discard(waiting)
            raise
        return waiting

    def _move(self) -> Sequence[Decision]:
        """Move the clock and return the next decisions, of which some are the caller's."""
        decisions = self.session.advance()
        for decision in decisions:
            if decision.role in self._seats:
                if step := self.session.recorded(decision):
                    self._kept[decision] = step.action
                    self.answered += 1
                else:
                    self.open.append(decision)
        return decisions

    async def _in_own_loop(self, given: Answers) -> Answers:
        import asyncio

        with contextlib.suppress(RuntimeError):  # no event loop runs
            asyncio.get_running_loop()
            _discard(given)
            raise PolicyFailed(
                f"the policy of {given[0][0].role!r} is a coroutine, and an event loop runs here; "
                "use play_async, or advance_async of a session"
            )
        # One for a whole episode: a client of a policy is bound to the loop that it has used first.
        self._runner = self._runner or asyncio.Runner()
        # Not `Runner.run`, which keeps Ctrl-C from a policy that computes.
        return self._runner.get_loop().run_until_complete(awaited(self.session, given))


class CallerSeat(Policy):
    """The policy of a caller's role; `CallerSession.answer` takes the answers instead."""

    def decide(self, _: Any) -> Any:
        """Refuse to decide."""
        raise UsageError("the caller of this session answers for its seats")


class CallerSession(Driver):
    """One episode in which the caller answers for some roles, and policies for the others.

    It stops at the caller's decisions of one instant, `open`. After an `answer` to each, `advance`
    moves on to the next ones. After a `PolicyFailed` of another role the next call asks its policy
    again.

    Args:
        seats: The caller's roles, or by role the caller's name in the record.
        others: Policies by role for the other roles.
        record: The file that receives the episode; None records nothing.
        past: A cut record, whose decisions are made again before the first open one; a policy that
            began after some of them on record begins there again.
        locked: Whether the caller holds the lock of the record; otherwise the session locks it.
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
        others = others or {}
        labels = dict(seats if isinstance(seats, Mapping) else dict.fromkeys(seats, "external"))
        labels |= {role: label(one) for role, one in others.items()}
        policies = {role: CallerSeat() for role in seats} | dict(others)
        lineup = resolve(model, policies, seed, labels)
        with contextlib.ExitStack() as stack:  # closes what is open if a line below raises
            if record is not None and not locked:
                stack.enter_context(RecordLock(record))
            how = EpisodeOptions(keep_steps=keep_steps, keep_state=False)
            session = stack.enter_context(Session(model, lineup, seed, record, past, how))
            super().__init__(session, frozenset(seats))
            self._stack = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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

    def close(self) -> None:
        """Close the record; it can be continued where the episode has not ended."""
        super().close()
        self._stack.close()


async def awaited(session: Session, given: Answers) -> Answers:
    """Await all answers of one tick concurrently."""
    import asyncio  # takes longer to import than desim itself

    async def one(decision: Decision, answer: Any) -> Any:
        try:
            return await _watched(answer)
        except DesimError:
            raise
        except RAISED as fault:
            raise session.failed(decision, fault) from fault

    tasks = [asyncio.ensure_future(one(*each)) for each in given]
    try:
        actions = await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
    return [(decision, action) for (decision, _), action in zip(given, actions, strict=True)]


@types.coroutine
def _watched(answer: Awaitable[Any]) -> Generator[Any, Any, Any]:
    """Await an answer whose steps may not draw from the generators that all episodes share."""
    steps = answer.__await__()
    step = partial(next, steps)
    while True:
        before = unseeded_globals()
        try:
            wanted = step()
        except StopIteration as end:
            return end.value
        finally:
            if before != unseeded_globals():
                raise UsageError(
                    "it drew from random or numpy.random while episodes overlap in one event loop; "
                    "let it draw from Seat.generator"
                )
        try:
            yield wanted
        except BaseException as fault:  # noqa: BLE001 (handed on, such as a cancellation)
            step = partial(steps.throw, fault)
        else:
            step = partial(next, steps)


def _discard(given: Answers) -> None:
    for _, answer in given:
        if inspect.iscoroutine(answer):
            answer.close()  # Python warns of one that is never awaited
