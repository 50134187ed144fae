"""The last events of a run, for the text of an error."""

from collections import deque
from typing import Any

import simpy
from simpy.events import Event
from simpy.resources.base import Get, Put

from desim.core.events import Decision
from desim.core.run import Observer, Run
from desim.core.world import World
from desim.errors import UsageError
from desim.resources import ShiftChange
from desim.short_repr import short_repr
from desim.tracing.resource_names import ResourceNames

#: The most events kept, the last ones of a run.
MAX_EVENTS = 100_000


class LastEvents(Observer):
    """An observer of a run that keeps the events processed last.

    Args:
        most: The number of events to keep, from 1 to `MAX_EVENTS`.

    Raises:
        UsageError: *most* is not a whole number in this range.
    """

    def __init__(self, most: int) -> None:
        if type(most) is not int or not 0 < most <= MAX_EVENTS:
            raise UsageError(
                f"the last {short_repr(most)} events were to be kept; give a whole number from 1 "
                f"to {MAX_EVENTS:,}"
            )
        # The callbacks are kept, too: an event loses them when it is processed.
        self._kept: deque[tuple[World, int, Event, Any]] = deque(maxlen=most)
        self._count = 0

    def attach(self, run: Run[Any]) -> None:
        """Prepare for a run."""
        self._run = run

    def event(self, world: World) -> None:
        """Keep the event that is processed next."""
        tick, _, event = next(world.scheduled())
        self._kept.append((world, tick, event, event.callbacks))
        self._count += 1

    def text(self) -> str:
        """Return the events, one in a line, the last one below: tick, class, processes, role."""
        if not self._kept:
            return "no event was processed"
        head = f"the last {len(self._kept):,} of {self._count:,} events:"
        width = max(len(str(tick)) for _, tick, _, _ in self._kept)
        names = ResourceNames(self._run)
        lines = (
            f"  t={tick:<{width}} {_event_label(names, world, event, callbacks)}"
            for world, tick, event, callbacks in self._kept
        )
        return "\n".join((head, *lines))


def _event_label(resources: ResourceNames, world: World, event: Event, callbacks: Any) -> str:
    part = f"{world.prefix.rstrip('.')}: " if world.prefix else ""
    owners = [getattr(callback, "__self__", None) for callback in callbacks or ()]
    names = [owner.name for owner in owners if isinstance(owner, simpy.Process)]
    resumes = f" resumes {', '.join(names)}" if names else ""
    return f"{part}{_class(event)}{_what(event, resources)}{resumes}"


def _class(event: Event) -> str:
    # Under SimPy's names, which a model uses; the world's own classes stand for them.
    for known in (simpy.Process, simpy.Timeout):
        if isinstance(event, known) and type(event).__module__.startswith("desim.core."):
            return known.__name__
    return type(event).__name__


def _what(event: Event, resources: ResourceNames) -> str:
    match event:
        case Decision():
            return f" of {event.role}: {short_repr(event.action)}"
        case simpy.Process():
            return f" {event.name} {'ended' if event.ok else 'failed'}"
        case simpy.events.Interruption():
            return f" of {event.process.name}"
        case Put() | Get():
            return f" of {resources.name(event.resource, event.proc)}"
        case ShiftChange():
            return f" of {resources.name(event.resource, None)}"
        case _:
            return ""
