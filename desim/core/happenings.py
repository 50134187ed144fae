"""What an event of SimPy is about, for the log and for traces."""

from collections.abc import Iterator
from typing import Any

import simpy
from simpy.events import Condition, Event, Initialize, Interruption, Timeout
from simpy.resources.base import Get, Put

from desim.core.world import Decision, World
from desim.short_repr import short_repr

__all__ = [
    "Claim",
    "claims",
    "first_event",
    "interrupt_cause",
    "is_pending",
    "resumed",
    "waited_for",
]

#: Characters of a value.
_WIDTH = 80

#: A request, put or get of a SimPy resource.
Claim = Put[Any] | Get[Any]


def first_event(world: World) -> tuple[int, int, Event]:
    """Return tick, serial number and event of the first entry of a world's calendar."""
    tick, _, number, event = world._queue[0]  # noqa: SLF001 (our own clock)
    return tick, number, event  # type: ignore[return-value] # ticks are int


def resumed(event: Event) -> list[simpy.Process]:
    """Return the processes that an event which is about to be processed will resume."""
    if isinstance(event, Interruption):
        # Interrupts of a process that has ended meanwhile do nothing.
        return [event.process] if event.process.is_alive else []
    owners = (getattr(callback, "__self__", None) for callback in event.callbacks or ())
    return [owner for owner in owners if isinstance(owner, simpy.Process)]


def interrupt_cause(event: Interruption) -> str:
    """Return in short what `interrupt` was called with: a value, or the class of an object."""
    interrupt: Any = event.value
    cause = interrupt.cause
    # The repr of an object may hold its address, which differs from run to run.
    is_plain = cause is None or isinstance(cause, str | int | float)
    return short_repr(cause, _WIDTH) if is_plain else type(cause).__name__


def is_pending(process: simpy.Process) -> bool:
    """Return whether something will still resume a process that is alive.

    A model may drop the callbacks of an event for which a process waits; that never goes on then.
    """
    target = process.target
    return target is None or target.callbacks is None or process._resume in target.callbacks  # noqa: SLF001


def claims(event: Event | None) -> Iterator[Claim]:
    """Yield the requests, puts and gets that an event is, or that are among its events."""
    if isinstance(event, Put | Get):
        yield event
    elif isinstance(event, Condition):
        for each in event._events:  # noqa: SLF001 (a condition names its events nowhere else)
            yield from claims(each)


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
            return f"{len(event._events)} events together"  # noqa: SLF001 (as above)
        case Put() | Get():
            return f"{type(event).__name__} of {type(event.resource).__name__}"
        case _:
            return "an event" if type(event) is Event else type(event).__name__
