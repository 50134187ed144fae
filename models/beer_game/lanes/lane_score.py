"""Score and metrics of every lane, equal to `score.py`."""

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from desim.lanes.lane_columns import Array
from models.beer_game.lanes.chain import LaneChain
from models.beer_game.lanes.exact_range import EXACT
from models.beer_game.report import BULLWHIP_WEEKS, scaled_variance

#: The scaled variance of fewer units, over the number of weeks, fits 64 bits.
_ROOT = 2**31


def score(chain: LaneChain) -> Array:
    """Return minus the cost of the scored stages so far, in money."""
    return -chain.prices.money(_sum(chain.cost(), chain.scored))


def metrics(chain: LaneChain) -> dict[str, list[Any]]:
    """Return the metrics of `score.metrics`, each with an entry a lane."""
    cost, scored = chain.cost(), chain.scored
    stages = chain.params.stages
    weeks, last = len(chain.orders), len(stages) - 1

    def money(rows: Sequence[int]) -> list[float]:
        found: list[float] = chain.prices.money(_sum(cost, rows)).tolist()
        return found

    def mean(units: Array, over: int) -> list[float]:
        found: list[float] = (_sum(units, scored) / over).tolist()
        return found

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
        over, base = self._orders[high], self._incoming[low]
        if max(over.max(), base.max()) < EXACT:
            found: Any = (over / np.maximum(base, 1)).astype(object)
            found[base == 0] = None
            ratios: list[float | None] = found.tolist()
            return ratios
        pairs = zip(over.tolist(), base.tolist(), strict=True)
        return [over / base if base else None for over, base in pairs]


def _variances(weeks: Sequence[Any]) -> Any:
    """Return the scaled variance of the units of each stage, one entry a lane."""
    largest = reduce(np.maximum, weeks).max(axis=1)
    narrow = largest * len(weeks) < _ROOT
    if narrow.all():
        return scaled_variance(weeks)
    kinds = [np.int64 if fits else object for fits in narrow]
    return [
        scaled_variance([week[row].astype(kind) for week in weeks])
        for row, kind in enumerate(kinds)
    ]


def _sum(figures: Array, rows: Sequence[int]) -> Array:
    return reduce(add, (figures[row, :] for row in rows))
