"""The classical policy for a serial chain: echelon base stock, levels by Clark and Scarf.

With x the echelon inventory position of stage j (its own stock and everything below it, less what
the customers are owed), D_j the demand over its lead time, h_j its echelon holding cost (what
holding a unit costs more here than one stage up) and p the backlog cost at the first stage:

    g_0(x) = (p + h_1 + ... + h_n) max(0, -x)
    G_j(y) = E[ h_j (y - D_j) + g_{j-1}(y - D_j) ]
    S_j    = argmin G_j,    g_j(x) = G_j(min(S_j, x))

Source: A. J. Clark and H. Scarf, "Optimal Policies for a Multi-Echelon Inventory Problem",
Management Science 6(4), 1960; in this form F. Chen and Y. S. Zheng, "Lower Bounds for Multi-Echelon
Stochastic Inventory Systems", Management Science 40(11), 1994. The tests compare the levels with
those of the library stockpyl.
"""

import math
from collections.abc import Sequence
from functools import lru_cache, reduce
from itertools import accumulate, pairwise
from typing import Any, TypeAlias

import numpy as np
from attrs import define
from numpy.typing import NDArray

from models.beer_game import demand
from models.beer_game.params import BeerGameParams
from policies.heuristics.beer_game.order_up_to import UpToLevel

#: A function on whole units, or a distribution of them.
Curve: TypeAlias = NDArray[np.float64]


def echelon_levels(
    week: Curve, weeks: Sequence[int], holding: Sequence[float], backlog: float
) -> list[int]:
    """Return the echelon base-stock level of each stage in units, the first stage first.

    Where a stage's echelon holding cost is 0, any level that is high enough is optimal; the levels
    are limited to the one above, which has the same effect.

    Args:
        week: Probability of each demand of a week, from 0 units on.
        weeks: Lead time of each stage, at least 1.
        holding: Echelon holding cost of each stage, in money per unit and week.
        backlog: Money per unit that the customers are owed and week.
    """
    demands = [reduce(np.convolve, [week] * lead) for lead in weeks]
    most = sum(map(len, demands))
    x = np.arange(-most, most + 1)
    cost: Curve = (backlog + sum(holding)) * np.maximum(-x, 0.0)
    levels = []
    for weekly, rate in zip(demands, holding, strict=True):
        expected = _expected(rate * x + cost, weekly)
        best = int(np.argmin(expected))
        levels.append(max(0, int(x[best])))
        cost = np.where(x <= x[best], expected, expected[best])
    return [*accumulate(reversed(levels), min)][::-1]


def _expected(curve: Curve, demand: Curve) -> Curve:
    """Return E[curve(x - demand)]; left of its range the curve is continued as a line."""
    slope = curve[1] - curve[0]
    steps = np.arange(len(demand) - 1, 0, -1)
    longer: Any = np.concatenate([curve[0] - slope * steps, curve])
    return np.convolve(longer, demand, mode="valid")


#: Most lots of the demand over all lead times; larger demand is counted in lots of several units.
_LOTS = 8_000


@define
class EchelonBaseStock(UpToLevel):
    """Order up to the level of Clark and Scarf; without a role it plays all stages.

    Their levels are for echelon stock, which a stage cannot see. It orders up to the difference to
    the level below by its own inventory position, which gives the same orders.

    Holding a unit is taken to cost the world's holding cost at the first stage and less by equal
    steps above it, as where each stage adds the same value.

    Source: see the module; the README says why the levels are not optimal in this world.
    """

    seats = "all"

    def level(self, params: BeerGameParams, role: str) -> int:
        """Return the installation base-stock level of a stage."""
        return chain_levels(params)[params.stages.index(role)]


@lru_cache(maxsize=64)
def chain_levels(params: BeerGameParams) -> tuple[int, ...]:
    """Return what each stage orders up to by its own inventory position, the first stage first.

    In units, for the same orders as by echelon stock. The lead times are those of `params`, one
    week longer where players order before they observe the week. The demand is that of the
    parameters: its distribution, or its final level.

    Source: S. Axsäter and K. Rosling, "Installation vs. Echelon Stock Policies for Multilevel
    Inventory Control", Management Science 39(10), 1993.
    """
    count = len(params.stages)
    holding = [params.holding_cost / count] * count
    weeks = [params.lead_time(stage) + params.blind for stage in params.stages]
    units, week = _weekly_demand(params.demand, sum(weeks))
    echelon = echelon_levels(week, weeks, holding, params.backlog_cost)
    return tuple(units * (level - below) for below, level in pairwise([0, *echelon]))


def _weekly_demand(text: str, weeks: int) -> tuple[int, Curve]:
    """Return the units of a lot and the probability of each number of lots in a week, from 0 on.

    The lead times of all stages together, *weeks*, set the size of the lots.
    """
    mean, sd = demand.moments(text)
    if not sd:
        return max(1, round(mean)), np.array([0.0, 1.0] if round(mean) else [1.0])
    from scipy.special import gammaln, ndtr  # takes longer to import than desim

    most = mean + 6 * sd
    units = math.ceil(most * weeks / _LOTS)
    lots = np.arange(math.ceil(most / units) + 1)
    if text.startswith("poisson") and units == 1:
        chances = np.exp(lots * math.log(mean) - mean - gammaln(lots + 1))
    else:
        chances = np.diff(ndtr(((lots + 0.5) * units - mean) / sd), prepend=0.0)
    return units, chances / chances.sum()
