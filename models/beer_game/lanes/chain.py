"""The weeks of the chain on arrays, equal to `processes.py`.

An array has a row for each stage, beginning at the customers, and a column for each lane. Stocks
change in place; flows are arrays of their week, which observations, pipelines and forks share.
"""

from collections import deque
from collections.abc import Mapping
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from desim.lanes.lane_columns import Array
from models.beer_game import rules
from models.beer_game.lanes.past_weeks import PastWeeks
from models.beer_game.lanes.scaled_prices import ScaledPrices
from models.beer_game.params import BeerGameParams

#: The arrays of a chain that a fork takes the lanes from.
_TAKEN = (
    *("demand", "on_hand", "owed", "line", "shipped", "ordered", "standing", "late"),
    *("_held", "_steady", "_summed", "_wanted", "_slips", "_goods", "_brewed"),
)


class LaneChain:
    """The state of many chains.

    Args:
        params: The parameters.
        played: The rows of the stages with a player.
        demand: Units by week and lane.

    Attributes:
        params: The parameters.
        played: The rows of the stages with a player.
        prices: The prices in whole numbers.
        scored: The rows that count for the score.
        demand: Units by week and lane.
        week: Weeks whose goods have been shipped.
        on_hand: Units on hand.
        owed: Units of backlog.
        line: Units under way to the stage, as the parameter `supply_line` counts them.
        shipped: Units shipped in the week.
        ordered: Units ordered last.
        standing: Orders by rule of the present week, not placed yet.
        late: The sum of the backlogs of all weeks, in units.
        orders: The orders by week.
    """

    def __init__(self, params: BeerGameParams, played: list[int], demand: Array) -> None:
        self.params, self.played, self.demand = params, played, demand
        self.prices = ScaledPrices.of(params)
        self._stages = len(params.stages)
        self._last = self._stages - 1
        self._rule = _rule(params)
        self._reads_incoming = params.opponents.partition(":")[0] != "benchmark"
        self._memory = rules.memory(params.opponents)
        self.scored = played or [params.stages.index(params.controlled)]
        self._counts_orders = params.supply_line == "ordered"
        self.longest_delay = max(params.order_delay, params.production_weeks)
        self._fill()

    def _fill(self) -> None:
        nothing, params = self._full(0), self.params
        self._steady = self._full(params.flow)
        self.week = 0
        self.on_hand, self.owed = self._full(params.target_inventory), self._full(0)
        self.line = self._steady * self._weeks_of_line()
        self.shipped = self.ordered = self.standing = nothing
        self._wanted, self._slips = nothing[0, :], nothing[1:, :]
        self._goods, self._brewed = nothing[1:, :], nothing[0, :]
        self.late, self._held = self._full(0), self._full(0)
        self._sent = deque([self._steady[1:, :]] * params.ship_delay)
        self.orders = PastWeeks()
        # Without the echo what is mailed to a stage are the orders of the stage below.
        self._mailed = PastWeeks() if params.brewery_echo else self.orders
        self._summed = self._steady * self._memory

    def _full(self, units: int) -> Array:
        return np.full((self._stages, self.demand.shape[1]), units, dtype=np.int64)

    def _weeks_of_line(self) -> Array:
        """Return by stage the weeks whose orders are in its supply line at the start."""
        params, last = self.params, self._stages - 1
        low = params.ship_delay + (params.order_delay if self._counts_orders else 0)
        weeks = [[low]] * last + [[params.production_weeks]]
        return np.asarray(weeks, dtype=np.int64)

    def fork(self, rows: Array) -> "LaneChain":
        """Return a chain that continues these lanes."""
        fork: LaneChain = copy(self)

        def taken(units: Array) -> Array:
            return np.take(units, rows, axis=-1)

        for name in _TAKEN:
            setattr(fork, name, taken(getattr(self, name)))
        fork._sent = deque(map(taken, self._sent))
        fork.orders = self.orders.fork(rows)
        fork._mailed = self._mailed.fork(rows) if self.params.brewery_echo else fork.orders
        return fork

    # -- the week --------------------------------------------------------------------------------

    def work(self) -> None:
        """Receive, ship, add up the costs and compute the orders of the rule."""
        self.receive()
        self.ship()
        self.account()
        if len(self.played) < self._stages:
            self.standing = self.by_rule()

    def receive(self) -> None:
        """Add the goods and orders that arrive this week."""
        params, week = self.params, self.week
        self._goods = self._sent.popleft()
        self._brewed = self._past(self.orders, week - params.production_weeks)[-1, :]
        self._wanted = self.demand[week, :]
        self._slips = self._past(self._mailed, week - params.order_delay)[:-1, :]
        low, last = self.on_hand[:-1, :], self.on_hand[-1, :]
        low += self._goods
        last += self._brewed
        low, last = self.line[:-1, :], self.line[-1, :]
        low -= self._goods
        last -= self._brewed
        first, above = self.owed[0, :], self.owed[1:, :]
        first += self._wanted
        above += self._slips

    def ship(self) -> None:
        """Ship each stage's backlog up to its goods on hand, unless it is on strike."""
        self.week += 1
        shipped = np.minimum(self.on_hand, self.owed)
        if self.week in self.params.strike_weeks:
            shipped[-1, :] = 0
        self.on_hand -= shipped
        self.owed -= shipped
        sent = shipped[1:, :]
        self._sent.append(sent)
        if not self._counts_orders:
            line = self.line[:-1, :]
            line += sent
        self.shipped = shipped

    def account(self) -> None:
        """Add what the week's holding and backlog costs are computed from."""
        self._held += self.prices.held(self.on_hand)
        self.late += self.owed

    def by_rule(self) -> Array:
        """Return the order of each stage's rule in units, at least 0."""
        incoming = self.arriving(self.week - 1) if self._reads_incoming else None
        if self._memory > 1:
            self._summed = self._summed + incoming - self.arriving(self.week - 1 - self._memory)
            # The rules add the mean to whole numbers and cut the sum, so the mean can be cut.
            incoming = self._summed // self._memory
        want = self.params.target_inventory
        units = self._rule(incoming, self.on_hand, self.owed, self.line, want)
        return np.maximum(units, 0)

    def place(self, units: Mapping[int, Array]) -> None:
        """Mail the orders of all stages and start production.

        Args:
            units: The orders of players by row; a forced week has its own.
        """
        ordered = self._steady
        if self.week > self.params.forced_weeks:
            ordered = self.standing if len(self.played) < self._stages else self._full(0)
            for row, quantity in units.items():
                ordered[row, :] = quantity
        self.ordered = ordered
        self.orders.append(ordered)
        if self.params.brewery_echo:
            self._mailed.append(self._with_echo(ordered + 0, ordered))
        if self._counts_orders:
            self.line += ordered
            self._with_echo(self.line, ordered)
        else:
            last = self.line[-1, :]
            last += ordered[-1, :]

    def _with_echo(self, units: Array, ordered: Array) -> Array:
        """Add the last stage's orders, which come back to it as orders of the stage below."""
        if self.params.brewery_echo and self._stages > 1:
            below = units[-2, :]
            below += ordered[-1, :]
        return units

    def arriving(self, week: int) -> Array:
        """Return the units ordered from each stage in a week, counted from 0."""
        if week < 0:
            return self._steady
        mailed = self._past(self._mailed, week - self.params.order_delay)
        return np.concatenate((self.demand[week : week + 1, :], mailed[:-1, :]))

    def _past(self, log: PastWeeks, week: int) -> Array:
        return self._steady if week < 0 else log[week]

    # -- figures ---------------------------------------------------------------------------------

    def cost(self) -> Array:
        """Return the cost of each stage so far, in units of `ScaledPrices`."""
        return self._held * self.prices.per_held + self.late * self.prices.per_owed

    def observed(self, row: int) -> dict[str, Array]:
        """Return the figures in units that a stage observes, which later weeks do not change."""
        return {
            "inventory": self.on_hand[row, :] + 0,
            "backlog": self.owed[row, :] + 0,
            "incoming_order": self._slips[row - 1, :] if row else self._wanted,
            "incoming_delivery": self._brewed if row == self._last else self._goods[row, :],
            "outgoing_delivery": self.shipped[row, :],
            "supply_line": self.line[row, :] + self._early_echo(row),
            "last_order": self.ordered[row, :],
        }

    def _early_echo(self, row: int) -> Any:
        """Return the orders of a rule that come back before players at the week's end observe."""
        echoes = self._counts_orders and self.params.brewery_echo and row == self._last - 1
        asked_later = not self.params.blind and self._last not in self.played
        return self.standing[-1, :] if echoes and asked_later else 0

    def largest_cost(self) -> int:
        """Return the largest cost of all stages so far, in units of the book and its lanes."""
        return self._largest(np.sum(self.cost(), axis=0)) * self.prices.over

    def largest(self) -> int:
        """Return the largest number of units in any place, order or shipment."""
        weeks = range(max(0, self.week - self.longest_delay), len(self.orders))
        states = (self.on_hand, self.owed, self.line, self.standing, self._summed)
        under_way = (*self._sent, *(self._mailed[week] for week in weeks))
        return max(self.params.flow, *(self._largest(each) for each in (*states, *under_way)))

    def _largest(self, units: Array) -> int:
        return int(np.max(units)) if 0 not in units.shape else 0


def _rule(params: BeerGameParams) -> Any:
    """Return the rule of stages without a player as a function of arrays."""
    name, last = params.opponents, len(params.stages) - 1
    rule = rules.rule(name, upstream=False)
    base = name.partition(":")[0]
    if base == "benchmark":
        desired = [[rules.desired(upstream=row == last)] for row in range(last + 1)]
        column: Any = np.asarray(desired, dtype=np.int64)
        return partial(rules.benchmark, desired=column)
    return partial(_in_doubles, rule) if base == "smoothing" else rule


def _in_doubles(rule: Any, *facts: Any) -> Array:
    """Return the whole number of units of a rule that divides."""
    *arrays, want = facts
    return rule(*(each.astype(np.float64) for each in arrays), want).astype(np.int64)
