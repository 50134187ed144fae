"""A workshop with every kind of SimPy resource, for traces, logs and monitors."""

from collections.abc import Generator
from typing import Any

import simpy
from attrs import define, field, frozen

from desim import Model, Role, World

Process = Generator[Any, Any, None]


@frozen
class Morning:
    """What the boss sees."""

    day: int


@frozen
class Hire:
    """Take on so many jobs."""

    jobs: int


class Delivery(simpy.Event):
    """Steel under way."""

    def __init__(self, world: World, tons: int) -> None:
        super().__init__(world)
        self.tons = tons
        self._ok, self._value = True, None


@define(eq=False)
class Shop:
    """The state: a machine that urgent jobs take, a tank and a shelf."""

    world: World
    machine: simpy.PreemptiveResource
    tank: simpy.Container
    shelf: simpy.Store
    jobs: list[simpy.Process] = field(factory=list)


@frozen
class Workshop(Model[Shop]):
    """A boss takes on jobs each day; a later job of a day is more urgent.

    Attributes:
        days: How many.
        fails_on: The day on which the boss's process raises an exception; 0 for none.
    """

    days: int = 3
    fails_on: int = 0

    @property
    def roles(self) -> dict[str, Role]:
        """The boss."""
        return {"boss": Role(Morning, Hire)}

    def begin(self, world: World) -> Shop:
        """Open the shop."""
        machine = simpy.PreemptiveResource(world, capacity=1)
        shop = Shop(world, machine, simpy.Container(world, capacity=100), simpy.Store(world))
        world.process(boss(world, shop, self))
        world.process(seller(shop))
        return shop

    def score(self, state: Shop) -> float:
        """Return the jobs that were done."""
        return float(state.tank.level)

    def metrics(self, state: Shop) -> dict[str, Any]:
        """Return nothing."""
        return {"shelf": len(state.shelf.items)}


def boss(world: World, shop: Shop, workshop: Workshop) -> Process:
    """Ask for jobs every morning."""
    for day in range(1, workshop.days + 1):
        answer: Hire = yield world.ask("boss", lambda day=day: Morning(day))  # type: ignore[misc]
        if day == workshop.fails_on:
            raise RuntimeError("the roof fell in")
        world.schedule(Delivery(world, day), delay=7)
        for number in range(answer.jobs):
            name = f"{day}.{number}"
            shop.jobs.append(world.process(job(shop, name, urgency=-number)))
        yield world.timeout(10)
    world.end("closed")


def job(shop: Shop, name: str, urgency: int) -> Process:
    """Use the machine, unless a more urgent job takes it, then fill the tank and the shelf."""
    with shop.machine.request(priority=urgency) as turn:
        try:
            yield turn
            yield shop.world.timeout(4)
        except simpy.Interrupt:
            return
    yield shop.tank.put(1)
    yield shop.shelf.put(name)


def seller(shop: Shop) -> Process:
    """Take what is on the shelf."""
    while True:
        yield shop.shelf.get()
        yield shop.world.timeout(2)
