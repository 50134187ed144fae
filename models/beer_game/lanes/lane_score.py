"""Score and metrics of every lane, equal to `score.py`."""

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from desim.lanes.array_namespace import entries, on_host
from desim.lanes.lane_columns import Array
from models.beer_game.lanes.chain import LaneChain
from models.beer_game.score import BULLWHIP_WEEKS, scaled_variance

#: The scaled variance of fewer units, over the number of weeks, fits 64 bits.
_ROOT = 2**31


def score(chain: LaneChain, arrays: Any) -> Array:
    """Return minus the cost of the scored stages so far, in money."""
    return -chain.prices.money(_sum(chain.cost(), chain.scored), arrays)


def metrics(chain: LaneChain, arrays: Any) -> dict[str, list[Any]]:
    """Return the metrics of `score.metrics`, each with an entry a lane."""
    cost, scored = chain.cost(), chain.scored
    stages = chain.params.stages
    weeks, last = len(chain.orders), len(stages) - 1

    def money(rows: Sequence[int]) -> list[float]:
        return entries(chain.prices.money(_sum(cost, rows), arrays))

    def mean(units: Array, over: int) -> list[float]:
        return entries(arrays.astype(_sum(units, scored), arrays.float64) / over)

    ratio = _Bullwhip(chain).ratio
    return {
        "weeks_completed": [weeks] * chain.demand.shape[1],
        "total_cost_controlled": money(scored),
        "total_cost_supply_chain": money(range(last + 1)),
        "bullwhip_controlled": ratio(scored[0], scored[-1]),
        "avg_backlog_controlled": mean(chain.owed, 1),
        "mean_backlog_controlled": mean(chain.late, max(1, weeks)),
        "bullwhip_supply_chain": ratio(0, last),
        **{f"bullwhip_{name}": ratio(row, row) for row, name in enumerate(stages)},
        **{f"cost_{name}": money([row]) for row, name in enumerate(stages)},
    }


class _Bullwhip:
    """The variances of all stages' orders and incoming orders, exactly."""

    def __init__(self, chain: LaneChain) -> None:
        weeks = range(len(chain.orders))
        self._lanes = chain.demand.shape[1]
        self._known = len(weeks) >= BULLWHIP_WEEKS
        if self._known:
            self._orders = _variances([chain.orders[week] for week in weeks])
            self._incoming = _variances([chain.arriving(week) for week in weeks])

    def ratio(self, low: int, high: int) -> list[float | None]:
        """Return the variance of a stage's orders over that of another's incoming orders."""
        if not self._known:
            return [None] * self._lanes
        pairs = zip(self._orders[high], self._incoming[low], strict=True)
        return [over / base if base else None for over, base in pairs]


def _variances(weeks: Sequence[Array]) -> list[list[int]]:
    """Return the scaled variance of each stage and lane."""
    table = np.stack([on_host(week) for week in weeks], axis=1)
    exact: list[Any] = [scaled_variance([*_wide(row)]) for row in table]
    return [row.tolist() for row in exact]


def _wide(units: Any) -> Any:
    """Return units by week and lane in a type that holds their scaled variance."""
    narrow = int(units.max()) * len(units) < _ROOT
    return units if narrow else units.astype(object)


def _sum(figures: Array, rows: Sequence[int]) -> Array:
    return reduce(add, (figures[row, :] for row in rows))
