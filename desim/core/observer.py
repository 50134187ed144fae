"""Observers of a run: objects that are called just before every event.

Episodes are traced through observers. A run without observers takes no time for them.

Further functions describe SimPy's events for traces. SimPy's resources are unnamed;
`ResourceNames` names them by the variables that hold them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, runtime_checkable

import simpy
from simpy.events import Condition, Event, Initialize, Interruption, Timeout
from simpy.resources.base import BaseResource, Get, Put

from desim.core.ledger_protocols import HasDigits, HasLedgers, OfPart, entries_of
from desim.core.model import offers
from desim.core.world import Decision, World
from desim.short_repr import short_repr

#: The most events kept, the last ones of a run.
MAX_EVENTS = 100_000


class Observed(Protocol):
    """The run as an observer may read it; an observer must not change it."""

    model: Any
    world: World
    state: Any


class Observer(Protocol):
    """Looks at one run; the episode is the same with and without it."""

    def attach(self, run: Observed, /) -> None:
        """Prepare for a run, whose model has not begun: it has no state yet."""
        ...

    def event(self, world: World, /) -> None:
        """Look at the event that is processed next: the first of the world's calendar.

        Args:
            world: The run's world, or the one of a part of its model.
        """
        ...


class PostingLog:
    """An observer that logs what is posted to the ledgers of a run, at level debug.

    A call of `event` logs the entries since the last one.
    """

    def attach(self, run: Observed) -> None:
        """Prepare for a run."""
        self._run = run
        self._logged: dict[int, int] = {}

    def event(self, _world: World) -> None:
        """Log the entries that the last event has posted."""
        state, log = self._run.state, self._run.world.log
        for outer in state.ledgers if offers(state, HasLedgers) else ():
            ledger: Any = outer.ledger if offers(outer, OfPart) else outer
            if (rows := entries_of(ledger)) is None:
                continue
            scale = 10**ledger.digits if offers(ledger, HasDigits) else 1
            named = {"ledger": name} if (name := getattr(outer, "name", "")) else {}
            first, self._logged[id(ledger)] = self._logged.get(id(ledger), 0), len(rows)
            for at in range(first, len(rows)):
                log.debug("posting", **named, **_entry_fields(rows[at], scale))


def _entry_fields(row: Any, scale: int) -> dict[str, Any]:
    """Return what a row of a ledger says, amounts in the currency itself.

    The time is left out: that of a part's ledger is a tick of its own clock.
    """
    fields = {name: value for name, value in row._asdict().items() if value and name != "time"}
    if "amounts" in fields:
        fields["amounts"] = {
            account: amount / scale for account, amount in row.amounts.items() if amount
        }
    return fields


@runtime_checkable
class FollowsCauses(Protocol):
    """An observer that follows which decision has caused the effects of an event."""

    def cause(self, world: World, role: str, /) -> None:
        """Note that the present event's further effects are caused by a role's last answer.

        Args:
            world: The run's world, or the one of a part of its model.
            role: Its name in that world; empty when the event has its own cause again.
        """
        ...


def on_causes(observers: Sequence[Observer]) -> Callable[[World, str], object] | None:
    """Return the callback for causes that a model states; None if no observer follows causes."""
    calls = tuple(one.cause for one in observers if offers(one, FollowsCauses))
    return partial(_call_all_with_role, calls) if calls else None


def before_events(calls: Sequence[Callable[[World], object]]) -> Callable[[World], object] | None:
    """Return one callback that makes all of these calls before an event; None without calls."""
    if len(calls) < 2:  # noqa: PLR2004 (one alone needs no loop)
        return calls[0] if calls else None
    return partial(_call_all, tuple(calls))


def _call_all(calls: tuple[Callable[[World], object], ...], world: World) -> None:
    for call in calls:
        call(world)


def _call_all_with_role(
    calls: tuple[Callable[[World, str], object], ...], world: World, role: str
) -> None:
    for call in calls:
        call(world, role)


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
            return f"{len(event._events)} events together"  # noqa: SLF001 (see `claims`)
        case Put() | Get():
            return f"{type(event).__name__} of {type(event.resource).__name__}"
        case _:
            return "an event" if type(event) is Event else type(event).__name__


class ResourceNames:
    """Names resources by their monitor, an attribute of the state or a variable of a process.

    Args:
        run: The run that they are part of.
    """

    def __init__(self, run: Observed) -> None:
        self._run = run
        # Keyed by id, and holds the resource too, because Python may use an id again.
        self._named: dict[int, tuple[object, str]] = {}
        self._taken: dict[str, int] = {}

    def name(self, resource: BaseResource[Any, Any], process: simpy.Process | None) -> str:
        """Return the name of a resource; the second one of a name is `name 2`."""
        known = self._named.get(id(resource))
        if known is None:
            found = self._own(resource) or self.variable(resource, process)
            found = found or type(resource).__name__
            self._taken[found] = count = self._taken.get(found, 0) + 1
            known = (resource, found if count == 1 else f"{found} {count}")
            self._named[id(resource)] = known
        return known[1]

    @staticmethod
    def _own(resource: BaseResource[Any, Any]) -> str:
        """Return the attribute `name` of a resource, which monitors set; empty if it has none."""
        name = vars(resource).get("name")
        return name if isinstance(name, str) else ""

    def variable(self, value: object, process: simpy.Process | None) -> str:
        """Return the name of a variable that holds a value; empty if none is found."""
        for owner in self._owners(process):
            for name, held in owner.items():
                if held is value:
                    return name
        return ""

    def _owners(self, process: simpy.Process | None) -> Iterator[Mapping[str, Any]]:
        """Yield values by name: of the state, of the process, and of what the process uses."""
        yield attributes(getattr(self._run, "state", None))
        # A process keeps its local variables in the frame of its generator and nowhere else.
        frame = getattr(getattr(process, "_generator", None), "gi_frame", None)
        if frame is not None:
            yield frame.f_locals
            yield from map(attributes, frame.f_locals.values())


def attributes(value: object) -> dict[str, Any]:
    """Return the attributes that an object holds itself, also those in slots."""
    held = dict(getattr(value, "__dict__", {}))
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            found = getattr(value, name, None) if not name.startswith("__") else None
            if found is not None:
                held[name] = found
    return held
