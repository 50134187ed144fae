"""The clock and the questions that stop it.

`World` is a SimPy environment whose time is a whole number of ticks and whose processes may ask:
`action = yield world.ask("founder", observe)`. `Run` owns a world. It moves the clock until the
present instant has settled (nothing else is left at that tick), hands out the open decisions, and
takes their answers. The kernel never calls a policy.
"""

import hashlib
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from types import UnionType
from typing import TYPE_CHECKING, Any

import simpy
from attrs import frozen
from simpy.core import BoundClass, EmptySchedule, SimTime
from simpy.events import NORMAL, Event, Timeout

from desim.errors import (
    NotInteger,
    StreamTaken,
    Stuck,
    Unanswered,
    UsageError,
    Withdrawn,
    WrongAction,
    WrongResult,
    possible,
)
from desim.log import logger
from desim.protocols import PATIENCE, Model, lead
from desim.schema import codec, to_plain

if TYPE_CHECKING:
    from numpy.random import Generator

__all__ = ["Decision", "Option", "Result", "Role", "Run", "World"]


@frozen
class Option:
    """One sensible answer at this moment.

    Attributes:
        action: What to answer.
        worth: A quick estimate of what it is worth, higher is better, in the model's own unit.
        note: Why, in a few words; shown to a person.
    """

    action: Any
    worth: float
    note: str = ""


@frozen
class Role:
    """What somebody at this seat sees and does.

    Attributes:
        sees: The frozen class of the observation.
        does: The frozen class of the action, or a union of such classes.
        options: Sensible answers to an observation, never none, all accepted by the model. Greedy
            and random policies and a person's menu live on it.
        optional: The model plays this seat itself when nobody sits there.
    """

    sees: type
    does: type | UnionType
    options: Callable[[Any], Sequence[Option]] | None = None
    optional: bool = False


@frozen
class Result:
    """How an episode ended.

    Attributes:
        score: The model's score, higher is better.
        ended: The reason the model gave, or "finished" when nothing was left to happen.
        metrics: Further figures by name.
        decisions: How many questions were answered.
        ledger_digest: SHA-256 over the state's ledgers; None for a state without ledgers.
    """

    score: float
    ended: str
    metrics: Mapping[str, Any]
    decisions: int
    ledger_digest: str | None


class Ranked(Timeout):
    """A SimPy timeout with a rank among the events of its tick: lower ranks come first."""

    def __init__(self, env: "World", delay: int, value: Any = None, rank: int = 0) -> None:
        # simpy.Timeout and World.schedule, inlined because this runs for every event.
        if type(delay) is not int:
            delay = _whole(delay)
        if delay < 0:
            raise ValueError(f"a delay of {delay!r} was given; time does not run backwards")
        self.env = env
        self.callbacks = []
        self._value = value
        self._delay = delay
        self._ok = True
        entry: Any = (env._now + delay, NORMAL + rank, next(env._eid), self)  # noqa: SLF001 (our own clock)
        heappush(env._queue, entry)  # noqa: SLF001 (as above)


class Decision(Event):
    """An open question: SimPy resumes the process that yields it with the action.

    Attributes:
        role: Who is asked.
        observation: What they see; taken once, when the instant has settled.
        action: The answer, once given.
        wire: The answer as a tagged JSON object.
    """

    observation: Any
    action: Any
    wire: bytes = b""

    def __init__(self, world: "World", role: str, observe: Callable[[], Any]) -> None:
        self.env = world
        self.callbacks = []
        self.role = role
        self.observe = observe

    def settle(self, action: Any) -> None:
        """Wake the process that asked, at this tick: `succeed`, of an event that cannot be over."""
        self._ok, self._value = True, action
        world: Any = self.env
        heappush(world._queue, (world._now, NORMAL, next(world._eid), self))  # noqa: SLF001

    def withdraw(self) -> None:
        """Nobody listens any more: whoever yields this later is told to ask again."""
        self.callbacks = None  # type: ignore[assignment]
        self._ok, self._defused = False, True
        self._value = Withdrawn(
            f"the question to {self.role!r} was withdrawn, as no process waited for it; ask again"
        )


class World(simpy.Environment):
    """A SimPy environment on whole ticks, with questions, named random streams and an end.

    Attributes:
        seed: The episode's seed, a whole number of at least 0.
        seats: The roles at which somebody sits; only they can be asked.
        ended: Why the episode ended; empty while it runs.
        log: A structured logger that adds the simulated time; silent unless asked.
    """

    if TYPE_CHECKING:

        @property
        def now(self) -> int:
            """The present tick."""
            ...

        def timeout(self, delay: SimTime = 0, value: Any = None, rank: int = 0) -> Timeout:
            """Let `delay` whole ticks pass; `rank` orders events of one tick, lower first."""
            ...
    else:
        timeout = BoundClass(Ranked)

    def __init__(self, seed: int = 0, seats: frozenset[str] = frozenset()) -> None:
        super().__init__()
        self.seed = seed
        self.seats = seats
        self.ended = ""
        self.asked: list[Decision] = []
        self.log = logger(self)
        self._streams: set[tuple[str, ...]] = set()

    def schedule(self, event: Event, priority: int = NORMAL, delay: SimTime = 0) -> None:
        """Put an event on the calendar, `delay` whole ticks from now."""
        if type(delay) is not int:
            delay = _whole(delay)
        entry: Any = (self._now + delay, priority, next(self._eid), event)
        heappush(self._queue, entry)

    def moved(self, event: Event, delay: int, rank: int = 0) -> Timeout:
        """Let those who wait for an event wait for a timeout instead, sooner or later than it.

        Args:
            event: One that has not happened; when it does, it wakes nobody.
            delay: Whole ticks from now.
            rank: As for `timeout`.

        Returns:
            The timeout they wait for now.

        Raises:
            UsageError: The event has happened.
        """
        if event.callbacks is None:
            raise UsageError("a wait that is over cannot be moved to another time")
        instead = self.timeout(delay, rank=rank)
        instead.callbacks, event.callbacks = event.callbacks, []
        for callback in instead.callbacks:
            waiting = getattr(callback, "__self__", None)
            # SimPy looks here when it interrupts a process.
            if isinstance(waiting, simpy.Process):
                waiting._target = instead  # noqa: SLF001
        return instead

    def step(self) -> None:
        """Take the next event from the calendar.

        Unlike SimPy, which builds a failing process's exception anew from its arguments, this
        raises the exception itself.

        Raises:
            EmptySchedule: Nothing is left to happen.
        """
        if not self._queue:
            raise EmptySchedule
        self._now, _, _, event = heappop(self._queue)
        callbacks, event.callbacks = event.callbacks, None  # type: ignore[assignment]
        for callback in callbacks:
            callback(event)
        if not event._ok and not hasattr(event, "_defused"):  # noqa: SLF001
            raise event._value  # noqa: SLF001

    def ask(self, role: str, observe: Callable[[], Any]) -> Decision:
        """Put a question to a role; yield it to receive the action.

        Args:
            role: A seated role's name.
            observe: Called once, when the instant has settled; returns what the role sees.

        Raises:
            UsageError: Nobody sits at that role.
        """
        if role not in self.seats:
            raise UsageError(f"nobody sits at {role!r}; {possible(role, sorted(self.seats))}")
        decision = Decision(self, role, observe)
        self.asked.append(decision)
        return decision

    def end(self, reason: str) -> None:
        """End the episode after the present event; the first reason given stands."""
        self.ended = self.ended or reason

    def stream(self, *name: object) -> "Generator":
        """Claim a stream of random numbers that depends on the seed and its name alone.

        One cause, one stream: a decision then never shifts somebody else's draws.

        Args:
            name: One or more strings or integers.

        Raises:
            StreamTaken: The name was claimed before.
        """
        key = tuple(map(str, name))
        if key in self._streams:
            raise StreamTaken(f"random stream {'/'.join(key)!r} already has an owner; name another")
        self._streams.add(key)
        return generator(self.seed, *key)


def generator(seed: int, *name: str) -> "Generator":
    """Make the random numbers that belong to a seed and a name (PCG64, seeded by SHA-256)."""
    import numpy as np

    # Lengths keep ("a", "bc") and ("ab", "c") apart.
    text = f"{seed}:" + "".join(f"{len(part)}:{part}" for part in name)
    return np.random.Generator(np.random.PCG64(int(hashlib.sha256(text.encode()).hexdigest(), 16)))


def _whole(delay: Any) -> int:
    try:
        whole = int(delay) if isinstance(delay, float) else operator.index(delay)
    except (TypeError, ValueError, OverflowError):
        whole = None
    if whole is None or whole != delay:
        raise NotInteger(f"a delay of {delay!r} was given; time passes in whole ticks")
    return whole


class Run:
    """One episode: a model, a seed, and the answers still to come.

    Args:
        model: The frozen parameters.
        seed: A whole number of at least 0.
        seats: Who sits in; None stands for the model's own choice.

    Raises:
        UsageError: A seat the model does not have, a seat it needs left empty, or an odd seed.
    """

    def __init__(
        self, model: Model[Any], seed: int = 0, seats: Sequence[str] | frozenset[str] | None = None
    ) -> None:
        if type(seed) is not int or seed < 0:
            raise UsageError(f"seed {seed!r} was given; a seed is a whole number of at least 0")
        self.model = model
        self.roles = model.roles
        self.decisions = 0
        self._codec = {name: codec(role.does) for name, role in self.roles.items()}
        self._patience = getattr(model, "patience", PATIENCE)
        self._open: list[Decision] = []
        self._asked_now: dict[str, int] = {}
        self._instant = -1
        self.world = World(seed, seated(model, seats))
        self.state = model.begin(self.world)

    def advance(self) -> list[Decision]:
        """Move the clock to the next instant with open decisions and hand them out together.

        Returns:
            The decisions in the order in which they were asked; empty once the episode has ended.

        Raises:
            Unanswered: Decisions handed out before have no answer yet.
            Stuck: A role is asked more often at one instant than the model allows.
        """
        self._release()
        world, queue = self.world, self.world._queue  # noqa: SLF001
        step = world.step
        while not world.ended:
            if (not queue or queue[0][0] > world._now) and world.asked and self._hand_out():  # noqa: SLF001
                return self._open
            if not queue:
                world.end("finished")
                break
            step()
        world.log.info("episode ended", reason=world.ended, decisions=self.decisions)
        return []

    @property
    def open(self) -> list[Decision]:
        """The decisions handed out last that have no answer yet."""
        return [decision for decision in self._open if not decision.wire]

    def answer(self, decision: Decision, action: Any) -> None:
        """Answer an open decision; nothing moves before `advance` is called.

        Args:
            decision: One of those handed out last.
            action: An instance of a class the role does, or its tagged object (a mapping).

        Raises:
            WrongAction: The action is not in the role's schema.
            UsageError: The decision is not open.
        """
        if decision not in self._open or decision.wire:
            raise UsageError(f"the decision of {decision.role!r} is not open")
        try:
            decision.action, decision.wire = self._codec[decision.role].take(action)
        except WrongAction as wrong:
            raise WrongAction(
                f"{decision.role!r} answered at t={self.world.now}: {wrong}"
            ) from None

    def result(self) -> Result:
        """Sum up an ended episode.

        Raises:
            UsageError: It has not ended.
            WrongResult: The model's score is no finite number, or a metric is no JSON value.
        """
        if not self.world.ended:
            raise UsageError("the episode still runs: advance until it hands out no decision")
        return Result(
            score=_score(self.model.score(self.state)),
            ended=self.world.ended,
            metrics=_metrics(self.model.metrics(self.state)),
            decisions=self.decisions,
            ledger_digest=_digest(getattr(self.state, "ledgers", ())),
        )

    def _release(self) -> None:
        for decision in self._open:
            if not decision.wire:
                raise Unanswered(
                    f"{decision.role!r} has not answered at t={self.world.now}; answer every "
                    "decision before the clock moves on"
                )
        debug = self.world.log.debug
        for decision in self._open:
            debug("answered", role=decision.role, action=decision.action)
            decision.settle(decision.action)
        self.decisions += len(self._open)
        self._open = []

    def _hand_out(self) -> list[Decision]:
        world = self.world
        asked, world.asked = world.asked, []
        now: Any = world._now  # noqa: SLF001
        for decision in asked:
            if decision.callbacks:
                self._count(decision.role, now)
                decision.observation = decision.observe()
                self._open.append(decision)
            else:
                decision.withdraw()
        return self._open

    def _count(self, role: str, now: int) -> None:
        """Count the questions of one instant; a second one to the same role is rare."""
        if now != self._instant:
            self._instant, self._asked_now = now, {role: 1}
            return
        self._asked_now[role] = count = self._asked_now.get(role, 0) + 1
        if count > self._patience:
            raise Stuck(
                f"{role!r} was asked {count} times at t={now} and time does not move on; "
                f"the model's patience is {self._patience}"
            )


def seated(model: Model[Any], seats: Sequence[str] | frozenset[str] | None) -> frozenset[str]:
    """Check who sits in: only roles the model has, and every role it cannot play itself."""
    taken = frozenset(lead(model) if seats is None else seats)
    for name in sorted(taken - model.roles.keys()):
        raise UsageError(f"there is no role {name!r}; {possible(name, model.roles)}")
    for name, role in model.roles.items():
        if name not in taken and not role.optional:
            raise UsageError(f"role {name!r} needs somebody to decide; give it a policy")
    return taken


def _score(given: Any) -> float:
    try:
        score = float(given)
    except (TypeError, ValueError):
        score = math.nan
    if not math.isfinite(score):
        raise WrongResult(f"the model's score is {given!r}; a score is a finite number")
    return score


def _metrics(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return metrics as a record will hold them; what is not finite is not known."""
    try:
        plain: dict[str, Any] = to_plain(dict(given))
    except (TypeError, ValueError) as fault:
        raise WrongResult(f"the model's metrics are no JSON values: {fault}") from None
    return plain


def _digest(ledgers: Sequence[Any]) -> str | None:
    if not ledgers:
        return None
    return hashlib.sha256("".join(ledger.digest() for ledger in ledgers).encode()).hexdigest()
