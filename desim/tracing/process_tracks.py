"""The processes of a traced episode: when they live, what they wait for, what interrupts them."""

from typing import Any

import simpy
from simpy.events import Condition, Event, Initialize, Interruption, Timeout
from simpy.resources.base import Get, Put

from desim.core.events import Decision
from desim.short_repr import short_repr
from desim.tracing.trace_labels import clean, process_label
from desim.tracing.trace_rows import Lasting

#: Characters of the cause of an interrupt.
_WIDTH = 80


class Processes:
    """Follows every process.

    Attributes:
        lives: All of them, in the order of their start.
    """

    def __init__(self) -> None:
        self.lives: list[Lasting] = []
        self._alive: dict[simpy.Process, Lasting] = {}
        # The time since which a process waits, and the thing that it waits for.
        self._waits: dict[simpy.Process, tuple[int, str]] = {}

    def start(self, part: str, process: simpy.Process, time: int) -> None:
        """Note that a process starts."""
        life = Lasting(part, process.name, process_label(process), time)
        self._alive[process] = life
        self.lives.append(life)

    def resume(self, process: simpy.Process, time: int) -> None:
        """Note that a process goes on."""
        life, wait = self._alive.get(process), self._waits.pop(process, None)
        if life is not None and wait is not None:
            life.waits.append((wait[0], time, wait[1]))

    def interrupt(self, event: Interruption, time: int) -> None:
        """Note that a process is interrupted."""
        if life := self._alive.get(event.process):
            life.instants.append((time, f"interrupt {interrupt_cause(event)}"))

    def yielded(self, process: simpy.Process, time: int, waits_for: str) -> None:
        """Note that a process has run: it waits now, or has ended.

        Args:
            process: The one.
            time: When it ran.
            waits_for: The thing it waits for; empty to take it from its event.
        """
        life = self._alive.get(process)
        if life is None:
            return
        if process.is_alive:
            self._waits[process] = time, clean(waits_for or waited_for(process.target))
        else:
            life.end = time + 1
            if not process.ok:
                life.arguments["failed"] = short_repr(process.value)
            del self._alive[process]

    def abandon(self, time: int) -> None:
        """End the processes that nothing will resume, because their events lost their callbacks."""
        # Looked for only after decisions, which is when models cancel something.
        for process in [each for each in self._waits if not is_pending(each)]:
            life = self._alive.pop(process)
            life.end, life.arguments["abandoned"] = time + 1, True
            del self._waits[process]

    def finish(self, time: int) -> None:
        """End what still lasts, at the end of the trace."""
        for process, life in self._alive.items():
            life.end, life.arguments["unfinished"] = time, True
            # One that has run last, where the trace is cut, is not known to wait.
            since, what = self._waits.get(process, (time, ""))
            if time > since:
                life.waits.append((since, time, what))


def resumed(event: Event) -> list[simpy.Process]:
    """Return the processes that an event which is about to be processed will resume."""
    if isinstance(event, Interruption):
        # Interrupts of a process that has ended meanwhile do nothing.
        return [event.process] if event.process.is_alive else []
    # A process waits for an event by adding its own bound method to the event's callbacks.
    owners = (getattr(callback, "__self__", None) for callback in event.callbacks or ())
    return [owner for owner in owners if isinstance(owner, simpy.Process)]


def interrupt_cause(event: Interruption) -> str:
    """Return the argument of `interrupt` in short: a value, or the class of an object."""
    interrupt: Any = event.value
    cause = interrupt.cause
    # The repr of an object may hold its address, which differs from run to run.
    is_plain = cause is None or isinstance(cause, str | int | float)
    return short_repr(cause, _WIDTH) if is_plain else type(cause).__name__


def is_pending(process: simpy.Process) -> bool:
    """Return whether an event can still resume a process that is alive.

    It cannot if a model has dropped the callbacks of the event for which the process waits.
    """
    target = process.target
    return target is None or target.callbacks is None or process._resume in target.callbacks  # noqa: SLF001


def waited_for(event: Event | None) -> str:  # noqa: PLR0911 (one line a class)
    """Return in a few words what a process waits for that has yielded an event."""
    match event:
        case None:
            return "nothing"
        case Decision():
            return f"the answer of {event.role}"
        case simpy.Process():
            return f"process {event.name}"
        case Initialize():
            return "its start"
        case Timeout():
            return "a timeout"
        case Condition():
            return f"{len(event._events)} events together"  # noqa: SLF001 (see `claims`)
        case Put() | Get():
            return f"{type(event).__name__} of {type(event.resource).__name__}"
        case _:
            return "an event" if type(event) is Event else type(event).__name__
