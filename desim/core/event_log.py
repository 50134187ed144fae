"""Log lines about processes and resources, at level debug."""

from collections.abc import Callable
from typing import Any

import simpy
from simpy.events import Event, Initialize, Interruption
from simpy.resources.base import Get, Put
from simpy.resources.resource import Release

from desim.core.log import writes
from desim.core.observer import (
    Observed,
    ResourceNames,
    claims,
    first_event,
    interrupt_cause,
    resumed,
    waited_for,
)
from desim.core.world import World
from desim.short_repr import short_repr

#: Characters of a cause or a value in a line.
_WIDTH = 80


def event_logs() -> list["EventLog"]:
    """Return an observer if the run is logged at level debug, otherwise an empty list."""
    return [EventLog()] if writes("debug") else []


class EventLog:
    """Logs when processes start, end and are interrupted, and their requests to resources."""

    def __init__(self) -> None:
        # The processes that the last event of each world has resumed. Their requests are logged
        # before the next event.
        self._ran: dict[World, list[simpy.Process]] = {}

    def attach(self, run: Observed) -> None:
        """Prepare for a run."""
        self._names = ResourceNames(run)

    def event(self, world: World) -> None:
        """Log what the last event has done, and the event that is processed next."""
        tick, _, event = first_event(world)
        for process in self._ran.pop(world, ()):
            self._log_request(world, process)
        self._ran[world] = resumed(event)
        self._log(world.log.debug, tick, event)

    def _log_request(self, world: World, process: simpy.Process) -> None:
        for claim in claims(process.target) if process.is_alive else ():
            if not claim.triggered:
                world.log.debug(
                    "process waits for a resource", process=process.name, **self._of(claim)
                )

    def _log(self, debug: Callable[..., Any], tick: int, event: Event) -> None:
        # The tick is given, because the clock has not moved to the event yet.
        match event:
            case Initialize():
                (process,) = resumed(event)
                debug("process started", t=tick, process=process.name)
            case Interruption():
                cause = interrupt_cause(event)
                debug("process interrupted", t=tick, process=event.process.name, cause=cause)
            case simpy.Process(ok=True):
                debug("process ended", t=tick, process=event.name)
            case simpy.Process():
                fault = short_repr(event.value, _WIDTH)
                debug("process failed", t=tick, process=event.name, fault=fault)
            case Release():
                debug("resource released", t=tick, **self._of(event))
            case Put() | Get():
                who = event.proc.name if event.proc else None
                debug("resource granted", t=tick, process=who, **self._of(event))
            case _:
                pass

    def _of(self, claim: Put[Any] | Get[Any]) -> dict[str, str]:
        word = waited_for(claim).partition(" ")[0]
        return {"request": f"{word} of {self._names.name(claim.resource, claim.proc)}"}
