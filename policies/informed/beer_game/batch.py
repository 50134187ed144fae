"""Costs of thousands of order lists at once, in arrays.

The arrays repeat the flows of `models/beer_game/processes.py` without clock, ledgers or log, and
use the model's own rules. Units are doubles, exact below 2**53. A search compares lists with these
costs and plays the best list in the model itself.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.beer_game.params import BeerGameParams
from models.beer_game.rules import memory, rule

#: Orders in units: one row for each list, one column for each week.
Lists = NDArray[np.float64]


def costs(params: BeerGameParams, demand: Sequence[int], played: int, lists: Lists) -> Lists:
    """Return the cost in money of the played stage for each list; the others follow their rule.

    Args:
        params: The parameters.
        demand: Units by week.
        played: The played stage's index, from 0.
        lists: Orders in units by list and week, at least 0.
    """
    chains = _Chains(params, played)
    paid = np.zeros(len(lists))
    for week, wanted in enumerate(demand):
        chains.deliver(week)
        chains.ship(week, wanted)
        held = np.maximum(params.minimum_holding_cost, params.holding_cost * chains.on_hand[played])
        paid += held + params.backlog_cost * chains.owed[played]
        chains.order(week, lists[:, week])
    return paid


class _Chains:
    """The state of many chains; a quantity is a number as long as it is the same in all of them."""

    def __init__(self, params: BeerGameParams, played: int) -> None:
        count = len(params.stages)
        lags = [params.ship_delay] * (count - 1) + [params.production_weeks]
        weeks = params.horizon + max(*lags, params.order_delay)
        self.params, self.played, self.last = params, played, count - 1
        self.strike = params.strike_weeks
        self.rules = [rule(params.opponents, upstream=s == self.last) for s in range(count)]
        # Units by week of arrival.
        flow = params.flow
        self.memory = memory(params.opponents)
        # Incoming orders of each stage, the newest last.
        self.past: list[list[Any]] = [[] for _ in lags]
        self.due = [[flow] * lag + [0] * weeks for lag in lags]
        self.mail: list[list[Any]] = [[flow] * params.order_delay + [0] * weeks for _ in lags]
        self.on_hand: list[Any] = [params.target_inventory] * count
        self.owed: list[Any] = [0] * count
        self.incoming: list[Any] = [0] * count
        self.transit: list[Any] = [flow * lag for lag in lags]
        self.mailed: list[Any] = [flow * params.order_delay] * count

    def deliver(self, week: int) -> None:
        for s, due in enumerate(self.due):
            self.on_hand[s] = self.on_hand[s] + due[week]
            self.transit[s] = self.transit[s] - due[week]

    def ship(self, week: int, wanted: int) -> None:
        # Weeks are counted from 0 here and from 1 in the parameters.
        on_strike = self.last if week + 1 in self.strike else None
        for s in range(self.last + 1):
            self.incoming[s] = self.mail[s][week] if s else wanted
            self.past[s].append(self.incoming[s])
            self.mailed[s] = self.mailed[s] - self.mail[s][week]
            need = self.incoming[s] + self.owed[s]
            sent = 0 if s == on_strike else np.minimum(self.on_hand[s], need)
            self.on_hand[s], self.owed[s] = self.on_hand[s] - sent, need - sent
            if s:
                self.due[s - 1][week + self.params.ship_delay] = sent
                self.transit[s - 1] = self.transit[s - 1] + sent

    def order(self, week: int, own: Any) -> None:
        # All rules read the state before any order of this week changes it.
        orders = [own if s == self.played else self.by_rule(s) for s in range(self.last + 1)]
        if week < self.params.forced_weeks:
            orders = [self.params.flow] * (self.last + 1)
        for s, units in enumerate(orders):
            if s < self.last:
                self.post(s + 1, week, units)
        self.due[-1][week + self.params.production_weeks] = orders[-1]
        self.transit[-1] = self.transit[-1] + orders[-1]
        if self.params.brewery_echo:
            self.post(self.last, week, orders[-1])

    def by_rule(self, s: int) -> Any:
        line = self.transit[s]
        if self.params.supply_line == "ordered" and s < self.last:
            line = line + self.mailed[s + 1] + self.owed[s + 1]
        target = self.params.target_inventory
        past = self.past[s][-self.memory :]
        incoming = (sum(past) + (self.memory - len(past)) * self.params.flow) / self.memory
        units = self.rules[s](incoming, self.on_hand[s], self.owed[s], line, target)
        return np.maximum(0, np.floor(units) if self.params.whole_units else units)

    def post(self, to: int, week: int, units: Any) -> None:
        due = week + self.params.order_delay
        self.mail[to][due] = self.mail[to][due] + units
        self.mailed[to] = self.mailed[to] + units
