"""A user's world for `queue_monitoring.py`: an office whose queues have a known theory.

Customers arrive at random and are served at preemptive desks, urgent ones first; a container counts
the people inside. Decided cases go into a store, from which one clerk files them. Five lines serve
the monitors: the import, one for each resource, and the one of `metrics`.
"""

from collections.abc import Generator, Mapping
from contextlib import suppress
from typing import Any, ClassVar

import simpy
from attrs import frozen

from desim import Role, World
from desim.monitoring import monitor

#: Mean ticks of a service. So many that rounding times to ticks changes no mean that is shown, and
#: that two events hardly ever share a tick.
SERVICE = 1_000_000

_Process = Generator[Any, Any, None]


class Hall:
    """The state: where customers and papers are."""

    def __init__(self, world: World, desks: int, warm_up: int) -> None:
        self.desk = simpy.PreemptiveResource(world, desks)
        self.inside = simpy.Container(world)
        self.decided = simpy.Store(world)
        self.desk_seen = monitor(self.desk, "desk", warm_up=warm_up)
        self.inside_seen = monitor(self.inside, "inside", warm_up=warm_up)
        self.decided_seen = monitor(self.decided, "decided", warm_up=warm_up)


@frozen(kw_only=True)
class Office:
    """Customers, desks and a clerk; a world without roles.

    Attributes:
        desks: At least 1.
        load: Mean share of the desks in use, above 0 and below 1.
        filing: Mean share of the clerk's time in use, above 0 and below 1.
        services: Length of an episode in mean services of one desk.
        warm_up: Of these the first, which do not count.
    """

    desks: int = 1
    load: float = 0.8
    filing: float = 0.7
    services: int = 5_000
    warm_up: int = 500

    roles: ClassVar[Mapping[str, Role]] = {}

    def begin(self, world: World) -> Hall:
        """Open the office."""
        hall = Hall(world, self.desks, self.warm_up * SERVICE)
        world.process(self._arrivals(world, hall))
        world.process(self._clerk(world, hall))
        world.process(self._close(world))
        return hall

    def score(self, state: Hall) -> float:  # noqa: ARG002 (a model's signature)
        """Return 0: the world has no roles."""
        return 0.0

    def metrics(self, state: Hall) -> dict[str, Any]:
        """Return the statistics of all monitors."""
        seen = (state.desk_seen, state.inside_seen, state.decided_seen)
        return {name: value for each in seen for name, value in each.metrics().items()}

    @property
    def gap(self) -> float:
        """Mean ticks between two customers."""
        return SERVICE / (self.desks * self.load)

    def _arrivals(self, world: World, hall: Hall) -> _Process:
        gaps, services = world.stream("gaps"), world.stream("services")
        while True:
            yield world.timeout(round(gaps.exponential(self.gap)))
            needed, urgent = round(services.exponential(SERVICE)), services.random() < 1 / 3
            world.process(_customer(world, hall, needed, urgent=urgent))

    def _clerk(self, world: World, hall: Hall) -> _Process:
        times = world.stream("filing")
        while True:
            yield hall.decided.get()
            yield world.timeout(round(times.exponential(self.filing * self.gap)))

    def _close(self, world: World) -> _Process:
        yield world.timeout(self.services * SERVICE)
        world.end("closed")


def _customer(world: World, hall: Hall, needed: int, *, urgent: bool) -> _Process:
    """Be served for so many ticks; after an interruption the rest is done later."""
    yield hall.inside.put(1)
    while needed > 0:
        with hall.desk.request(priority=0 if urgent else 1) as turn:
            yield turn
            began = world.now
            with suppress(simpy.Interrupt):
                yield world.timeout(needed)
            needed -= world.now - began
    yield hall.inside.get(1)
    yield hall.decided.put(world.now)
