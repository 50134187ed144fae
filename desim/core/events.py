"""The events of the clock: questions to roles, ranked timeouts, processes that are followed."""

import operator
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import simpy
from simpy import Environment
from simpy.events import NORMAL, Event, Timeout

from desim.core.roles import Role
from desim.errors import NotInteger, Withdrawn
from desim.short_repr import short_repr

#: Draws of a wait after which a redraw keeps its time: it has lasted longer than nearly all waits.
_MOST_DRAWS = 10_000

#: The priority of a delayed answer whose question waited for all events of its tick: behind all
#: events of its own tick too, but before the questions that go out then.
_BEFORE_QUESTIONS = sys.float_info.max

T = TypeVar("T")


class Ranked(Timeout):
    """A SimPy timeout with a rank among the events of its tick: lower ranks come first."""

    def __init__(self, env: Environment, delay: int, value: Any = None, rank: int = 0) -> None:
        if type(delay) is not int or delay < 0:
            delay = whole_ticks(delay)
        self._rank = rank  # `World.schedule` reads it
        Timeout.__init__(self, env, delay, value)


class Wait(NamedTuple):
    """A wait of random length that is under way.

    Attributes:
        event: Ends it.
        start: The tick at which it began.
        draw: Returns the whole ticks of such a wait, drawn anew.
    """

    event: Timeout
    start: int
    draw: Callable[[], int]

    def end_after(self, tick: int) -> int | None:
        """Return the end of another such wait that lasts beyond a tick; None if none was drawn."""
        for _ in range(_MOST_DRAWS):
            if (end := self.start + whole_ticks(self.draw())) > tick:
                return end
        return None


class Kept(list[T]):
    """A list from which items that are over are removed whenever it has doubled.

    Args:
        lasts: Returns whether an item is not over.
    """

    def __init__(self, lasts: Callable[[T], bool]) -> None:
        super().__init__()
        self._lasts = lasts
        self._most = 256

    def add(self, item: T) -> None:
        """Append an item."""
        self.append(item)
        if len(self) > self._most:
            self[:] = filter(self._lasts, self)
            self._most = 2 * len(self) + 256


class Tracked(simpy.Process):
    """A SimPy process that its world keeps on a list until it has ended."""

    def __init__(self, env: Any, generator: Any) -> None:
        super().__init__(env, generator)
        env.processes.add(self)


class Waiters(list[Any]):
    """The callbacks of a question.

    Attributes:
        left: Whether a process that waited for it has been interrupted or has gone on without it.
    """

    left = False

    def remove(self, callback: Any) -> None:
        """Remove a callback: SimPy calls this when a process stops waiting."""
        self.left = True
        super().remove(callback)


class Decision(Event):
    """An open question to a role: SimPy resumes the process that yields it with the action.

    Attributes:
        role: The role that is asked.
        before: The priority of events that wait, at this tick, until the question is answered.
        actions: The action classes that may answer it, as `World.ask` takes them; None for all.
        narrowed: The role with these alone, from when it is handed out; None for all.
        observation: What the role observes; made once, when the question is handed out.
        action: The answer, once given.
        wire: The answer as a tagged JSON object; empty until the answer is given.
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
        self,
        world: Environment,
        role: str,
        observe: Callable[[], Any],
        before: float,
        actions: Any,
    ) -> None:
        super().__init__(world)
        self.callbacks = Waiters()
        self.role = role
        self.observe = observe
        self.before = before
        self.actions = actions

    @property
    def possible(self) -> tuple[str, ...]:
        """The tags of the actions that may answer it; empty where all of the role's may."""
        return self.narrowed.tags if self.narrowed is not None else ()

    def settle(self, action: Any) -> None:
        """Resume the process that asked: at this tick, or when its delay has passed."""
        delay = 0 if self.is_relayed else self.delay
        priority: Any = min(self.before - 0.5, _BEFORE_QUESTIONS) if delay else NORMAL
        # As a timeout does, because `Event.succeed` takes no delay.
        self._ok, self._value = True, action
        self.env.schedule(self, priority, delay)

    def withdraw(self) -> None:
        """Close a question that no process waits for; a process that yields it later fails."""
        # callbacks = None marks the event as processed, so a late `yield` resumes at once and
        # raises. `_defused` keeps SimPy from raising if nothing yields it.
        self.callbacks = None  # type: ignore[assignment]
        self._ok, self._defused = False, True
        self._value = Withdrawn(
            f"the question to {self.role!r} was withdrawn, as no process waited for it; ask again"
        )


def whole_ticks(delay: Any) -> int:
    """Return a delay as an int.

    Raises:
        NotInteger: It is not a whole number.
        ValueError: It is below 0.
    """
    try:
        whole = int(delay) if isinstance(delay, float) else operator.index(delay)
    except (TypeError, ValueError, OverflowError):
        whole = None
    if whole is None or whole != delay:
        raise NotInteger(f"a delay of {short_repr(delay)} was given; time passes in whole ticks")
    if whole < 0:
        raise ValueError(f"a delay of {short_repr(delay)} was given; a delay is at least 0")
    return whole
