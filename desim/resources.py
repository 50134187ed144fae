"""Working hours: shifts change the capacity of a resource of SimPy."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Literal

import simpy
from simpy.resources.resource import Preempted

from desim.core.calendar import BusinessHours
from desim.core.events import Ranked
from desim.core.world import World
from desim.errors import UsageError, possible
from desim.short_repr import short_repr

__all__ = ["ShiftEnded", "WorkingHours"]

_ENDS = ("finish", "preempt")

#: The ranks of a change of capacity, before the other events of its tick, and of uses that it ends.
_FIRST, _AFTER = -1, 1

_WATCHERS = "capacity_watchers"

#: Ticks and capacity.
Shift = tuple[int, int]


class ShiftEnded(Preempted):
    """The cause of the interrupt of a process whose unit is off shift; `by` is None."""


class ShiftChange(Ranked):
    """The event at which the capacity of a resource changes, or uses above it end."""

    def __init__(self, resource: simpy.Resource, delay: int, rank: int = _FIRST) -> None:
        super().__init__(resource._env, delay, rank=rank)  # noqa: SLF001 (SimPy has no public name for it)
        self.resource = resource


class WorkingHours:
    """Opens and closes units of a resource by its shifts; the resource keeps its class.

    At the tick of a change, in this order:

    1. The capacity is the new one before the other events of the tick. Where it has risen, waiting
       requests are granted in the order of the queue.
    2. The events of the tick: a use that ends now has ended in time.
    3. With `preempt`, at rank 1: uses above the capacity end. The least important lose their unit
       (highest `key` of a `PriorityRequest`; of a plain `Resource`, those granted last), and their
       processes are interrupted with `ShiftEnded`, the more important first.

    With `finish` they keep their unit until they release it, and no request is granted before
    fewer units are in use than are open. Shifts of several capacities schedule events for ever; an
    episode then ends by `World.end` or a limit.

    *hours* are (ticks, capacity) of shifts that repeat from tick 0 on, such as those of a year with
    its holidays; or `BusinessHours`, with the resource's own capacity while they are open. The
    resource belongs to a `World`, and has no working hours yet; a `UsageError` otherwise.
    """

    def __init__(
        self,
        resource: simpy.Resource,
        hours: BusinessHours | Sequence[Shift],
        *,
        ends: Literal["finish", "preempt"] = "finish",
    ) -> None:
        self._world = _checked_world(resource)
        if ends not in _ENDS:
            raise UsageError(f"ends={short_repr(ends)} was given; {possible(str(ends), _ENDS)}")
        self.shifts = Shifts(hours, resource.capacity)
        self.ends = ends
        self._resource = resource
        vars(resource)["working_hours"] = self
        self._do_put: Callable[[Any], Any] = resource._do_put  # noqa: SLF001 (as above)
        resource._do_put = self._put  # type: ignore[assignment] # noqa: SLF001 (as above)
        self._open()
        self._schedule()

    def _open(self) -> None:
        self._resource._capacity = self.shifts.capacity(self._world.now)  # noqa: SLF001 (SimPy has no public setter)
        self._grant(cut=0)

    def _schedule(self) -> None:
        now = self._world.now
        if (tick := self.shifts.next_change(now)) is not None:
            ShiftChange(self._resource, tick - now).callbacks.append(self._change)

    def _change(self, _: simpy.Event) -> None:
        self._open()
        if self.ends == "preempt" and self._resource.count > self._resource.capacity:
            ShiftChange(self._resource, 0, _AFTER).callbacks.append(self._send_off)
        self._schedule()

    def _send_off(self, _: simpy.Event) -> None:
        resource = self._resource
        users: list[Any] = list(resource.users)
        if isinstance(resource, simpy.PriorityResource):
            users.sort(key=lambda request: request.key)
        over = users[int(resource.capacity) :]
        for request in over:
            resource.release(request)
            # A request without a process, or of one that has ended, has nothing to interrupt.
            if request.proc is not None and request.proc.is_alive:
                request.proc.interrupt(ShiftEnded(None, request.usage_since, resource))
        self._grant(cut=len(over))

    def _grant(self, cut: int) -> None:
        # One call grants at most the first request of the queue.
        for _ in range(len(self._resource.put_queue)):
            self._resource._trigger_put(None)  # noqa: SLF001 (SimPy calls it after a release)
        for watcher in vars(self._resource).get(_WATCHERS, ()):
            watcher(self._resource.capacity, cut)

    def _put(self, request: Any) -> Any:
        # SimPy's preemption would take a unit from a user although no unit is open then.
        resource = self._resource
        is_full = resource.capacity == 0 or resource.count > resource.capacity
        return None if is_full else self._do_put(request)


def has_working_hours(resource: simpy.Resource) -> bool:
    """Return whether shifts change the capacity of a resource."""
    return "working_hours" in vars(resource)


def watch_capacity(resource: simpy.Resource, watcher: Callable[[int, int], object]) -> None:
    """Call a function with the new capacity and the uses that a shift's end has cut, at changes."""
    vars(resource).setdefault(_WATCHERS, []).append(watcher)


def _checked_world(resource: Any) -> World:
    if not isinstance(resource, simpy.Resource):
        name = type(resource).__name__
        raise UsageError(f"{name} has no working hours; a simpy Resource can have them")
    if has_working_hours(resource):
        raise UsageError("the resource has working hours already; one list of shifts holds them")
    world = resource._env  # noqa: SLF001 (SimPy has no public name for it)
    if not isinstance(world, World):
        raise UsageError("the resource does not belong to a World")
    return world


class Shifts:
    """Shifts that repeat from tick 0 on; *capacity* is that of a resource with business hours."""

    def __init__(self, hours: Any, capacity: float) -> None:
        is_office = isinstance(hours, BusinessHours)
        self._shifts = [*_week(hours, capacity)] if is_office else _checked(hours)
        self._ends = [*accumulate(ticks for ticks, _ in self._shifts)]

    def capacity(self, tick: int) -> int:
        """Return the capacity at a tick."""
        return self._shifts[self._place(tick)][1]

    def next_change(self, tick: int) -> int | None:
        """Return the first later tick with another capacity; None if it never changes."""
        first = self._place(tick)
        end = tick - tick % self._ends[-1] + self._ends[first]
        for ticks, capacity in (self._shifts * 2)[first + 1 : first + len(self._shifts)]:
            if capacity != self._shifts[first][1]:
                return end
            end += ticks
        return None

    def _place(self, tick: int) -> int:
        return bisect_right(self._ends, tick % self._ends[-1])


def _week(hours: BusinessHours, capacity: float) -> Iterator[Shift]:
    """Yield the shifts of a week from tick 0 on: business hours are the same in every week."""
    if not isinstance(capacity, int):
        raise UsageError(
            f"a resource of capacity {short_repr(capacity)} was given; with business hours it has "
            "a whole number of units"
        )
    tick, end = 0, 7 * hours.day
    while tick < end:
        opening = min(end, hours.next_open(tick))
        if opening > tick:
            yield opening - tick, 0
        tick = opening
        if opening < end:
            tick = min(end, hours.closing(opening))
            yield tick - opening, capacity


def _checked(hours: Any) -> list[Shift]:
    if not isinstance(hours, Sequence) or isinstance(hours, str | bytes) or not hours:
        raise UsageError(
            f"{short_repr(hours)} was given as working hours; a list of (ticks, capacity) or "
            "BusinessHours are possible"
        )
    for shift in hours:
        is_pair = isinstance(shift, tuple | list) and [*map(type, shift)] == [int, int]
        if not is_pair or shift[0] < 1 or shift[1] < 0:
            raise UsageError(
                f"{short_repr(shift)} was given as a shift; it is (ticks, capacity), whole numbers "
                "of at least 1 and 0"
            )
    return [(ticks, capacity) for ticks, capacity in hours]
