"""Units under way to one place: each arrival is an event on the calendar.

Sums and costs of units that may be fractions, in integers.

Orders of a rule such as Sterman's are fractions, and the operators of `Fraction` take most of the
time of such a game. Results are those of the operators, also in their types.
"""

from collections import deque
from fractions import Fraction

from simpy import Event

from desim import World
from desim.core.events import Ranked
from ledgers.stock import Stock

#: Goods and orders are counted exactly: in whole numbers, or in fractions once an order was one.
Units = int | Fraction


class Arrival(Ranked):
    """The arrival of units at the end of their way: a timeout without a process.

    Attributes:
        week: The week of arrival.
        units: Units that arrive, above 0.
    """

    def __init__(self, pipeline: "Pipeline", weeks: int, week: int, units: Units) -> None:
        super().__init__(pipeline.world, weeks, rank=pipeline.rank)
        self.callbacks.append(pipeline.arrive)
        self._pipeline = pipeline
        self.week = week
        self.units = units

    @property
    def name(self) -> str:
        """The place of the units, in an episode's trace."""
        return self._pipeline.place


class Pipeline:
    """Units under way to one place, all with the same lead time.

    `send` schedules one timeout for the week of arrival, which moves the units in the stock. Units
    sent in the same week arrive together, in one event and one move.

    Args:
        world: The clock.
        stock: The ledger of the units.
        route: The place of the units under way and the place where they arrive.
        weeks: Lead time, at least 1.
        rank: Rank of the arrivals among the events of their tick.

    Attributes:
        place: The place of the units under way.
        under_way: The arrivals to come, the next one first.
        arrived: Units that arrived this week; the week's work sets it back to 0.
    """

    __slots__ = ("_stock", "_target", "_weeks", "arrived", "place", "rank", "under_way", "world")

    def __init__(
        self, world: World, stock: Stock, route: tuple[str, str], weeks: int, rank: int
    ) -> None:
        self.world, self.rank = world, rank
        self._stock = stock
        self.place, self._target = route
        self._weeks = weeks
        self.under_way: deque[Arrival] = deque()
        self.arrived: Units = 0

    def fill(self, units: Units) -> None:
        """Schedule an arrival of so many units in each week of the lead time, as at the start."""
        for week in range(1, self._weeks + 1):
            self.under_way.append(Arrival(self, week, week, units))

    def send(self, week: int, units: Units) -> None:
        """Send units, more than 0, in the present week; they arrive after the lead time."""
        under_way, weeks = self.under_way, self._weeks
        if under_way and under_way[-1].week == week + weeks:
            under_way[-1].units += units
        else:
            under_way.append(Arrival(self, weeks, week + weeks, units))

    def arrive(self, _: Event) -> None:
        """Move the next arrival's units into the stock at their place."""
        arrival = self.under_way.popleft()
        self.arrived = units = arrival.units
        self._stock.move(arrival.week, self.place, self._target, units)


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
