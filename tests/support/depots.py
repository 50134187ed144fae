"""Depots that exchange goods, and links that ship them; a record names `support.depots:Depot`."""

import datetime as dt
from collections.abc import Generator, Mapping
from functools import partial
from typing import Any, ClassVar

from attrs import define, field, frozen

from desim import Calendar, Model, Role, World
from desim.composition import AFTER_PARTS, Group
from desim.core.reported import Time
from desim.core.roles import Option
from ledgers.consolidation import GoodsExchange
from ledgers.stock import Stock

DAY = 86_400_000_000
_START = dt.datetime.fromisoformat("2025-01-01")


@frozen
class Shelf:
    """The units on the shelf."""

    units: int


@frozen
class Sell:
    """Sell some units, or all that are there."""

    units: int = 1


def _options(_: Shelf) -> list[Option]:
    return [Option(Sell(), 1.0)]


@define(eq=False)
class Store:
    """A depot in play."""

    world: World
    stock: Stock = field(factory=lambda: Stock(["shelf"], ["makers", "customers"]))
    exchange: GoodsExchange = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.exchange = GoodsExchange(self.stock, "shelf")

    @property
    def ledgers(self) -> tuple[Stock, ...]:
        """The stock."""
        return (self.stock,)


@frozen
class Depot(Model[Store]):
    """A depot whose keeper sells every day.

    Attributes:
        units: At the beginning.
        days: The length of an episode.
    """

    units: int = 50
    days: int = 20
    kept: ClassVar[tuple[str, ...]] = ()
    time: ClassVar[Time] = Time(calendar=Calendar(_START, dt.timedelta(days=1)))
    roles: ClassVar[Mapping[str, Role]] = {
        "keeper": Role(Shelf, Sell, _options, default_action=lambda _: Sell())
    }

    def begin(self, world: World) -> Store:
        """Fill the shelf."""
        store = Store(world)
        store.stock.open("shelf", self.units, "makers")
        world.process(self._days(world, store))
        return store

    def redraw(self, world: World, store: Store) -> None:
        """Replace nothing."""

    def _days(self, world: World, store: Store) -> Generator[Any, Any, None]:
        for _ in range(self.days):
            yield world.timeout(1)
            sell = yield world.ask("keeper", partial(self._shelf, store))
            units = min(sell.units, self._shelf(store).units)
            store.stock.move(world.now, "shelf", "customers", units)
        world.end("over")

    def _shelf(self, store: Store) -> Shelf:
        return Shelf(int(store.stock["shelf"]))

    def score(self, store: Store) -> float:
        """Return the units sold."""
        return float(store.stock["customers"])

    def metrics(self, store: Store) -> dict[str, Any]:
        """Return the units that are left."""
        return {"left": int(store.stock["shelf"])}

    def stock(self, store: Store) -> Mapping[str, GoodsExchange]:
        """Return the shelf."""
        return {"shelf": store.exchange}


def ship_daily(world: World, group: Group) -> Generator[Any, Any, None]:
    """Ship three units a day from north to south, for one to six days."""
    draws = world.stream("trucks")
    for _ in range(10):
        yield world.timeout(DAY, rank=AFTER_PARTS)
        truck = world.delay(draws, lambda each: DAY * int(each.integers(1, 7)), rank=AFTER_PARTS)
        group.ship("north.shelf", "south.shelf", 3, truck)
