"""The chain during an episode: goods, orders and costs of every stage.

Two stocks and a book hold all figures. `goods` moves units from brewing to customers; `orders`
moves units ordered through the mail to the backlog of the supplier, until they are filled. The
pipelines only hold the arrival times of parts of a stock.
"""

from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from attrs import define, field

from desim import World
from desim.errors import possible
from desim.short_repr import short_repr
from ledgers.book import Book
from ledgers.consolidation import GoodsExchange
from ledgers.stock import Stock
from models.beer_game.accounts import DIGITS, Cash, chart
from models.beer_game.actions import Number
from models.beer_game.observation import Stage
from models.beer_game.params import BeerGameParams
from models.beer_game.pipeline import Pipeline, Units, total
from models.beer_game.ranks import Ranks
from models.beer_game.rules import Rule, memory, rule

__all__ = [
    "BREWING",
    "CUSTOMERS",
    "FILLED",
    "PLACED",
    "Chain",
    "Echelon",
    "Units",
    "Week",
    "shown",
]

# Places outside the stocks: goods come from brewing, orders are placed and filled.
BREWING, CUSTOMERS = "brewing", "customers"
PLACED, FILLED = "placed", "filled"


class Week(NamedTuple):
    """One week of one stage, in units; cost in money."""

    incoming_delivery: Number
    incoming_order: Number
    outgoing_delivery: Number
    order: Number
    inventory: Number
    backlog: Number
    supply_line: Number
    cost: float


@define(eq=False)
class Echelon:
    """One stage: its places in the stocks, its accounts, its pipelines and this week's flows.

    Attributes:
        name: The stage.
        rule: Computes its orders when it has no player.
        played: Whether it has a player.
        deliveries: Units on the way to it.
        slips: Units ordered from it and in the mail; unused at the first stage, whose customers
            order without delay.
        above: Its supplier; None at the last stage.
        below: Its customer; None at the first stage.
        on_hand: Place in `goods` of its inventory.
        in_transit: Place in `goods` of the units on the way to it.
        mail: Place in `orders` of the units ordered from it and not yet arrived.
        owed: Place in `orders` of its backlog.
        holding: Account of its holding cost.
        backlog: Account of its backlog cost.
        received: Units delivered this week.
        incoming: Units ordered from it this week.
        shipped: Units shipped this week.
        ordered: Units that it ordered last.
        cost: Cost of this week, in units of the book.
        decided: Units that its blind player ordered for this week.
        log: One row a week: received, incoming, shipped, ordered, on hand, owed, supply line, cost.
    """

    name: str
    rule: Rule
    played: bool
    deliveries: Pipeline = field(init=False)
    slips: Pipeline = field(init=False)
    above: "Echelon | None" = None
    below: "Echelon | None" = None
    on_hand: str = field(init=False)
    in_transit: str = field(init=False)
    mail: str = field(init=False)
    owed: str = field(init=False)
    holding: str = field(init=False)
    backlog: str = field(init=False)
    received: Units = 0
    incoming: Units = 0
    shipped: Units = 0
    ordered: Units = 0
    cost: int = 0
    decided: Units = 0
    log: list[tuple[Units, ...]] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.on_hand = f"on_hand.{self.name}"
        self.in_transit = f"in_transit.{self.name}"
        self.mail = f"mail.{self.name}"
        self.owed = f"owed.{self.name}"
        self.holding = f"holding.{self.name}"
        self.backlog = f"backlog.{self.name}"


class Chain:
    """The state of an episode.

    Attributes:
        world: The clock.
        params: The parameters.
        demand: Units that customers order, by week.
        flow: Units in every box of every pipeline at the start.
        strike: Weeks in which the last stage ships nothing.
        echelons: The stages, beginning at the customers.
        scored: Stages that count for the score: those with a player, or the controlled stage.
        goods: Units on hand and in transit, from `brewing` to `customers`.
        exchange: The goods exchanged with other companies.
        orders: Units ordered, in the mail and owed, from `placed` to `filled`.
        book: Holding and backlog cost by stage, against `payable`; sales and payments, if any.
        cash: The cash of a chain that keeps some.
        units: Units by place of `goods`; a live view.
        slips: Units by place of `orders`; a live view.
    """

    def __init__(self, world: World, params: BeerGameParams, demand: list[int]) -> None:
        self.world = world
        self.params = params
        self.demand = demand
        self.flow: Units = params.flow
        self.strike = params.strike_weeks
        last = params.stages[-1]
        self.echelons = [
            Echelon(name, rule(params.opponents, upstream=name == last), name in world.seats)
            for name in params.stages
        ]
        self.scored = [e for e in self.echelons if e.played] or [
            e for e in self.echelons if e.name == params.controlled
        ]
        for low, high in pairwise(self.echelons):
            low.above, high.below = high, low
        self._memory = memory(params.opponents)
        self._opponents = params.opponents if params.names_opponents else ""
        self._counts_orders = params.supply_line == "ordered"
        self._open_ledgers()
        self._fill_pipelines(world)

    def _open_ledgers(self) -> None:
        all_, above = self.echelons, self.echelons[1:]
        # One class for both: Python's caches of attribute look-ups make the moves of two slower.
        self.goods = Stock(
            [p for e in all_ for p in (e.on_hand, e.in_transit)], outside=(BREWING, CUSTOMERS)
        )
        self.orders = Stock(
            [e.owed for e in all_] + [e.mail for e in all_], outside=(PLACED, FILLED)
        )
        self.exchange = GoodsExchange(self.goods)
        costs = [account for e in all_ for account in (e.holding, e.backlog)]
        opening, margin = self.params.opening_cash, self.params.unit_margin
        accounts = chart(costs, keeps_cash=opening is not None)
        self.book = Book(*accounts, digits=DIGITS)
        self.cash = None if opening is None else Cash(self.book, opening, margin)
        self.units, self.slips = self.goods.held, self.orders.held
        params, flow = self.params, self.flow
        for e in all_:
            self.goods.open(e.on_hand, params.target_inventory, BREWING)
            self.goods.open(e.in_transit, flow * self._weeks_to(e), BREWING)
        for e in above:
            self.orders.open(e.mail, flow * params.order_delay, PLACED)

    def _fill_pipelines(self, world: World) -> None:
        params, ranks = self.params, Ranks(len(self.echelons))
        for at, e in enumerate(self.echelons):
            route = e.in_transit, e.on_hand
            e.deliveries = Pipeline(
                world, self.goods, route, self._weeks_to(e), ranks.deliveries + at
            )
            route = e.mail, e.owed
            e.slips = Pipeline(world, self.orders, route, params.order_delay, ranks.orders + at)
            if self.flow:
                e.deliveries.fill(self.flow)
                if e.below:
                    e.slips.fill(self.flow)

    def _weeks_to(self, e: Echelon) -> int:
        """Return the weeks of transport, or of production at the last stage."""
        return self.params.ship_delay if e.above else self.params.production_weeks

    @property
    def ledgers(self) -> tuple[Book, Stock, Stock]:
        """The ledgers that enter the digest."""
        return (self.book, self.goods, self.orders)

    def supply_line(self, echelon: Echelon) -> Units:
        """Return the units under way to a stage, as the parameter `supply_line` counts them."""
        line = self.units[echelon.in_transit]
        if self._counts_orders and (supplier := echelon.above):
            mail, owed = self.slips[supplier.mail], self.slips[supplier.owed]
            if type(line) is type(mail) is type(owed) is int:  # as a rule; a call takes as long
                return line + mail + owed
            return total(line, mail, owed)
        return line

    def by_rule(self, e: Echelon, line: Units) -> Units:
        """Return the order of a stage's rule, not yet floored or cut; *line* is its supply line."""
        on, owed = self.units[e.on_hand], self.slips[e.owed]
        incoming = e.incoming if self._memory == 1 else self._mean_incoming(e)
        units: Units = e.rule(incoming, on, owed, line, self.params.target_inventory)
        return units

    def _mean_incoming(self, e: Echelon) -> Units:
        """Return the mean of a stage's last incoming orders; before week 1 they were `flow`."""
        past = [row[1] for row in e.log[1 - self._memory :]]
        before = (self._memory - 1 - len(past)) * self.flow
        return Fraction(before + sum(past) + e.incoming, self._memory)

    def observe(self, week: int, echelon: Echelon) -> Stage:
        """Return the observation of a stage now."""
        return Stage(
            week,
            echelon.name,
            shown(self.units[echelon.on_hand]),
            shown(self.slips[echelon.owed]),
            shown(echelon.incoming),
            shown(echelon.received),
            shown(echelon.shipped),
            shown(self.supply_line(echelon)),
            shown(echelon.ordered),
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
        """Return the weeks of a stage, the first week first."""
        unit, log = 10**DIGITS, self.echelon(name).log
        return [Week._make([*map(shown, units), cost / unit]) for *units, cost in log]


def shown(units: Units) -> Number:
    """Return units for observations and tables: whole as an int, a fraction as a float."""
    if type(units) is int:
        return units
    over, below = units.as_integer_ratio()  # as `float` does, in a third of the time
    return over / below
