"""The chain while a game runs: who holds, owes and has ordered what.

Two stocks and a book hold every figure. `goods` moves units from brewing to customers; `orders`
moves order slips from where they are placed, through the mail, to what a stage owes, until they are
filled. Pipelines only say which part of a stock comes next.
"""

from collections import deque
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from attrs import define, field

from ledgers.book import Book
from ledgers.stock import Stock
from models.beer_game.observation import Number, Stage
from models.beer_game.rules import Rule, rule

if TYPE_CHECKING:
    from models.beer_game.params import BeerGame

__all__ = ["Chain", "Echelon", "Units", "Week", "shown"]

#: Goods are counted exactly: whole, or as fractions where orders were.
Units = int | Fraction

#: Costs are booked in 1e-12 of the money unit, because fractional orders make fractional costs.
DIGITS = 12


class Week(NamedTuple):
    """What one stage did in one week, in units; cost in money."""

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
    """One stage: its places in the stocks, its pipelines, and this week's flows.

    Attributes:
        name: The stage.
        rule: What it orders when nobody sits there.
        deliveries: Units on the way to it, next to arrive first.
        slips: Orders on the way to it, next to arrive first; the first stage has customers instead.
        decided: The order of its player for this week.
    """

    name: str
    rule: Rule
    deliveries: deque[Units]
    slips: deque[Units]
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
    """The state of a game.

    Attributes:
        game: The parameters.
        echelons: Stages from the customers' side up.
        goods: Units on hand and in transit, from `brewing` to `customers`.
        orders: Slips in the mail and owed, from `placed` to `filled`.
        book: Holding and backlog cost by stage, against `payable`.
        demand: Units customers want, week by week.
        seats: Stages with a player; the controlled one where there is none.
        players: Stages with a player.
    """

    def __init__(self, game: "BeerGame", demand: list[int], players: frozenset[str]) -> None:
        self.game = game
        self.demand = demand
        self.players = players
        last = len(game.stages) - 1
        self.echelons = [
            Echelon(
                name,
                rule(game.opponents, upstream=at == last),
                deque([game.flow] * (game.production_weeks if at == last else game.ship_delay)),
                deque([game.flow] * game.order_delay),
            )
            for at, name in enumerate(game.stages)
        ]
        self.seats = [e for e in self.echelons if e.name in players] or [
            e for e in self.echelons if e.name == game.controlled
        ]
        for low, high in pairwise(self.echelons):
            low.above, high.below = high, low
        self._counts_orders = game.supply_line == "ordered"
        self._open_ledgers()

    def _open_ledgers(self) -> None:
        all_, above = self.echelons, self.echelons[1:]
        self.goods = Stock(
            [p for e in all_ for p in (e.on_hand, e.in_transit)], outside=("brewing", "customers")
        )
        self.orders = Stock(
            [e.owed for e in all_] + [e.mail for e in all_], outside=("placed", "filled")
        )
        costs = [account for e in all_ for account in (e.holding, e.backlog)]
        self.book = Book(*costs, "payable", digits=DIGITS)
        # Live views: units on hand and in transit, slips in the mail and owed, by place.
        self.units, self.slips = self.goods.held, self.orders.held
        for e in all_:
            self.goods.open(e.on_hand, self.game.target_inventory, "brewing")
            self.goods.open(e.in_transit, sum(e.deliveries), "brewing")
        for e in above:
            self.orders.open(e.mail, sum(e.slips), "placed")

    @property
    def ledgers(self) -> tuple[Book, Stock, Stock]:
        """What the digest covers."""
        return (self.book, self.goods, self.orders)

    def supply_line(self, echelon: Echelon) -> Units:
        """Units under way to a stage, as this game counts them."""
        line = self.units[echelon.in_transit]
        if self._counts_orders and (supplier := echelon.above):
            line += self.slips[supplier.mail] + self.slips[supplier.owed]
        return line

    def by_rule(self, e: Echelon, line: Units) -> Units:
        """What the rule of a stage orders, not yet floored or cut; `line` is its supply line."""
        on, owed = self.units[e.on_hand], self.slips[e.owed]
        units: Units = e.rule(e.incoming, on, owed, line, self.game.target_inventory)
        return units

    def see(self, week: int, echelon: Echelon) -> Stage:
        """What a stage sees now."""
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
            self.game.horizon,
            self.game.opponents,
            self.game.target_inventory,
        )

    def history(self, name: str) -> list[Week]:
        """What one stage did, week by week."""
        echelon = next(e for e in self.echelons if e.name == name)
        unit = 10**DIGITS
        return [Week._make([*map(shown, units), cost / unit]) for *units, cost in echelon.log]


def shown(units: Units) -> Number:
    """Write units as policies and people see them: whole where they are whole."""
    return units if type(units) is int else float(units)
