"""Units under way to one place: each arrival is an event on the calendar.

Sums and costs of units that may be fractions, in integers.

Orders of a rule such as Sterman's are fractions, and the operators of `Fraction` take most of the
time of such a game. Results are those of the operators, also in their types.
"""

from collections import deque
from fractions import Fraction
from heapq import heappush
from typing import Any

from simpy.events import NORMAL, Event

from desim import World
from ledgers.stock import Stock

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
        rank: Rank of the arrivals among the events of their tick.

    Attributes:
        under_way: The arrivals to come, the next one first.
        arrived: Units that arrived this week; the week's work sets it back to 0.
    """

    __slots__ = (
        "_callbacks",
        "_priority",
        "_source",
        "_stock",
        "_target",
        "_weeks",
        "_world",
        "arrived",
        "under_way",
    )

    def __init__(
        self, world: World, stock: Stock, route: tuple[str, str], weeks: int, rank: int
    ) -> None:
        self._world = world
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
        # The body of `World.schedule`, repeated here because it runs for every arrival.
        world = self._world
        entry: Any = (world._now + weeks, self._priority, next(world._eid), arrival)  # noqa: SLF001
        heappush(world._queue, entry)  # noqa: SLF001

    def _arrive(self, arrival: Arrival) -> None:
        self.under_way.popleft()
        self.arrived = units = arrival.units
        self._stock.move(arrival.week, self._source, self._target, units)


def total(*parts: Units) -> Units:
    """Return a sum: an `int` where all parts are, else a `Fraction`, whole or not.

    >>> total(1, 2, 3), total(Fraction(1, 2), 1, Fraction(1, 2))
    (6, Fraction(2, 1))
    """
    over, below = 0, 1
    whole = True
    for part in parts:
        if type(part) is int:
            over += part * below
            continue
        whole = False
        own, common = part.as_integer_ratio()
        # Denominators of floats are powers of two, so that one of two divides the other.
        if below % common == 0:
            over += own * (below // common)
        elif common % below == 0:
            over, below = over * (common // below) + own, common
        else:
            over, below = over * common + own * below, below * common
    return over if whole else Fraction(over, below)


def cost(price: Units, units: Units) -> int:
    """Return the cost of units in units of the book; half a unit is rounded to even.

    >>> cost(50, Fraction(1, 100)), cost(50, Fraction(3, 100)), cost(2, 3)
    (0, 2, 6)
    """
    if type(price) is int and type(units) is int:
        return price * units
    over, below = units.as_integer_ratio()
    factor, divisor = price.as_integer_ratio()
    whole, rest = divmod(over * factor, below * divisor)
    twice = 2 * rest - below * divisor
    return whole + (twice > 0 or (twice == 0 and whole % 2 == 1))
