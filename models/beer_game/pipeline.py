"""What is under way to one place: each arrival is an event on the calendar."""

from collections import deque
from fractions import Fraction
from typing import Any

from simpy.events import NORMAL, Event

from desim import World
from ledgers.stock import Stock

__all__ = ["Arrival", "Pipeline", "Units"]

#: Goods and orders are counted exactly: in whole numbers, or in fractions once an order was one.
Units = int | Fraction


class Arrival(Event):
    """The arrival of units at the end of their way: an event without a process.

    Attributes:
        week: The week of arrival.
        units: Units that arrive, above 0.
    """

    __slots__ = ("units", "week")

    _ok, _value = True, None

    def __init__(self, callbacks: Any, week: int, units: Units) -> None:
        # Event.__init__ is not called: it makes a list of callbacks, and all arrivals of a pipeline
        # share one.
        self.callbacks = callbacks
        self.week = week
        self.units = units

    @property
    def name(self) -> str:
        """The place of the units, in an episode's trace; of an arrival that has not happened."""
        callback: Any = self.callbacks[0]
        place: str = callback.__self__.place
        return place


class Pipeline:
    """Units under way to one place, all with the same lead time.

    `send` schedules one event for the week of arrival, which moves the units in the stock. A SimPy
    process for each shipment would take several times as long. Units sent in the same week arrive
    together, in one event and one move.

    Args:
        world: The clock.
        stock: The ledger of the units.
        route: The place of the units under way and the place where they arrive.
        weeks: Lead time, at least 1.
        rank: Of the arrivals among the events of their tick.

    Attributes:
        under_way: The arrivals to come, the next one first.
        arrived: Units that arrived this week; the week's work sets it back to 0.
    """

    __slots__ = (
        "_calendar",
        "_callbacks",
        "_priority",
        "_source",
        "_stock",
        "_target",
        "_weeks",
        "arrived",
        "under_way",
    )

    def __init__(
        self, world: World, stock: Stock, route: tuple[str, str], weeks: int, rank: int
    ) -> None:
        self._calendar = world.schedule
        self._stock = stock
        self._source, self._target = route
        self._weeks = weeks
        self._priority: Any = NORMAL + rank
        self._callbacks = (self._arrive,)
        self.under_way: deque[Arrival] = deque()
        self.arrived: Units = 0

    @property
    def place(self) -> str:
        """The place of the units under way."""
        return self._source

    def fill(self, units: Units) -> None:
        """Schedule an arrival of so many units in each week of the lead time, as at the start."""
        for week in range(1, self._weeks + 1):
            self._schedule(Arrival(self._callbacks, week, units), week)

    def send(self, week: int, units: Units) -> None:
        """Send units, more than 0, in the present week; they arrive after the lead time."""
        under_way, weeks = self.under_way, self._weeks
        if under_way and under_way[-1].week == week + weeks:
            under_way[-1].units += units
        else:
            self._schedule(Arrival(self._callbacks, week + weeks, units), weeks)

    def _schedule(self, arrival: Arrival, weeks: int) -> None:
        self.under_way.append(arrival)
        self._calendar(arrival, self._priority, weeks)

    def _arrive(self, arrival: Arrival) -> None:
        self.under_way.popleft()
        self.arrived = units = arrival.units
        self._stock.move(arrival.week, self._source, self._target, units)
