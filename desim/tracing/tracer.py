"""Traces an episode: decisions, processes, resources and balances, by simulated time."""

import contextlib
from typing import Any

import simpy
from attrs import define, field
from simpy.events import Event, Initialize, Interruption

from desim.core.events import Decision
from desim.core.run import Observer, Run
from desim.core.world import World
from desim.schema import to_plain
from desim.tracing.ledger_balances import LedgerBalances, traced_ledgers
from desim.tracing.process_tracks import Processes, resumed
from desim.tracing.resource_names import ResourceNames
from desim.tracing.resource_tracks import Resources
from desim.tracing.trace_labels import short_action
from desim.tracing.trace_rows import Count, Taken
from desim.tracing.trace_time import TraceClock

#: Events that a trace follows; 100 to 450 bytes each in the file, ten times fewer compressed.
MAX_EVENTS = 1_000_000


@define(eq=False)
class _Scene:
    """A world as it is traced.

    Attributes:
        world: The run's world, or the one of a part.
        event: The event that it processes or has processed last.
        ran: The processes that this event has resumed.
    """

    world: World
    event: Event | None = None
    ran: list[simpy.Process] = field(factory=list)


class Tracer(Observer):
    """An observer of a run that keeps what happened.

    Args:
        limit: The most events that are followed; the trace ends there, and notes it.

    Attributes:
        clock: The time of the trace.
        processes: Their lives.
        resources: Their queues and uses.
        run: The run that is traced.
        end: The time of its end, once it is finished.
        decisions: All of them, in order.
        balances: Changes of the balances of ledgers.
        cut: Why the trace ends before the episode; otherwise empty.
    """

    def __init__(self, limit: int = MAX_EVENTS) -> None:
        self.decisions: list[Taken] = []
        self.balances: list[Count] = []
        self.processes = Processes()
        self.cut = ""
        self.end = 0
        self._limit = limit
        self._events = 0
        self._tick = 0
        self._scenes: dict[World, _Scene] = {}
        self._ledgers: dict[int, LedgerBalances] = {}
        self._names: list[str] = []

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
        tick, _, event = next(world.scheduled())
        if not world.prefix:
            self._tick = tick
        try:
            now = self.clock.advance(self._tick)
        except OverflowError as fault:
            self._stop(str(fault))
            return
        scene.event, scene.ran = event, resumed(event)
        self._look(world, event, now)
        for process in scene.ran:
            self.processes.resume(process, now)
        self._events += 1
        if self._events == self._limit:
            self._stop(f"it keeps {self._limit:,} events")

    def finish(self) -> None:
        """Keep what the last event has done, and end what still lasts; to be called once."""
        if not self.cut:
            self._settle()
        self.end = self._end()
        self.processes.finish(self.end)
        self.resources.finish(self.end)

    def _enter(self, world: World) -> _Scene:
        """Begin to trace a world, with the ledgers that its model has brought."""
        self._scenes[world] = scene = _Scene(world)
        for name, ledger in traced_ledgers(self.run.state):
            if id(ledger) not in self._ledgers:
                # A repeated part has a ledger of the same name again.
                self._names.append(name)
                count = self._names.count(name)
                label = f"{name} #{count}" if count > 1 else name
                self._ledgers[id(ledger)] = LedgerBalances(label, ledger)
        return scene

    def _settle(self) -> None:
        """Keep what the events have done that were processed meanwhile."""
        now = max(self.clock.now, 0)
        for ledger in self._ledgers.values():
            self.balances.extend(ledger.changes(now))
        for scene in self._scenes.values():
            # An event of the common clock is under way while it lets the world of a part go on.
            if scene.event is not None and scene.world.active_process is None:
                self._settle_event(scene, scene.event, now)

    def _settle_event(self, scene: _Scene, event: Event, now: int) -> None:
        for resource in self.resources.claimed(event, scene.ran):
            self.resources.look(scene.world.prefix, resource, now)
        for process in scene.ran:
            self.processes.yielded(process, now, self.resources.waits_for(process))
        if type(event) is Decision:
            self.processes.abandon(now)
        scene.event, scene.ran = None, []

    def _look(self, world: World, event: Event, now: int) -> None:
        """Keep a decision, or the start or the interruption of a process, processed now."""
        match event:
            # A part's question is asked again under the part's name, and answered there.
            case Decision() if not world.prefix:
                action = event.action
                taken = Taken(event.role, now, self._tick, short_action(action), to_plain(action))
                self.decisions.append(taken)
            case Initialize():
                for process in resumed(event):
                    self.processes.start(world.prefix, process, now)
            case Interruption():
                self.processes.interrupt(event, now)

    def _stop(self, why: str) -> None:
        self.cut = f"the trace ends at t={self._tick}: {why}"

    def _end(self) -> int:
        """Return the time of the end of the trace, which is after all that happened."""
        if not self.cut:
            with contextlib.suppress(OverflowError):
                return self.clock.advance(max(self.run.world.now, self._tick))
        return max(self.clock.now, 0) + 1
