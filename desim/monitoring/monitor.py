"""Monitors of SimPy's resources: queues, waiting times, utilisation, levels.

The queues of SimPy's resources, observed: who came, who was served, who gave up.
"""

from collections.abc import Callable, Iterator
from functools import partial
from math import inf
from typing import Any

import simpy
from simpy.resources.base import BaseResource, Put

from desim.core.points import checked_name
from desim.core.world import World
from desim.errors import UsageError
from desim.monitoring.tally import Tally
from desim.monitoring.time_weighted import TimeWeighted
from desim.monitoring.use_by_reason import UseByReason
from desim.monitoring.warm_up import checked_warm_up, plain
from desim.resources import has_working_hours, watch_capacity


class QueueMonitor:
    """Statistics of one queue.

    Args:
        clock: The world.
        warm_up: The time before this tick does not count.
        changed: Called with the length whenever it changes.

    Attributes:
        length: Events that wait, over time.
        waits: Ticks from the arrival of an event to its grant, of those granted; 0 of one that was
            granted at once.
        cancelled: Events that left before they were granted: cancelled, reneged or interrupted.
    """

    def __init__(self, clock: World, warm_up: int, changed: Callable[[int], object]) -> None:
        self.length = TimeWeighted(clock, warm_up=warm_up)
        self.waits = Tally(clock, warm_up=warm_up)
        self.cancelled = 0
        self._clock = clock
        self._warm_up = warm_up
        self._changed = changed
        self._arrived: dict[Any, int] = {}

    def arrive(self, event: Any, length: int) -> None:
        """Count an event that waits from now on; *length* counts it too."""
        self._arrived[event] = self._clock.now
        self._set(length)

    def grant(self, event: Any, length: int) -> None:
        """Count an event that waits no longer because it was granted."""
        self.waits.add(self._clock.now - self._arrived.pop(event, self._clock.now))
        self._set(length)

    def cancel(self, event: Any, length: int) -> None:
        """Count an event that has left without a grant."""
        self._arrived.pop(event, None)
        self._set(length)
        if self._clock.now >= self._warm_up:
            self.cancelled += 1

    def _set(self, length: int) -> None:
        self.length.set(length)
        self._changed(length)


class _Observed(list[Any]):
    """A queue of a resource that reports to a monitor.

    SimPy uses three operations on the queues of its resources: `append` where a process asks, `pop`
    where an event was granted, and `remove` where one is cancelled, also by the end of its `with`.
    """

    monitor: QueueMonitor

    def append(self, event: Any) -> None:
        super().append(event)  # first, as a bounded queue may refuse it
        self.monitor.arrive(event, len(self))

    def pop(self, at: Any = -1) -> Any:
        event = super().pop(at)
        self.monitor.grant(event, len(self))
        return event

    def remove(self, event: Any) -> None:
        super().remove(event)
        self.monitor.cancel(event, len(self))


def observe(resource: BaseResource[Any, Any], name: str, monitor: QueueMonitor) -> None:
    """Let a queue of a resource report to a monitor; events that wait already arrive now.

    Args:
        resource: A resource that is not observed.
        name: `put_queue` or `get_queue`.
        monitor: Receives the events.
    """
    old = getattr(resource, name)
    # A subclass of the queue's own class, because a queue may keep its events in an order.
    kinds = (_Observed,) if type(old) is list else (_Observed, type(old))
    kind: Any = type("Observed", kinds, {})
    new: Any = kind.__new__(kind)
    vars(new).update(getattr(old, "__dict__", {}), monitor=monitor)
    list.extend(new, old)
    for event in old:
        monitor.arrive(event, len(old))
    for alias in ("put_queue", "get_queue", "queue"):
        if getattr(resource, alias, None) is old:
            setattr(resource, alias, new)


def is_observed(resource: BaseResource[Any, Any]) -> bool:
    """Return whether a queue of a resource is observed."""
    return isinstance(resource.put_queue, _Observed)


#: The quantile of waiting times that is a metric.
_HIGH = 0.95


def monitor(
    resource: simpy.Resource | simpy.Container | simpy.Store, name: str, *, warm_up: int = 0
) -> "Monitor":
    """Monitor a resource of SimPy from now on.

    The resource keeps its class, and processes use it as before: its queues are replaced by ones
    that report what enters and leaves, and its grants are watched. Nothing is scheduled and no
    order changes. Where the series of the episode are wanted, the monitor records them as
    `NAME.in_use`, `NAME.queue` and, with working hours, `NAME.open` (a resource), or `NAME.level`,
    `NAME.put_queue` and `NAME.get_queue` (a container or a store). Traces show the resource under
    this name.

    Args:
        resource: A `Resource`, a `Container` or a `Store` of a `World`, or an instance of a
            subclass, such as `PreemptiveResource` or `FilterStore`.
        name: Words in snake_case, joined by dots; begins the names of series and metrics.
        warm_up: The statistics leave out the time before this tick; the series include it.

    Raises:
        UsageError: The resource has another type or is already monitored, or the name or the
            warm-up is invalid.
    """
    if not isinstance(resource, simpy.Resource | simpy.Container | simpy.Store):
        raise UsageError(
            f"{type(resource).__name__} cannot be monitored; a simpy Resource, Container or Store "
            "can"
        )
    if is_observed(resource):
        raise UsageError(f"the resource is monitored already, so it cannot be as {name!r} too")
    return Monitor(resource, checked_name(name), checked_warm_up(warm_up))


class Monitor:
    """Statistics of one resource; made by `monitor`.

    Attributes:
        name: As given.
        level: Over time: the units of a resource in use, the content of a container, the items in a
            store.
        puts: The queue of requests, or of puts.
        gets: The queue of gets of a container or a store.
        preempted: Requests of a `PreemptiveResource` that lost their unit to another one.
        off_shift: Requests that lost their unit at the end of a shift; see `WorkingHours`.
        open: Over time, the capacity of a resource; None where it is infinite.
    """

    def __init__(self, resource: Any, name: str, warm_up: int) -> None:
        world = resource._env  # noqa: SLF001 (SimPy has no public name for it)
        if not isinstance(world, World):
            raise UsageError(f"the resource {name!r} does not belong to a World")
        self.name = name
        self.preempted = self.off_shift = 0
        self._world, self._resource, self._warm_up = world, resource, warm_up
        self._content = _content_of(resource)
        self._shares = isinstance(resource, simpy.Resource)
        self._word = "in_use" if self._shares else "level"
        self.level = TimeWeighted(world, self._content(), warm_up=warm_up)
        first = "queue" if self._shares else "put_queue"
        self.puts = QueueMonitor(world, warm_up, partial(self._record, first))
        self.gets = QueueMonitor(world, warm_up, partial(self._record, "get_queue"))
        self.open: TimeWeighted | None = None
        self._reasons = UseByReason(world, resource, warm_up) if self._shares else None
        observe(resource, "put_queue", self.puts)
        if self._shares:
            self._watch_users()
        else:  # releases never wait
            observe(resource, "get_queue", self.gets)
        vars(resource).setdefault("name", name)
        resource._do_put = self._watched(resource._do_put)  # noqa: SLF001 (called by SimPy)
        resource._do_get = self._watched(resource._do_get)  # noqa: SLF001 (called by SimPy)
        self._record(self._word, self.level.current)

    @property
    def utilisation(self) -> float | None:
        """The mean level over the mean capacity; None where the capacity is infinite or was 0.

        Above 1 where uses that go on after their shift take longer than open units are idle.
        """
        capacity = self._resource.capacity if self.open is None else self.open.mean
        return None if capacity in (0, inf) else self.level.mean / capacity

    def metrics(self) -> dict[str, float | None]:
        """Return the statistics as plain JSON values by name; None where nothing is known.

        Times are ticks. `requests` (`puts`, `gets`) counts what was granted, `cancelled` what left
        without a grant, `waiting` what waits now.
        """
        return {f"{self.name}.{key}": plain(value) for key, value in self._figures()}

    def _figures(self) -> Iterator[tuple[str, float | None]]:
        yield "utilisation", self.utilisation
        yield f"{self._word}_mean", self.level.mean
        yield f"{self._word}_max", self.level.largest
        if self._shares:
            yield from _queue_figures(self.puts, "", "requests")
            yield "preempted", self.preempted
        else:
            yield from _queue_figures(self.puts, "put_", "puts")
            yield from _queue_figures(self.gets, "get_", "gets")
        if self.open is not None and has_working_hours(self._resource):
            yield "off_shift", self.off_shift
            yield "open_mean", self.open.mean
        if self._reasons is not None:
            yield from ((f"use.{reason}", mean) for reason, mean in self._reasons.means().items())

    def _watch_users(self) -> None:
        """Follow the capacity of a resource, and the requests that use it already."""
        resource = self._resource
        if resource.capacity != inf:
            self.open = TimeWeighted(self._world, resource.capacity, warm_up=self._warm_up)
        watch_capacity(resource, self._capacity_changed)
        if has_working_hours(resource):
            self._record("open", resource.capacity)

    def _capacity_changed(self, capacity: int, sent_off: int) -> None:
        self.off_shift += sent_off if self._world.now >= self._warm_up else 0
        if self.open is None:
            self.open = TimeWeighted(self._world, capacity, warm_up=self._warm_up)
        self.open.set(capacity)
        self._record("open", capacity)

    def _watched(self, do: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return the resource's own method, which notes what it has changed."""

        def watched(event: Any) -> Any:
            before = self._content()
            again = do(event)
            now = self._content()
            if now != before:
                self.level.set(now)
                self._record(self._word, now)
            # A request that was granted without a further unit in use has taken one from another.
            elif self._shares and isinstance(event, Put) and event.triggered:
                self.preempted += self._world.now >= self._warm_up
            if self._reasons is not None:
                self._reasons.note()
            return again

        return watched

    def _record(self, what: str, value: float) -> None:
        """Record a point where the series are wanted, one a tick."""
        self._world.point(f"{self.name}.{what}", value, replace=True)


def _content_of(resource: Any) -> Callable[[], float]:
    """Return a function that reads how much of a resource is in use, or in it."""
    match resource:
        case simpy.Resource():
            return lambda: resource.count
        case simpy.Container():
            return lambda: resource.level
        case _:
            return lambda: len(resource.items)


def _queue_figures(
    queue: QueueMonitor, prefix: str, events: str
) -> Iterator[tuple[str, float | None]]:
    yield f"{prefix}queue_mean", queue.length.mean
    yield f"{prefix}queue_max", queue.length.largest
    yield events, queue.waits.count
    yield f"{prefix}cancelled", queue.cancelled
    yield f"{prefix}waiting", queue.length.current
    yield f"{prefix}wait_mean", queue.waits.mean
    yield f"{prefix}wait_p95", queue.waits.quantile(_HIGH)
    yield f"{prefix}wait_max", queue.waits.largest
