"""Echelon base-stock levels of a serial chain: the recursion of Clark and Scarf.

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

from collections.abc import Sequence
from functools import reduce
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["echelon_levels", "installation_levels"]

#: A function on whole units, or a distribution of them.
Curve = NDArray[np.float64]


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
    for demand, rate in zip(demands, holding, strict=True):
        expected = _expected(rate * x + cost, demand)
        best = int(np.argmin(expected))
        levels.append(max(0, int(x[best])))
        cost = np.where(x <= x[best], expected, expected[best])
    return [*accumulate(reversed(levels), min)][::-1]


def installation_levels(echelon: Sequence[int]) -> list[int]:
    """Return what each stage orders up to by its own inventory position, for the same orders.

    Source: S. Axsäter and K. Rosling, "Installation vs. Echelon Stock Policies for Multilevel
    Inventory Control", Management Science 39(10), 1993.
    """
    return [level - below for below, level in zip([0, *echelon[:-1]], echelon, strict=True)]


def _expected(curve: Curve, demand: Curve) -> Curve:
    """Return E[curve(x - demand)]; left of its range the curve is continued as a line."""
    slope = curve[1] - curve[0]
    steps = np.arange(len(demand) - 1, 0, -1)
    longer: Any = np.concatenate([curve[0] - slope * steps, curve])
    return np.convolve(longer, demand, mode="valid")
