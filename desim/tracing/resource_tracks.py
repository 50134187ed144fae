"""The resources of a traced episode: who waits for them, who uses them, how much they hold."""

from collections.abc import Iterator
from typing import Any

import simpy
from simpy.events import Condition, Event
from simpy.resources.base import BaseResource, Get, Put
from simpy.resources.container import Container
from simpy.resources.resource import Release, Request, Resource
from simpy.resources.store import Store

from desim.monitoring.use_by_reason import reason_of
from desim.resources import ShiftChange, has_working_hours
from desim.tracing.process_tracks import waited_for
from desim.tracing.resource_names import ResourceNames
from desim.tracing.trace_labels import process_label
from desim.tracing.trace_rows import Count, Lasting

#: A request, put or get of a SimPy resource.
Claim = Put[Any] | Get[Any]


class Resources:
    """Follows every resource from its first request on.

    A resource is known once a process waits for it or has received something from it; what happened
    before, in the same event, is not seen.

    Attributes:
        spans: Waits in queues and uses, in the order of their start.
        counts: Changes of queues, uses and levels.
    """

    def __init__(self, names: ResourceNames) -> None:
        self.spans: list[Lasting] = []
        self.counts: list[Count] = []
        self._names = names
        self._queued: dict[Claim, Lasting] = {}
        self._used: dict[Claim, Lasting] = {}
        self._shown: dict[tuple[str, str, str], float] = {}

    def claimed(self, event: Event, processes: list[simpy.Process]) -> list[BaseResource[Any, Any]]:
        """Return the resources that an event or the processes it has resumed may have changed."""
        found: dict[BaseResource[Any, Any], None] = {}
        if isinstance(event, Put | Get | ShiftChange):
            found[event.resource] = None
        for process in processes:
            for claim in claims(process.target) if process.is_alive else ():
                found[claim.resource] = None
        # One that left a queue without a grant, for instance because it was interrupted.
        for claim in self._queued:
            if claim.proc in processes:
                found[claim.resource] = None
        return list(found)

    def look(self, part: str, resource: BaseResource[Any, Any], time: int) -> None:
        """Compare a resource with what was seen of it, and keep the changes."""
        waiting: list[Claim] = [*resource.put_queue, *resource.get_queue]
        using: list[Claim] = list(resource.users) if isinstance(resource, Resource) else []
        process = next((each.proc for each in (*waiting, *using) if each.proc), None)
        name = self._names.name(resource, process)
        self._compare(part, f"{name} queue", resource, self._queued, waiting, time)
        self._compare(part, f"{name} in use", resource, self._used, using, time)
        for what, value in _numbers(resource, waiting):
            if self._shown.get((part, name, what)) != value:
                self._shown[part, name, what] = value
                self.counts.append(Count(part, name, what, time, value))

    def waits_for(self, process: simpy.Process) -> str:
        """Return what a process waits for where a variable names it; empty otherwise."""
        claim = process.target if process.is_alive else None
        if type(claim) is Event:
            name = self._names.variable(claim, process)
            return f"event {name}" if name else ""
        if not isinstance(claim, Put | Get):
            return ""
        return f"{waited_for(claim).partition(' ')[0]} {self._names.name(claim.resource, process)}"

    def finish(self, time: int) -> None:
        """End what still lasts, at the end of the trace."""
        for span in (*self._queued.values(), *self._used.values()):
            span.end, span.arguments["unfinished"] = time, True

    def _compare(
        self,
        part: str,
        kind: str,
        resource: BaseResource[Any, Any],
        known: dict[Claim, Lasting],
        present: list[Claim],
        time: int,
    ) -> None:
        gone = [each for each in known if each.resource is resource and each not in present]
        for claim in gone:
            span = known.pop(claim)
            span.end = max(time, span.start + 1)
            if known is self._queued and not claim.triggered:
                span.arguments["left"] = True
        for claim in present:
            if claim not in known and not isinstance(claim, Release):
                who = f"{claim.proc.name} {process_label(claim.proc)}" if claim.proc else ""
                known[claim] = span = Lasting(part, kind, who.strip(), time)
                if isinstance(claim, Request) and (reason := reason_of(claim)):
                    span.arguments["reason"] = reason
                self.spans.append(span)


def _numbers(resource: BaseResource[Any, Any], waiting: list[Claim]) -> Iterator[tuple[str, float]]:
    yield "queue length", len(waiting)
    if isinstance(resource, Resource):
        yield "users", resource.count
        if has_working_hours(resource):
            yield "open", resource.capacity
    elif isinstance(resource, Container):
        yield "level", resource.level
    elif isinstance(resource, Store):
        yield "items", len(resource.items)


def claims(event: Event | None) -> Iterator[Claim]:
    """Yield the requests, puts and gets that an event is, or that are among its events."""
    if isinstance(event, Put | Get):
        yield event
    elif isinstance(event, Condition):
        for each in event._events:  # noqa: SLF001 (a condition names its events nowhere else)
            yield from claims(each)
