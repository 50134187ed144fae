"""Plays an episode in plain code, or in an event loop where policies are coroutines."""

import contextlib
import inspect
import types
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from desim.collector import rare_collections
from desim.core.events import Decision
from desim.core.limits import Alarm
from desim.core.policy import OutsidePolicy, Policy
from desim.core.streams import kept_globals, unseeded_globals
from desim.episodes.episode_options import EpisodeOptions, ModelOptions
from desim.episodes.lineup import Policies, resolve
from desim.episodes.session import Session
from desim.errors import DesimError, PolicyFailed, UsageError
from desim.faults import RAISED
from desim.records.episode import Episode
from desim.records.record_lock import RecordLock
from desim.schema.signatures import takes

if TYPE_CHECKING:  # asyncio takes longer to import than desim itself
    import asyncio

#: Decisions of one tick with their answers.
Answers = Sequence[tuple[Decision, Any]]

_Decide = Callable[[Any], Any]


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
    deciding = {role: policy.decide for role, policy in session.policies.items()}
    with own_loop("play_async") as in_loop:

        async def answers(session: Session, given: Answers) -> Answers:
            return in_loop(session, given)

        try:
            _played(session, deciding, answers).send(None)  # it awaits nothing
        except StopIteration as end:
            episode: Episode = end.value
        return episode


async def play_session_async(session: Session) -> Episode:
    """Play a session to its end in the event loop that runs.

    Awaitables of one tick are awaited concurrently. Their decisions are recorded in the order in
    which they were handed out, once all are made; what must not be lost if the run is killed before
    is written by the function that `OutsidePolicy.resume` takes.
    """
    deciding = {role: decide_in_loop(policy) for role, policy in session.policies.items()}
    return await _played(session, deciding, awaited)


async def _played(
    session: Session,
    deciding: Mapping[str, _Decide],
    answers: Callable[[Session, Answers], Awaitable[Answers]],
) -> Episode:
    with rare_collections(), Alarm(session.seconds), session.way_on_named():
        while decisions := session.advance():
            if waiting := _decide_all(session, decisions, deciding):
                for decision, action in await answers(session, waiting):
                    session.take(decision, action)
        return session.episode()


def _decide_all(
    session: Session, decisions: Sequence[Decision], deciding: Mapping[str, _Decide]
) -> Answers:
    """Let the policies of one tick decide; return what is to be awaited, from the first on."""
    waiting: list[tuple[Decision, Any]] = []
    try:
        for decision in decisions:
            action = session.ask(decision, deciding[decision.role])
            if waiting or hasattr(action, "__await__"):
                waiting.append((decision, action))
            else:
                session.take(decision, action)
    except BaseException:
        _discard(waiting)
        raise
    return waiting


async def awaited(session: Session, given: Answers) -> Answers:
    """Await all answers of one tick concurrently; some may be actions already."""
    import asyncio  # takes longer to import than desim itself

    async def one(decision: Decision, answer: Any) -> Any:
        try:
            return await _watched(answer) if inspect.isawaitable(answer) else answer
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


@contextlib.contextmanager
def own_loop(otherwise: str) -> Iterator[Callable[[Session, Answers], Answers]]:
    """Yield what awaits the answers of one tick, in one event loop for a whole episode.

    A client of a policy is bound to the loop that it has used first. The error where an event loop
    runs here already names what can be called *otherwise*.
    """
    runner: asyncio.Runner | None = None

    def answers(session: Session, given: Answers) -> Answers:
        nonlocal runner
        import asyncio

        with contextlib.suppress(RuntimeError):  # no event loop runs
            asyncio.get_running_loop()
            _discard(given)
            raise PolicyFailed(
                f"the policy of {given[0][0].role!r} is a coroutine, and an event loop runs here; "
                f"use {otherwise}"
            )
        runner = runner or asyncio.Runner()
        # Not `Runner.run`, which keeps Ctrl-C from a policy that computes.
        return runner.get_loop().run_until_complete(awaited(session, given))

    try:
        yield answers
    finally:
        # It runs where a stopped server leaves a policy that still decides in its thread.
        if runner is not None and not runner.get_loop().is_running():
            runner.close()


def decide_in_loop(policy: Policy) -> _Decide:
    """Return the method with which a policy decides in an event loop."""
    return policy.decide_async if isinstance(policy, OutsidePolicy) else policy.decide
