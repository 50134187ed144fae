"""The events of the clock: ranked timeouts, waits of random length, questions to roles."""

import contextlib
import operator
import sys
from collections.abc import Callable, Mapping
from heapq import heappush
from typing import Any

from simpy import Environment
from simpy.events import NORMAL, Event, Timeout

from desim.core.roles import Role
from desim.errors import ModelFailed, Withdrawn
from desim.short_repr import short_repr

#: Draws of a wait after which a redraw keeps its time: it has lasted longer than nearly all waits.
_MOST_DRAWS = 10_000

#: The priority of a delayed answer whose question waited for all events of its tick: behind all
#: events of its own tick too, but before the questions that go out then.
_BEFORE_QUESTIONS = sys.float_info.max


class Ranked(Timeout):
    """A SimPy timeout with a rank among the events of its tick: lower ranks come first."""

    def __init__(self, env: Environment, delay: int, value: Any = None, rank: int = 0) -> None:
        # The fields of SimPy's constructor, which takes no rank.
        self.env = env
        self.callbacks = []
        self._value = value
        self._delay = delay
        self._ok = True
        if type(delay) is not int or delay < 0:
            delay = whole_ticks(delay)
        # Not `schedule`, whose call takes a twelfth of the time of an event.
        entry: Any = (env._now + delay, NORMAL + rank, next(env._eid), self)  # noqa: SLF001
        heappush(env._queue, entry)  # noqa: SLF001


class Wait(Ranked):
    """A timeout of random length, in whole ticks, whose rest a redraw draws anew."""

    def __init__(self, env: Environment, draw: Callable[[], int], rank: int = 0) -> None:
        super().__init__(env, draw(), rank=rank)
        self._start, self._draw = env.now, draw

    def drawn_after(self, tick: int) -> int | None:
        """Return the end of another such wait that lasts beyond a tick; None if none was drawn."""
        for _ in range(_MOST_DRAWS):
            if (end := int(self._start) + whole_ticks(self._draw())) > tick:
                return end
        return None


class Waiters(list[Any]):
    """The callbacks of a question; `left` if a process has stopped waiting for it."""

    left = False

    def remove(self, callback: Any) -> None:
        """Remove a callback, as SimPy does when a process stops waiting."""
        self.left = True
        super().remove(callback)


class Decision(Event):
    """An open question to a role: SimPy resumes the process that yields it with the action.

    Attributes:
        before: The priority of events that wait, at this tick, until the question is answered.
        actions: The action classes that may answer it, as `World.ask` takes them; None for all.
        narrowed: The role with these alone, from when the question is handed out; None for all.
        action: The answer, once given; `wire` is its tagged JSON object.
        delay: Ticks from the question until the answer takes effect.
        is_relayed: Whether a part has asked it, which delays the answer in its own ticks.
    """

    observation: Any
    action: Any
    wire: bytes = b""
    narrowed: Role | None = None
    delay: int = 0
    is_relayed: bool = False

    def __init__(
        self, world: Environment, role: str, observe: Callable[[], Any], before: float, actions: Any
    ) -> None:
        self.env = world
        self.callbacks = Waiters()
        self.role = role
        self.observe = observe
        self.before = before
        self.actions = actions

    @property
    def spec(self) -> Role:
        """The role, with the actions alone that may answer."""
        roles: Mapping[str, Role] = getattr(self.env, "roles")  # noqa: B009 (a World's)
        return self.narrowed or roles[self.role]

    @property
    def possible(self) -> tuple[str, ...]:
        """The tags of the actions that may answer it; empty where all of the role's may."""
        return self.narrowed.tags if self.narrowed else ()

    def settle(self, action: Any) -> None:
        """Resume the process that asked: at this tick, or when its delay has passed."""
        # As a timeout does, because `Event.succeed` takes no delay.
        self._ok, self._value = True, action
        if self.delay and not self.is_relayed:
            priority: Any = min(self.before - 0.5, _BEFORE_QUESTIONS)
            self.env.schedule(self, priority, self.delay)
        else:
            env: Any = self.env
            heappush(env._queue, (env._now, NORMAL, next(env._eid), self))  # noqa: SLF001

    def withdraw(self) -> None:
        """Close a question that no process waits for; a process that yields it later fails."""
        # Marked as processed, so a late `yield` resumes at once and raises; `_defused` keeps SimPy
        # from raising if nothing yields it.
        self.callbacks = None  # type: ignore[assignment]
        self._ok, self._defused = False, True
        self._value = Withdrawn(
            f"the question to {self.role!r} was withdrawn, as no process waited for it; ask again"
        )


def whole_ticks(delay: Any) -> int:
    """Return a delay as an int, also one of numpy, or a float without a fraction."""
    whole: int | None = None
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        whole = int(delay) if isinstance(delay, float) else operator.index(delay)
    if whole is None or whole != delay:
        raise ModelFailed(f"a delay of {short_repr(delay)} was given; time passes in whole ticks")
    if whole < 0:
        raise ValueError(f"a delay of {short_repr(delay)} was given; a delay is at least 0")
    return whole
