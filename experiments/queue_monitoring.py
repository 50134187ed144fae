"""Do our monitors measure what queueing theory says?

An office whose customers interrupt each other, with one desk and with three: customers arrive at
random and are served at preemptive desks, urgent ones first; a container counts the people inside.
With services of one exponential law, interruptions change who waits but not how many, so that the
number inside is that of M/M/c. Formulas: L. Kleinrock, Queueing Systems, volume 1 (1975), sections
3.2 (M/M/1) and 3.5 (M/M/m, Erlang's C).
"""

from collections.abc import Generator, Mapping
from contextlib import suppress
from math import factorial
from typing import Any, ClassVar

import click
import simpy
from attrs import frozen

from desim import Model, Role, World, play
from desim.monitoring import monitor
from desim.show.console import console
from desim.show.table import Table
from desim.statistics.intervals import Interval, interval

#: Mean ticks of a service. So many that rounding times to ticks changes no mean that is shown, and
#: that two events hardly ever share a tick.
SERVICE = 1_000_000

_Process = Generator[Any, Any, None]


class Hall:
    """The state: where customers are."""

    def __init__(self, world: World, desks: int, warm_up: int) -> None:
        self.desk = simpy.PreemptiveResource(world, desks)
        self.inside = simpy.Container(world)
        self.desk_seen = monitor(self.desk, "desk", warm_up=warm_up)
        self.inside_seen = monitor(self.inside, "inside", warm_up=warm_up)


@frozen(kw_only=True)
class Office(Model[Hall]):
    """Customers and desks; a world without roles.

    Attributes:
        desks: At least 1.
        load: Mean share of the desks in use, above 0 and below 1.
        services: Length of an episode in mean services of one desk.
        warm_up: Of these the first, which do not count.
    """

    desks: int = 1
    load: float = 0.8
    services: int = 5_000
    warm_up: int = 500

    roles: ClassVar[Mapping[str, Role]] = {}

    def begin(self, world: World) -> Hall:
        hall = Hall(world, self.desks, self.warm_up * SERVICE)
        world.process(self._arrivals(world, hall))
        world.process(self._close(world))
        return hall

    def score(self, state: Hall) -> float:  # noqa: ARG002 (a model's signature)
        return 0.0

    def metrics(self, state: Hall) -> dict[str, Any]:
        return state.desk_seen.metrics() | state.inside_seen.metrics()

    def _arrivals(self, world: World, hall: Hall) -> _Process:
        gaps, services = world.stream("gaps"), world.stream("services")
        while True:
            yield world.timeout(round(gaps.exponential(SERVICE / (self.desks * self.load))))
            needed, urgent = round(services.exponential(SERVICE)), services.random() < 1 / 3
            world.process(_customer(world, hall, needed, urgent=urgent))

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


#: The level of each interval; all six hold together with at least 0.99.
LEVEL = 0.999


@click.command()
@click.option("--seeds", default=20, show_default=True, type=click.IntRange(2))
@click.option("--services", default=5_000, show_default=True, type=click.IntRange(1_000))
def main(seeds: int, services: int) -> None:
    """Print what was measured beside the formulas."""
    heads = ("desks", "metric", "formula", "measured", f"{LEVEL:.1%} interval", "holds")
    lines = []
    for desks in (1, 3):
        office = Office(desks=desks, services=services)
        for name, found in measured(office, seeds).items():
            truth = expected(office)[name]
            ends = f"[{found.low:.4f}, {found.high:.4f}]"
            holds = "yes" if found.low <= truth <= found.high else "NO"
            lines.append((desks, name, f"{truth:.4f}", f"{found.mean:.4f}", ends, holds))
    console().print(Table(heads, lines, (1, 5)))


def measured(office: Office, seeds: int) -> dict[str, Interval]:
    """Return the mean of each metric with a formula over independent episodes."""
    played = [play(office, seed=seed, keep_state=False).metrics for seed in range(seeds)]
    return {name: interval([one[name] for one in played], LEVEL) for name in expected(office)}


def expected(office: Office) -> dict[str, float]:
    """Return the long-run means of an office by metric."""
    load, servers = office.load, office.desks
    waiting = erlang_c(servers, servers * load) * load / (1 - load)
    return {
        "desk.utilisation": load,
        "desk.queue_mean": waiting,
        "inside.level_mean": waiting + servers * load,
    }


def erlang_c(servers: int, offered: float) -> float:
    """Return the share of customers who wait, by the load offered to all servers together."""
    all_busy = offered**servers / factorial(servers) * servers / (servers - offered)
    return all_busy / (sum(offered**n / factorial(n) for n in range(servers)) + all_busy)


if __name__ == "__main__":
    main()
