"""The queues of SimPy's resources, observed: who came, who was served, who gave up."""

from collections.abc import Callable
from typing import Any

from simpy.resources.base import BaseResource

from desim.monitoring.clock import Clock
from desim.monitoring.tally import Tally
from desim.monitoring.time_weighted import TimeWeighted

__all__ = ["QueueMonitor", "is_observed", "observe"]


class QueueMonitor:
    """Statistics of one queue.

    Args:
        clock: The world.
        warm_up: What was before this tick does not count.
        changed: Called with the length whenever it changes.

    Attributes:
        length: Events that wait, over time.
        waits: Ticks from the arrival of an event to its grant, of those granted; 0 of one that was
            granted at once.
        cancelled: Events that left before they were granted: cancelled, reneged or interrupted.
    """

    def __init__(self, clock: Clock, warm_up: int, changed: Callable[[int], object]) -> None:
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
