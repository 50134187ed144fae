"""The state of several models on one clock, and the operations of links on them."""

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from fractions import Fraction
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Any

from simpy.events import Event

from desim.composition.exchange import NotConserved, Shipment, Side, exchange_faults
from desim.composition.parts import AFTER_LINKS, MAX_PARTS, Part, PartLedger, part_seed
from desim.core.calendar import Calendar, TickCalendar
from desim.core.model import Model
from desim.core.roles import split_name
from desim.core.world import World
from desim.errors import UsageError, possible

#: The result of a link: a process, such as a generator of timeouts.
Process = Generator[Event, Any, None]


class Group:
    """Several models on one clock, whose ticks are microseconds.

    Its operations are for links, whose events have rank `AFTER_PARTS` or above. They raise a
    `UsageError` for a part or a place that does not exist, has not begun or exchanges nothing of
    the kind; a `ValueError` for an amount that is not a whole number above 0 or that the giver does
    not have; and `NotConserved` where the parts hold more or less than before, or their balances do
    not cancel.

    Args:
        world: The common clock.
        models: The models of the parts, which have calendars; their ranks are in this order.
        start: When common tick 0 is.
        starts: By part from when on it begins, as soon as its calendar allows, if not at *start*.
        times: By part the number of its episodes, one after the other, if it is not 1.
        ends: Whose ends are the end of the episode: "all" or "any" of the parts, or names separated
            by commas; empty if the caller ends it.

    Attributes:
        clock: Dates and times of common ticks.
        parts: The parts that have begun, by name; for a repeated part the present repetition.
    """

    def __init__(
        self,
        world: World,
        models: Mapping[str, Model[Any]],
        start: datetime,
        *,
        starts: Mapping[str, datetime] = MappingProxyType({}),
        times: Mapping[str, int] = MappingProxyType({}),
        ends: str = "",
    ) -> None:
        if len(models) > MAX_PARTS:
            raise UsageError(f"{len(models)} parts were given; {MAX_PARTS} are possible")
        self.world = world
        self.clock = Calendar(start)
        self.models = dict(models)
        self.parts: dict[str, Part] = {}
        self._starts = {name: starts.get(name, start) for name in models}
        self._times = times
        self._repetitions: dict[str, list[Part]] = {name: [] for name in models}
        self._ranks = {name: rank for rank, name in enumerate(models)}
        self._finished: list[str] = []
        self._under_way: list[Shipment] = []
        self._ends = [*models] if ends in ("all", "any") else ends.split(",") if ends else []
        self._ends_with = any if ends == "any" else all
        for name, begins in self._starts.items():
            if begins < start:
                raise UsageError(
                    f"part {name!r} begins on {begins.date()}, before the start on {start.date()}"
                )
            if begins == start:
                self._begin(name)
            world.process(self._play(name))

    # -- for models ------------------------------------------------------------------------------

    @property
    def ledgers(self) -> list[PartLedger]:
        """The ledgers of all parts and repetitions, in the order of the parts."""
        return [ledger for part in self.every_part() for ledger in part.ledgers()]

    def scores(self) -> dict[str, float]:
        """Return the scores of all parts by name: sums over repetitions, 0 before a part begins."""
        parts = self._repetitions.items()
        return {name: sum(map(Part.score, each), 0.0) for name, each in parts}

    def every_part(self) -> Iterator[Part]:
        """Yield all repetitions of the parts that have begun, in the order of the parts."""
        return chain.from_iterable(self._repetitions.values())

    # -- for links -------------------------------------------------------------------------------

    def part(self, name: str) -> Part:
        """Return a part that has begun."""
        if name not in self.models:
            raise UsageError(f"there is no part {name!r}; {possible(name, self.models)}")
        if name not in self.parts:
            raise UsageError(f"part {name!r} has not begun at t={self.world.now}")
        return self.parts[name]

    @contextmanager
    def at(self, name: str) -> Iterator[Any]:
        """Act on a part's state, which `with` binds, at the common time.

        Afterwards the part processes the events that the block has scheduled.
        """
        with self.part(name).at_common_time() as state:
            yield state
        self.check_conserved()

    def until(self, moment: datetime) -> int:
        """Return the ticks from now to a moment; 0 if it is past."""
        return max(0, self.clock.last_tick(moment) - self.world.now)

    def cash(self, name: str) -> int:
        """Return a part's cash on hand in cents."""
        return int(Side(self.part(name)).now())

    def goods(self, address: str) -> int | Fraction:
        """Return the units on hand at a place of a part, such as "north.factory"."""
        return self._goods_side(address).now()

    def transfer(self, sender: str, receiver: str, cents: int) -> None:
        """Pay cash from one part to another: both books change now, or neither."""
        self._exchange(Side(self.part(sender)), Side(self.part(receiver)), cents)

    def deliver(self, sender: str, receiver: str, units: int) -> None:
        """Deliver goods, of part and place such as "north.factory": now in both, or in neither."""
        self._exchange(self._goods_side(sender), self._goods_side(receiver), units)

    def ship(self, sender: str, receiver: str, units: int, arrival: Event) -> None:
        """Send goods that leave one part now and arrive in another when an event happens.

        The *arrival* is a pending event, such as `world.timeout(ticks, rank=AFTER_PARTS)`.
        """
        if arrival.callbacks is None:
            raise UsageError("the arrival has happened; goods arrive with a pending event")
        self._goods_side(sender).send(self._goods_side(receiver), units)
        shipment = Shipment(sender, receiver, units, self.world.now)
        self._under_way.append(shipment)
        arrival.callbacks.append(partial(self._arrive, shipment))
        self.check_conserved()

    @property
    def under_way(self) -> tuple[Shipment, ...]:
        """The shipments that have not arrived, in the order in which they were sent."""
        return tuple(self._under_way)

    def check_conserved(self) -> None:
        """Check that cash and goods which entered a part have left another."""
        if faults := exchange_faults(self.every_part(), self.models, self._under_way):
            now = self.world.now
            raise NotConserved(
                f"cash or goods were created or lost by t={now}, {self.clock.moment(now)}: "
                + "; ".join(faults)
            )

    def _exchange(self, giver: Side, taker: Side, amount: int) -> None:
        giver.send(taker, amount)
        taker.receive(giver, amount)
        self.check_conserved()

    def _arrive(self, shipment: Shipment, _: Event) -> None:
        self._under_way.remove(shipment)
        giver, taker = self._goods_side(shipment.sender), self._goods_side(shipment.receiver)
        taker.receive(giver, shipment.units)
        self.check_conserved()

    def _goods_side(self, address: str) -> Side:
        name, place = split_name(address)
        if not place:
            raise UsageError(f"{address!r} was given; goods have a part and a place: PART.PLACE")
        return Side(self.part(name), place)

    # -- parts -----------------------------------------------------------------------------------

    def _begin(self, name: str) -> None:
        model, rank, begun = self.models[name], self._ranks[name], self._repetitions[name]
        seed = part_seed(self.world.draw_seed, name, len(begun))
        calendar = self._calendar(name, model)
        self.parts[name] = Part(name, model, self.world, self.clock, calendar, rank, seed)
        begun.append(self.parts[name])

    def _calendar(self, name: str, model: Model[Any]) -> TickCalendar:
        if (known := model.time.calendar) is None:
            raise UsageError(
                f"part {name!r}, {type(model).__name__}, has no calendar for its ticks; give it a "
                "`time` with one, such as Time(calendar=desim.Calendar(...))"
            )
        now = self.clock.moment(self.world.now)
        calendar = known.starting(now)
        if (first := calendar.moment(0)) < now:
            raise UsageError(
                f"part {name!r} begins on {now}, and the first tick of its calendar is on {first}"
            )
        return calendar

    def _play(self, name: str) -> Process:
        if name not in self.parts:
            yield self.world.timeout(self.until(self._starts[name]), rank=self._ranks[name])
            self._begin(name)
        yield from self.parts[name].play()
        for _ in range(1, self._times.get(name, 1)):
            self._begin(name)
            yield from self.parts[name].play()
        self._finished.append(name)
        # Not a process that waits for this one: SimPy would pass it a copy of an exception.
        if self._ends and self._ends_with(each in self._finished for each in self._ends):
            # After the other parts and the links: a last transfer is part of the episode.
            yield self.world.timeout(0, rank=AFTER_LINKS)
            ended = [each for each in self._ends if each in self._finished]
            self.world.end("; ".join(f"{each}: {self.parts[each].ended}" for each in ended))
