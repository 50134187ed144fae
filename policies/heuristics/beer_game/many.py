"""The chain played for thousands of order lists at once, in arrays: what a search needs.

It mirrors the flows of `models/beer_game/processes.py` without clock, ledgers or log, and uses the
model's own rules. Units are doubles, exact below 2**53. A search takes its figures from here and
has the list it settles on played by the model itself.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.beer_game import BeerGame
from models.beer_game.rules import rule

__all__ = ["Lists", "costs"]

#: One row a list of orders, one column a week.
Lists = NDArray[np.float64]


def costs(game: BeerGame, demand: Sequence[int], seat: int, lists: Lists) -> Lists:
    """Return what the stage at `seat` pays for each list, the others following their rule.

    Args:
        game: The parameters.
        demand: Units by week.
        seat: Its place among the stages, from 0.
        lists: Orders by list and week, at least 0.
    """
    chain = _Chains(game, seat)
    paid = np.zeros(len(lists))
    for week, wanted in enumerate(demand):
        chain.deliver(week)
        chain.ship(week, wanted)
        held = np.maximum(game.minimum_holding_cost, game.holding_cost * chain.on_hand[seat])
        paid += held + game.backlog_cost * chain.owed[seat]
        chain.order(week, lists[:, week])
    return paid


class _Chains:
    """The state of many chains; a quantity is an array, or a number while all agree on it."""

    def __init__(self, game: BeerGame, seat: int) -> None:
        count = len(game.stages)
        lags = [game.ship_delay] * (count - 1) + [game.production_weeks]
        weeks = game.horizon + max(*lags, game.order_delay)
        self.game, self.seat, self.last = game, seat, count - 1
        self.rules = [rule(game.opponents, upstream=s == self.last) for s in range(count)]
        # What is due in a week is written where it is due.
        self.due = [[game.flow] * lag + [0] * weeks for lag in lags]
        self.mail: list[list[Any]] = [[game.flow] * game.order_delay + [0] * weeks for _ in lags]
        self.on_hand: list[Any] = [game.target_inventory] * count
        self.owed: list[Any] = [0] * count
        self.asked: list[Any] = [0] * count
        self.transit: list[Any] = [game.flow * lag for lag in lags]
        self.mailed: list[Any] = [game.flow * game.order_delay] * count

    def deliver(self, week: int) -> None:
        for s, due in enumerate(self.due):
            self.on_hand[s] = self.on_hand[s] + due[week]
            self.transit[s] = self.transit[s] - due[week]

    def ship(self, week: int, wanted: int) -> None:
        for s in range(self.last + 1):
            self.asked[s] = self.mail[s][week] if s else wanted
            self.mailed[s] = self.mailed[s] - self.mail[s][week]
            need = self.asked[s] + self.owed[s]
            sent = np.minimum(self.on_hand[s], need)
            self.on_hand[s], self.owed[s] = self.on_hand[s] - sent, need - sent
            if s:
                self.due[s - 1][week + self.game.ship_delay] = sent
                self.transit[s - 1] = self.transit[s - 1] + sent

    def order(self, week: int, own: Any) -> None:
        # All rules look before any order of this week is on its way.
        orders = [own if s == self.seat else self.by_rule(s) for s in range(self.last + 1)]
        if week < self.game.forced_weeks:
            orders = [self.game.flow] * (self.last + 1)
        for s, units in enumerate(orders):
            if s < self.last:
                self.post(s + 1, week, units)
        self.due[-1][week + self.game.production_weeks] = orders[-1]
        self.transit[-1] = self.transit[-1] + orders[-1]
        if self.game.brewery_echo:
            self.post(self.last, week, orders[-1])

    def by_rule(self, s: int) -> Any:
        line = self.transit[s]
        if self.game.supply_line == "ordered" and s < self.last:
            line = line + self.mailed[s + 1] + self.owed[s + 1]
        target = self.game.target_inventory
        units = self.rules[s](self.asked[s], self.on_hand[s], self.owed[s], line, target)
        return np.maximum(0, np.floor(units) if self.game.whole_units else units)

    def post(self, to: int, week: int, units: Any) -> None:
        due = week + self.game.order_delay
        self.mail[to][due] = self.mail[to][due] + units
        self.mailed[to] = self.mailed[to] + units
