"""A lower bound on the mean cost of a retailer that does not know the demand to come.

Let the retailer's supplier never run out. In the true game an order of week t arrives after L weeks
or later, and never more than was ordered; what arrives by a week follows from the orders placed up
to L weeks before, and from the rules and the luck upstream, which do not depend on demand to come.
A retailer with the generous supplier can order, week by week, exactly what would have arrived, and
then has the same stock, the same backlog and the same cost. So the best it can do there costs no
more on average than any policy of the true game, and that is the classical problem of one stage
with a lead time and backorders, whose optimum is an order-up-to level:

    C(y, n) = E[holding (y - D(n))^+ + backlog (D(n) - y)^+],  D(n) the demand of n weeks
    V_t(x)  = min over y >= x of C(y, L) + E V_{t+1}(y - D(1)),  t = 1..weeks - L,  V = 0 afterwards
    bound   = sum over t = 1..L of C(on hand + flow t, t) + E V_1(on hand + L flow - D(1))

A player who orders before the week's demand is known has one more week of demand in C, and the
first order is placed before the first demand. Floors under the holding cost are left out, which
lowers the bound only.

Source: S. Karlin and H. Scarf, "Inventory Models of the Arrow-Harris-Marschak Type with Time Lag",
in Studies in the Mathematical Theory of Inventory and Production, 1958.
"""

import math
from functools import reduce
from statistics import NormalDist
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from models.beer_game import demand
from models.beer_game.params import BeerGameParams

#: A function on whole units, or the distribution of a demand from 0 units on.
_Curve = NDArray[np.float64]

#: Probability of larger demand that is left out, in a week.
_TAIL = 1e-15


@frozen
class FairBound:
    """A lower bound on the mean cost over all demands, of policies that do not know the demand.

    Attributes:
        cost: The bound, in money.
        unavoidable: The part of it that falls due before the first order can arrive.
        level: The inventory position to restore in the first week, with the generous supplier.
    """

    cost: float
    unavoidable: float
    level: int


@frozen
class SingleStage:
    """One stage whose supplier never runs out.

    Attributes:
        week: The probability of each demand of a week, from 0 units on.
        weeks: Weeks of the game.
        lead_time: Weeks from an order to its arrival; fewer than *weeks*.
        on_hand: Units at the start.
        flow: Units that arrive in each week before the first order does.
        holding: Money per unit on hand and week.
        backlog: Money per unit owed and week.
        blind: Whether orders are placed before the week's demand is known.
    """

    week: _Curve
    weeks: int
    lead_time: int
    on_hand: int
    flow: int
    holding: float
    backlog: float
    blind: bool = False

    def bound(self) -> FairBound:
        """Return the least mean cost of the stage."""
        unavoidable = math.fsum(
            self._cost(np.array([self.on_hand + self.flow * n]), n)[0]
            for n in range(1, self.lead_time + 1)
        )
        positions, values, level = self._best()
        start = self.on_hand + self.lead_time * self.flow
        ahead = np.array([1.0]) if self.blind else self.week
        places = np.clip(start - np.arange(len(ahead)) - positions[0], 0, None)
        return FairBound(unavoidable + float(ahead @ values[places]), unavoidable, level)

    def _best(self) -> tuple[Any, _Curve, int]:
        """Return positions, the cost to go of each before the first order, and its level."""
        covered = self.lead_time + self.blind
        most = len(_sum_of(self.week, covered)) - 1
        start = self.on_hand + self.lead_time * self.flow
        positions = np.arange(-len(self.week), max(most, start) + 1)
        paid = self._cost(positions, covered)
        values, level = np.zeros(len(positions)), 0
        for _ in range(self.weeks - self.lead_time):
            # Below the lowest position the cost to go is that of the level, to which one orders.
            padded = np.concatenate([np.full(len(self.week) - 1, values[0]), values])
            total = paid + np.convolve(padded, self.week, mode="valid")
            level = int(positions[np.argmin(total)])
            values = np.minimum.accumulate(total[::-1])[::-1]
        return positions, values, level

    def _cost(self, stock: Any, weeks: int) -> _Curve:
        """Return the expected cost of the week that ends *weeks* weeks of demand after a stock."""
        chances = _sum_of(self.week, weeks)
        left = stock[:, None] - np.arange(len(chances))
        money = np.where(left > 0, self.holding * left, -self.backlog * left)
        cost: _Curve = money @ chances
        return cost


def fair_bound(model: BeerGameParams) -> FairBound | None:
    """Return the bound for one player at the retailer.

    Args:
        model: The game.

    Returns:
        None where the demand is not random, another stage is played, weeks are forced, sales are
        part of the score, or no order can arrive.
    """
    params, lead_time = model, model.lead_time(model.stages[0])
    plain = not (params.forced_weeks or params.unit_margin) and lead_time < params.horizon
    if params.deterministic or params.controlled != params.stages[0] or not plain:
        return None
    return SingleStage(
        week=weekly_distribution(params.demand),
        weeks=params.horizon,
        lead_time=lead_time,
        on_hand=params.target_inventory,
        flow=params.flow,
        holding=params.holding_cost,
        backlog=params.backlog_cost,
        blind=params.blind,
    ).bound()


def weekly_distribution(text: str) -> _Curve:
    """Return the probability of each demand of a week, from 0 units on, of a random demand."""
    mean, sd = demand.moments(text)
    if text.startswith("poisson"):
        chances = [math.exp(-mean)]
        while len(chances) <= mean or chances[-1] > _TAIL:
            chances.append(chances[-1] * mean / len(chances))
    else:
        # Whole units, the tail cut at 0: all that is rounded to 0 or below counts as 0.
        normal = NormalDist(mean, sd)
        most = math.ceil(mean + 8 * sd)
        ends = [normal.cdf(units + 0.5) for units in range(most + 1)]
        chances = np.diff(ends, prepend=0.0).tolist()
    return np.array(chances) / math.fsum(chances)


def _sum_of(week: _Curve, weeks: int) -> _Curve:
    """Return the distribution of the demand of some weeks."""
    return reduce(np.convolve, [week] * weeks, np.array([1.0]))
