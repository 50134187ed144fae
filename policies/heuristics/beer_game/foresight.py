"""Policies that know the demand: the cheapest order list found for it, and foresight of a week.

They are yardsticks and no rules that a player could follow.
"""

from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import TypeAlias

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

from desim import Policy, Seat
from desim.core.streams import generator
from desim.lanes import HasLanes, Lanes
from models.beer_game import demand
from models.beer_game.params import BeerGameParams
from models.beer_game.stage import Order, Stage
from policies.heuristics.beer_game.published import order, parameters

#: Orders in units: one row for each list, one column for each week.
Lists: TypeAlias = NDArray[np.float64]

#: Largest order of the search, as a multiple of the largest demand.
_REACH = 16


@define
class Foresight(Policy):
    """Order the customers' demand of the same week."""

    knows = "future"
    needs_world_seed = True
    #: Units for each week, forced weeks included.
    _orders: Sequence[int] = field(init=False)
    #: The observation's `week` at the first order of the list.
    _first: int = field(init=False)

    def orders(self, params: BeerGameParams, seat: Seat) -> Sequence[int]:
        """Return the units to order in each week of the seat's episode."""
        return weekly_demand(params, seat.world_seed)

    def seated(self, seat: Seat) -> None:
        """Take the orders of the episode.

        Raises:
            UsageError: The model is another one; for `perfect` also a Beer Game without lanes.
        """
        params = parameters(seat)
        self._orders = self.orders(params, seat)
        self._first = 0 if params.blind else 1

    def decide(self, stage: Stage) -> Order:
        """Return the order of the week."""
        return order(self._orders[stage.week - self._first])


@define
class Perfect(Foresight):
    """Play the cheapest order list found for the demand; the other stages follow their rule."""

    def orders(self, params: BeerGameParams, seat: Seat) -> Sequence[int]:
        """Search for the list."""
        return best_list(params, seat.role, seat.world_seed)


def weekly_demand(params: BeerGameParams, seed: int) -> list[int]:
    """Return the customers' demand of each week of an episode, units."""
    return demand.weekly(params.demand, params.horizon, partial(generator, seed, "demand"))


@cache
def best_list(params: BeerGameParams, role: str, seed: int) -> tuple[int, ...]:
    """Search for a cheap order list of one stage; forced weeks are included.

    Raises:
        NoLanes: The game has no lanes, or the largest order tried leaves their exact range.
    """
    weekly = weekly_demand(params, seed)
    cap = _REACH * max(1, params.flow, *weekly)
    assert isinstance(params, HasLanes)
    search = _Search(params, weekly, role, params.lanes([seed], [role]), cap)
    return tuple(int(units) for units in search.run())


@frozen
class _Search:
    """Descent over thousands of neighbouring lists at once, from several starts.

    Attributes:
        demand: Units by week.
        role: The stage that orders by the lists.
        lane: The game before its first order.
        cap: Largest order that is tried, in units.
    """

    params: BeerGameParams
    demand: Sequence[int]
    role: str
    lane: Lanes
    cap: int

    @property
    def free(self) -> int:
        """Index of the first week whose order is free."""
        return min(self.params.forced_weeks, len(self.demand))

    def run(self) -> Lists:
        """Return the best list to which the three cheapest guesses lead."""
        starts = self.guesses()
        ranked = np.argsort(self.costs(starts), kind="stable")[:3]
        best, _ = min((self.descend(starts[row]) for row in ranked), key=lambda pair: pair[1])
        return best

    def costs(self, lists: Lists) -> Lists:
        """Return the cost of each list, in money."""
        lanes = self.lane.fork(np.zeros(len(lists), dtype=np.int64))
        first = 0 if self.params.blind else self.params.forced_weeks
        for units in lists.astype(np.int64).T[first:]:
            lanes.step({self.role: {"quantity": units}})
        cost: Lists = -lanes.score()
        return cost

    def guesses(self) -> Lists:
        """Return the demand 0 to 8 weeks ahead, with the first order 1 to 10 times as large."""
        demand = list(self.demand)
        ahead = [[*demand[lag:], *demand[-1:] * min(lag, len(demand))] for lag in range(9)]
        lists = np.repeat(np.array(ahead, dtype=np.float64), 5, axis=0)
        if self.free < len(self.demand):
            lists[:, self.free] *= np.tile([1, 2, 3, 5, 10], len(ahead))
        return np.minimum(lists, self.cap)

    def descend(self, start: Lists) -> tuple[Lists, float]:
        """Move to the best neighbour until none is better; return the list and its cost."""
        best, least = start, float(self.costs(start[None])[0])
        shifts = np.concatenate(list(self.shifts()))
        while len(shifts):
            lists = np.clip(best + shifts, 0, self.cap)
            each = self.costs(lists)
            row = int(np.argmin(each))
            if each[row] >= least:
                break
            best, least = lists[row], float(each[row])
        return best, least

    def shifts(self) -> Iterator[Lists]:
        """Yield changes of one week, and of two close weeks with the same sum, by powers of 2."""
        weeks, sizes = len(self.demand), [2**power for power in range(self.cap.bit_length())]
        moves = [np.eye(weeks)[self.free :]]
        moves += [
            (np.eye(weeks) - np.eye(weeks, k=gap))[self.free : max(self.free, weeks - gap)]
            for gap in (1, 2, 3, 4)
        ]
        for size in sizes:
            yield from (sign * size * move for move in moves for sign in (1, -1))
