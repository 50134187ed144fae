"""The chain during an episode: goods, orders and costs of every stage.

Two stocks and a book hold all figures. `goods` moves units from brewing to customers; `orders`
moves units ordered through the mail to the backlog of the supplier, until they are filled. The
pipelines only hold the arrival times of parts of a stock.
"""

from collections import deque
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from simpy import Event

from desim import World
from desim.core.events import Ranked
from desim.errors import possible
from desim.short_repr import short_repr
from ledgers.book import Book
from ledgers.chart import Account
from ledgers.consolidation import GoodsExchange, Intercompany
from ledgers.stock import Stock
from models.beer_game.params import BeerGameParams
from models.beer_game.rules import Number, Rule, memory, rule
from models.beer_game.stage import Stage

#: Goods and orders are counted exactly: in whole numbers, or in fractions once an order was one.
Units = int | Fraction

# Places outside the stocks: goods come from brewing, orders are placed and filled.
BREWING, CUSTOMERS = "brewing", "customers"
PLACED, FILLED = "placed", "filled"

#: Decimals of the book, as fractional orders make fractional costs; its units in a cent.
DIGITS = 12
CENT = 10 ** (DIGITS - 2)

# Every cost is posted against `PAYABLE`, which holds the unpaid amount of a chain that keeps cash.
PAYABLE, CASH, CAPITAL, SALES = "payable", "cash", "capital", "sales"


class Arrival(Ranked):
    """The arrival of units at the end of their way: a timeout without a process.

    Attributes:
        week: The week of arrival.
        units: Units that arrive, above 0.
    """

    def __init__(self, pipeline: "Pipeline", weeks: int, week: int, units: Units) -> None:
        Ranked.__init__(self, pipeline.world, weeks, rank=pipeline.rank)
        self.callbacks.append(pipeline.arrive)
        self.week, self.units, self._pipeline = week, units, pipeline

    @property
    def name(self) -> str:
        """The place of the units, in an episode's trace."""
        return self._pipeline.place


class Pipeline:
    """Units under way to one place, all with the same lead time.

    Units sent in the same week arrive together, in one event and one move.

    Attributes:
        place: The place of the units under way.
        under_way: The arrivals to come, the next one first.
        arrived: Units that arrived this week; the week's work sets it back to 0.
    """

    __slots__ = ("_stock", "_target", "_weeks", "arrived", "place", "rank", "under_way", "world")

    def __init__(
        self, world: World, stock: Stock, route: tuple[str, str], weeks: int, *, rank: int
    ) -> None:
        self.world, self.rank = world, rank
        self.place, self._target = route
        self._stock, self._weeks = stock, weeks
        self.under_way: deque[Arrival] = deque()
        self.arrived: Units = 0

    def fill(self, source: str, units: Units) -> None:
        """Put units in for each week of the lead time, as at the start."""
        self._stock.open(self.place, units * self._weeks, source)
        for week in range(1, self._weeks + 1 if units else 0):
            self.under_way.append(Arrival(self, week, week, units))

    def send(self, week: int, source: str, units: Units) -> None:
        """Send units, more than 0, in the present week; they arrive after the lead time."""
        self._stock.move(week, source, self.place, units)
        under_way, due = self.under_way, week + self._weeks
        if under_way and under_way[-1].week == due:
            under_way[-1].units += units
        else:
            under_way.append(Arrival(self, self._weeks, due, units))

    def arrive(self, _: Event) -> None:
        """Move the next arrival's units into the stock at their place."""
        arrival = self.under_way.popleft()
        self.arrived = units = arrival.units
        self._stock.move(arrival.week, self.place, self._target, units)


class Week(NamedTuple):
    """One week of one stage, in units; the cost in money, in a log in units of the book."""

    incoming_delivery: Number | Fraction
    incoming_order: Number | Fraction
    outgoing_delivery: Number | Fraction
    order: Number | Fraction
    inventory: Number | Fraction
    backlog: Number | Fraction
    supply_line: Number | Fraction
    cost: float


class Echelon:
    """One stage: its places and accounts, its pipelines, this week's flows, and all weeks.

    Attributes:
        rule: Computes its orders when it has no player.
        played: Whether it has a player.
        above: Its supplier; None at the last stage.
        below: Its customer; None at the first stage.
        deliveries: Units on the way to it.
        slips: Units in the mail to it; none at the first stage, whose customers order at once.
        cost: Cost of this week, in units of the book.
        decided: Units that its blind player ordered for this week.
    """

    deliveries: Pipeline
    slips: Pipeline

    def __init__(self, name: str, rule: Rule, *, played: bool) -> None:
        self.name, self.rule, self.played = name, rule, played
        self.above: Echelon | None = None
        self.below: Echelon | None = None
        self.on_hand, self.in_transit = f"on_hand.{name}", f"in_transit.{name}"
        self.mail, self.owed = f"mail.{name}", f"owed.{name}"
        self.holding, self.backlog = f"holding.{name}", f"backlog.{name}"
        self.received: Units = 0
        self.incoming: Units = 0
        self.shipped: Units = 0
        self.ordered: Units = 0
        self.decided: Units = 0
        self.cost = 0
        self.log: list[Week] = []


class Chain:
    """The state of an episode.

    Attributes:
        demand: Units that customers order, by week.
        echelons: The stages, beginning at the customers.
        scored: Stages that count for the score: those with a player, or the controlled stage.
        goods: Units on hand and in transit, from `brewing` to `customers`.
        orders: Units ordered, in the mail and owed, from `placed` to `filled`.
        units: Units by place of `goods`; a live view.
        slips: Units by place of `orders`; a live view.
        exchange: By stage the goods exchanged with other companies.
        book: Holding and backlog cost by stage, against `payable`; sales and payments, if any.
        cash: The cash of a chain that keeps some, exchanged with other companies.
        strike: Weeks in which the last stage ships nothing.
        memory: Weeks over which the rule of the stages averages the incoming orders.
        work_rank: Rank of the week's work, behind all arrivals.
    """

    def __init__(self, world: World, params: BeerGameParams, demand: list[int]) -> None:
        self.world, self.params, self.demand = world, params, demand
        last = params.stages[-1]
        self.echelons = [
            Echelon(name, rule(params.opponents, upstream=name == last), played=name in world.seats)
            for name in params.stages
        ]
        for low, high in pairwise(self.echelons):
            low.above, high.below = high, low
        self.scored = [e for e in self.echelons if e.played] or [self.echelon(params.controlled)]
        self.strike, self.memory = params.strike_weeks, memory(params.opponents)
        self.work_rank = 2 * len(self.echelons)
        self.book, self.cash = _opened(params)
        self._prices = prices(params)
        self._fill_pipelines()
        self.exchange = {e.name: GoodsExchange(self.goods, e.on_hand) for e in self.echelons}
        self.units, self.slips = self.goods.held, self.orders.held
        self._counts_orders = params.supply_line == "ordered"
        self._opponents = params.opponents if params.names_opponents else ""

    def _fill_pipelines(self) -> None:
        params, all_, flow = self.params, self.echelons, self.params.flow
        places = [place for e in all_ for place in (e.on_hand, e.in_transit)]
        self.goods = Stock(places, outside=(BREWING, CUSTOMERS))
        places = [e.owed for e in all_] + [e.mail for e in all_]
        self.orders = Stock(places, outside=(PLACED, FILLED))
        for at, e in enumerate(all_):
            weeks = params.ship_delay if e.above else params.production_weeks
            route = e.in_transit, e.on_hand
            e.deliveries = Pipeline(self.world, self.goods, route, weeks, rank=at)
            weeks, rank = params.order_delay, len(all_) + at
            e.slips = Pipeline(self.world, self.orders, (e.mail, e.owed), weeks, rank=rank)
            self.goods.open(e.on_hand, params.target_inventory, BREWING)
            e.deliveries.fill(BREWING, flow)
            if e.below:
                e.slips.fill(PLACED, flow)

    def account(self, week: int) -> int:
        """Post the week's holding and backlog cost of every stage, on the units after shipping.

        A chain that keeps cash posts its sales in the same entry, and pays all that it owes, or all
        the cash it has. Cash moves in whole cents, so that other companies can send and receive all
        of it; the part of a cent that is owed is paid once it makes a cent.

        Returns:
            The cost of all stages, in units of the book.
        """
        per_unit, per_owed, floor, margin = self._prices
        units, slips = self.units, self.slips
        entry: dict[str, int] = {}
        total = 0
        for e in self.echelons:
            held = max(_cost(per_unit, units[e.on_hand]), floor)
            owed = _cost(per_owed, slips[e.owed])
            entry[e.holding], entry[e.backlog] = held, owed
            e.cost = held + owed
            total += e.cost
        if self.cash is None:
            entry[PAYABLE] = -total
        else:
            sales = int(margin * self.echelons[0].shipped + CENT // 2) // CENT * CENT
            cash, due = self.book.held[CASH] + sales, total - self.book.held[PAYABLE]
            paid = min(cash, due // CENT * CENT)
            entry |= {PAYABLE: paid - total, CASH: sales - paid, SALES: -sales}
        self.book.post(week, "cost of the week", entry)
        return total

    @property
    def ledgers(self) -> tuple[Book, Stock, Stock]:
        """The ledgers that enter the digest."""
        return (self.book, self.goods, self.orders)

    def supply_line(self, e: Echelon) -> Units:
        """Return the units under way to a stage, as the parameter `supply_line` counts them."""
        line = self.units[e.in_transit]
        if self._counts_orders and e.above:
            line += self.slips[e.above.mail] + self.slips[e.above.owed]
        return line

    def observe(self, week: int, e: Echelon) -> Stage:
        """Return the observation of a stage now."""
        return Stage(
            week,
            e.name,
            shown(self.units[e.on_hand]),
            shown(self.slips[e.owed]),
            shown(e.incoming),
            shown(e.received),
            shown(e.shipped),
            shown(self.supply_line(e)),
            shown(e.ordered),
            self.params.horizon,
            self._opponents,
            self.params.target_inventory,
        )

    def echelon(self, name: str) -> Echelon:
        """Return a stage by its name.

        Raises:
            ValueError: The chain lacks a stage of that name.
        """
        found = next((e for e in self.echelons if e.name == name), None)
        if found is None:
            near = possible(str(name), self.params.stages)
            raise ValueError(f"stage={short_repr(name)} was given; {near}")
        return found

    def history(self, name: str) -> list[Week]:
        """Return the weeks of a stage, the first week first, with the cost in money."""
        unit, log = 10**DIGITS, self.echelon(name).log
        return [Week._make([*map(shown, units), cost / unit]) for *units, cost in log]


def _opened(params: BeerGameParams) -> tuple[Book, Intercompany | None]:
    """Return the book and the cash; accounts of a chain with cash have what statements need."""
    costs = [f"{kind}.{name}" for name in params.stages for kind in ("holding", "backlog")]
    if params.opening_cash is None:
        return Book(*costs, PAYABLE, digits=DIGITS), None
    book = Book(
        *(Account(code, code.replace(".", " cost, ").capitalize(), "expense") for code in costs),
        Account(PAYABLE, "Accounts payable", "liability"),
        Account(CASH, "Cash", "asset"),
        Account(CAPITAL, "Paid-in capital", "equity"),
        Account(SALES, "Sales margin", "income"),
        digits=DIGITS,
    )
    if params.opening_cash:
        book.transfer(0, "opening cash", CASH, CAPITAL, int(book_units(params.opening_cash)))
    return book, Intercompany(book, CASH, "asset")


def prices(params: BeerGameParams) -> tuple[Units, Units, int, Units]:
    """Return the prices of a unit on hand and owed, the least holding cost, and the margin."""
    floor = round(book_units(params.minimum_holding_cost))
    held, owed = book_units(params.holding_cost), book_units(params.backlog_cost)
    return held, owed, floor, book_units(params.unit_margin)


def _cost(price: Units, units: Units) -> int:
    if type(price) is int and type(units) is int:
        return price * units
    # Half to even, as `round` of a fraction does; the operators of `Fraction` take far longer.
    (over, below), (factor, divisor) = units.as_integer_ratio(), price.as_integer_ratio()
    whole, rest = divmod(over * factor, below * divisor)
    twice = 2 * rest - below * divisor
    return whole + (twice > 0 or (twice == 0 and whole % 2 == 1))


@lru_cache(100)
def book_units(price: float) -> Units:
    """Return money in units of the book; a price is the fraction that its decimal text names."""
    units: Fraction = Fraction(str(price)) * 10**DIGITS
    # Whole prices as integers: arithmetic of fractions takes ten times as long.
    return units.numerator if units.denominator == 1 else units


def shown(units: Units | float) -> Number:
    """Return units for observations and tables: whole as an int, a fraction as a float."""
    return units if type(units) is int else float(units)
