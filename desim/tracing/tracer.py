"""Traces an episode: processes, resources, decisions and ledger entries, by simulated time."""

import contextlib
from bisect import bisect_right
from operator import itemgetter
from typing import Any

import simpy
from attrs import define, field
from simpy.events import Event, Initialize, Interruption, Process

from desim.core.events import Decision
from desim.core.run import Observer, Run
from desim.core.world import World
from desim.schema import to_plain
from desim.tracing.ledger_watch import LedgerWatch, watches
from desim.tracing.process_tracks import MAX_TRACKS, Processes, resumed
from desim.tracing.resource_names import ResourceNames
from desim.tracing.resource_tracks import Resources
from desim.tracing.trace_labels import event_arguments, own_name, short_action
from desim.tracing.trace_rows import Instant, Lasting, Posted, Taken
from desim.tracing.trace_time import TraceClock

#: Rows that a trace keeps; about 150 bytes each in the file, ten times fewer compressed.
MAX_ROWS = 1_000_000


#: Modules whose events say nothing about a model.
_MACHINERY = ("simpy", "desim")


@define(eq=False)
class _Scene:
    """A world as it is traced.

    Attributes:
        world: The run's world, or the one of a part.
        event: The event that it processes or has processed last.
        cause: The decision that has caused this event.
        ran: The processes that this event has resumed.
        numbers: Serial numbers from which on events were scheduled by another decision or time.
        marks: That time and that decision, for each of them.
    """

    world: World
    event: Event | None = None
    cause: int | None = None
    ran: list[simpy.Process] = field(factory=list)
    numbers: list[int] = field(factory=lambda: [-1])
    marks: list[tuple[int, int | None]] = field(factory=lambda: [(0, None)])

    def mark(self, time: int, cause: int | None) -> None:
        """Note when and because of which decision the events from here on are scheduled."""
        if self.marks[-1] != (time, cause):
            # A number is taken from the counter, which gives no look at its next one. The order of
            # the others stays as it is, and only the order counts.
            self.numbers.append(next(self.world._eid))  # noqa: SLF001 (our own clock)
            self.marks.append((time, cause))

    def scheduled(self, number: int) -> tuple[int, int | None]:
        """Return when an event was scheduled, and because of which decision."""
        return self.marks[bisect_right(self.numbers, number) - 1]


class Tracer(Observer):
    """An observer of a run that keeps what happened.

    Args:
        limit: The most rows that are kept; the trace ends there, and notes it.

    Attributes:
        clock: The time of the trace.
        processes: Their lives.
        resources: Their queues and uses.
        run: The run that is traced.
        end: The time of its end, once it is finished.
        decisions: All of them, in order; a cause is a place in this list.
        postings: The postings to ledgers.
        instants: Events of the model's own classes.
        lasting: The same from the time at which they were scheduled, such as shipments.
        cut: Why the trace ends before the episode; otherwise empty.
    """

    def __init__(self, limit: int = MAX_ROWS) -> None:
        self.decisions: list[Taken] = []
        self.postings: list[Posted] = []
        self.instants: list[Instant] = []
        self.lasting: list[Lasting] = []
        self.processes = Processes()
        self.cut = ""
        self.end = 0
        self._limit = limit
        self._rows = 0
        self._tick = 0
        self._cause: int | None = None
        self._last: dict[str, int] = {}
        self._scenes: dict[World, _Scene] = {}
        self._watches: dict[int, LedgerWatch] = {}
        # The names of the events of a class, while they are few.
        self._names: dict[type, set[str]] = {}

    def attach(self, run: Run[Any]) -> None:
        """Prepare for a run."""
        self.run = run
        self.clock = TraceClock(run.model)
        self.resources = Resources(ResourceNames(run))

    def event(self, world: World) -> None:
        """Keep what the last event has done, and look at the one that is processed next."""
        if self.cut:
            return
        scene = self._scenes.get(world) or self._enter(world)
        self._settle()
        tick, number, event = next(world.scheduled())
        if not world.prefix:
            self._tick = tick
        if (now := self._advance()) is None:
            return
        since, self._cause = scene.scheduled(number)
        if type(event) is Decision:
            self._decided(world, event, now)
        scene.cause = self._cause
        for each in self._scenes.values():
            each.mark(now, self._cause)
        scene.event, scene.ran = event, resumed(event)
        self._look(world, event, since, now)
        for process in scene.ran:
            self._rows += self.processes.resume(process, now)
        if self._rows >= self._limit:
            self._stop(f"it keeps {self._limit:,} rows")

    def finish(self) -> None:
        """Keep what the last event has done, and end what still lasts; to be called once."""
        if not self.cut:
            self._settle()
        self.end = end = self._end()
        for scene in self._scenes.values() if not self.cut else ():
            self._under_way(scene, end)
        self.processes.finish(end)
        self.resources.finish(end)

    # -- one event -------------------------------------------------------------------------------

    def _enter(self, world: World) -> _Scene:
        """Begin to trace a world, with the ledgers that its model has brought."""
        self._scenes[world] = scene = _Scene(world)
        for key, name, ledger in watches(self.run.state):
            if key not in self._watches:
                # A repeated part has a ledger of the same name again.
                taken = sum(
                    1 for each in self._watches.values() if each.name.split(" #")[0] == name
                )
                self._watches[key] = LedgerWatch(f"{name} #{taken + 1}" if taken else name, ledger)
        return scene

    def _settle(self) -> None:
        """Keep what the events have done that were processed meanwhile."""
        self._post()
        for scene in self._scenes.values():
            # An event of the common clock is under way while it lets the world of a part go on.
            if scene.event is not None and scene.world.active_process is None:
                self._settle_event(scene, scene.event)

    def _settle_event(self, scene: _Scene, event: Event) -> None:
        now = max(self.clock.now, 0)
        part, ran = scene.world.prefix, scene.ran
        for resource in self.resources.claimed(event, ran):
            self._rows += self.resources.look(part, resource, now, scene.cause)
        for process in ran:
            self.processes.yielded(process, now, self.resources.waits_for(process))
        if type(event) is Decision:
            self.processes.abandon(now)
        scene.event, scene.ran = None, []

    def _post(self) -> None:
        """Keep what has been posted meanwhile."""
        now = max(self.clock.now, 0)
        for watch in self._watches.values():
            if (news := watch.news()) is not None:
                self._rows += 1 + len(news.balances)
                self.postings.append(Posted(watch.name, now, self._tick, self._cause, news))

    def _look(self, world: World, event: Event, since: int, now: int) -> None:
        """Keep a start, an interruption, or an event of a model's own class, processed now."""
        if isinstance(event, Initialize):
            for process in resumed(event):
                self.processes.start(world.prefix, process, now, self._cause)
                self._rows += 1
        elif isinstance(event, Interruption):
            self.processes.interrupt(event, now)
            self._rows += 1
        elif not isinstance(event, Process) and is_own(event):
            kind, arguments = self._kind(event), dict(event_arguments(event))
            args = world.prefix, kind, now, self._tick, self._cause, arguments
            self.instants.append(Instant(*args))
            if since < now - 1:
                lasting = Lasting(world.prefix, kind, _amounts(arguments), since, now, self._cause)
                self.lasting.append(lasting)
            self._rows += 2

    def _decided(self, world: World, decision: Decision, now: int) -> None:
        if world.prefix:
            # A part's question has been asked again under the part's name, and answered there.
            self._cause = self._last.get(f"{world.prefix}{decision.role}")
            return
        self._cause = self._last[decision.role] = len(self.decisions)
        name, plain = short_action(decision.action), to_plain(decision.action)
        self.decisions.append(Taken(decision.role, now, self._tick, name, {"action": plain}))
        self._rows += 1

    def _kind(self, event: Any) -> str:
        """Return the `name` of an event, if its class has few of these, or that of the class."""
        names = self._names.setdefault(type(event), set())
        name = own_name(event)
        if not name or (name not in names and len(names) >= MAX_TRACKS):
            return type(event).__name__
        names.add(name)
        return name

    def _advance(self) -> int | None:
        """Return the time of the present event; None if the trace ends before it."""
        try:
            return self.clock.advance(self._tick)
        except OverflowError as fault:
            self._stop(str(fault))
            return None

    # -- the end ---------------------------------------------------------------------------------

    def _stop(self, why: str) -> None:
        self.cut = f"the trace ends at t={self._tick}: {why}"

    def _end(self) -> int:
        """Return the time of the end of the trace, which is after all that happened."""
        if not self.cut:
            with contextlib.suppress(OverflowError):
                return self.clock.advance(max(self.run.world.now, self._tick))
        return max(self.clock.now, 0) + 1

    def _under_way(self, scene: _Scene, end: int) -> None:
        """Keep the events that have not happened when the episode ends."""
        for _, number, event in sorted(scene.world.scheduled(), key=itemgetter(1)):
            if is_own(event) and not isinstance(event, Decision):
                since, cause = scene.scheduled(number)
                arguments = dict(event_arguments(event))
                name = _amounts(arguments)
                lasting = Lasting(scene.world.prefix, self._kind(event), name, since, end, cause)
                lasting.arguments["unfinished"] = True
                self.lasting.append(lasting)


def is_own(event: Event) -> bool:
    """Return whether a model declares the class of an event."""
    return not type(event).__module__.startswith(_MACHINERY)


def _amounts(arguments: dict[str, Any]) -> str:
    return " ".join(f"{name} {value}" for name, value in arguments.items())
