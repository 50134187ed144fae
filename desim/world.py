"""The clock: SimPy on whole ticks, with questions, named random streams and an end.

A process asks with `action = yield world.ask("founder", observe)`; `Run` in `kernel.py` hands the
question out and brings the answer.
"""

import hashlib
import operator
from collections.abc import Callable
from heapq import heappop, heappush
from math import inf
from typing import TYPE_CHECKING, Any

import simpy
from simpy.core import BoundClass, EmptySchedule, SimTime
from simpy.events import NORMAL, Event, Timeout

from desim.errors import NotInteger, StreamTaken, UsageError, Withdrawn, possible
from desim.log import logger

if TYPE_CHECKING:
    from numpy.random import Generator

__all__ = ["Decision", "World", "generator"]


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
        before: The rank of events that wait, at this tick, until the question is answered.
        observation: What they see; taken once, when the question is handed out.
        action: The answer, once given.
        wire: The answer as a tagged JSON object.
    """

    observation: Any
    action: Any
    wire: bytes = b""

    def __init__(
        self, world: "World", role: str, observe: Callable[[], Any], before: float = inf
    ) -> None:
        self.env = world
        self.callbacks = []
        self.role = role
        self.observe = observe
        self.before = before

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
        self.urgent: float = inf
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

    def ask(self, role: str, observe: Callable[[], Any], before: int | None = None) -> Decision:
        """Put a question to a role; yield it to receive the action.

        Args:
            role: A seated role's name.
            observe: Called once, when the question is handed out; returns what the role sees.
            before: Hand the question out before the events of this tick that have this rank or a
                higher one. Without it the instant settles first: nothing is left at its tick.

        Raises:
            UsageError: Nobody sits at that role.
        """
        if role not in self.seats:
            raise UsageError(f"nobody sits at {role!r}; {possible(role, sorted(self.seats))}")
        if before is None:
            decision = Decision(self, role, observe)
        else:
            decision = Decision(self, role, observe, NORMAL + before)
            self.urgent = min(self.urgent, decision.before)
        self.asked.append(decision)
        return decision

    def take_asked(self) -> list[Decision]:
        """Take the questions that no event of this tick has to come before."""
        queue = self._queue
        settled = not queue or queue[0][0] > self._now
        asked, self.asked, self.urgent = self.asked, [], inf
        if not settled:
            waiting = queue[0][1]
            self.asked = [decision for decision in asked if decision.before > waiting]
            self.urgent = min((decision.before for decision in self.asked), default=inf)
            asked = [decision for decision in asked if decision.before <= waiting]
        return asked

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
