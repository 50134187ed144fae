"""A lower bound on the cost of any order list, from the goods that can arrive in time.

Number the stages above the played one k = 1, 2, ... and let F be the first week whose order is
free. That order reaches stage k not before week F + k * order_delay. Until then stage k ships the
same units whatever the played stage orders, so any episode shows them; afterwards it cannot ship
more than it has. With sums over the weeks up to t:

    shipped_k(t)  = as in any episode                            t < F + k * order_delay
    shipped_k(t) <= inventory at the start + arrived_k(t)        afterwards
    arrived_k(t)  = shipped_k+1(t - ship_delay)                  last stage: production,
                                                                 unlimited once its orders are free

So the played stage's net stock of a week is at most inventory + arrived_0(t) - incoming(t). The
week costs at least the backlog at that net stock, and at least the holding cost of what arrives
whatever is ordered. The bound covers every list of orders, whole or not, of any size. It needs no
solver and no tolerance.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from attrs import frozen

from models.beer_game.params import BeerGameParams


@frozen
class CostBound:
    """The lower bound for one stage of one chain.

    Attributes:
        params: The parameters.
        played: The played stage's index, from 0.
        weeks: By stage the rows of its table `weeks`, from any episode with these parameters and
            this demand.
    """

    params: BeerGameParams
    played: int
    weeks: Sequence[Sequence[Mapping[str, Any]]]

    def cost(self) -> float:
        """Return a cost in money that no order list of the played stage can undercut."""
        stock = self.params.target_inventory
        arrivals = self._fixed_arrivals(), self._most_arrived(self.played)
        nets = zip(*arrivals, *self._ordered(), strict=True)
        return math.fsum(
            self._week(stock + fixed - highest, stock + most - lowest)
            for fixed, most, lowest, highest in nets
        )

    def _week(self, low: float, high: float) -> float:
        """Return the least cost of a week whose net stock is between two limits."""
        params = self.params
        holding = max(params.minimum_holding_cost, params.holding_cost * max(0.0, low))
        return holding + params.backlog_cost * max(0.0, -high)

    def _first_free(self, stage: int) -> int:
        """Return the first week, from 0, in which the played stage's orders reach a stage."""
        return self.params.forced_weeks + (stage - self.played) * self.params.order_delay

    def _own_lead(self) -> int:
        return self.params.lead_time(self.params.stages[self.played])

    def _sum(self, stage: int, flow: str) -> list[float]:
        return list(accumulate(week[flow] for week in self.weeks[stage]))

    def _fixed_arrivals(self) -> list[float]:
        """Return the units that have arrived by each week whatever is ordered."""
        arrived = self._sum(self.played, "incoming_delivery")
        free = self._first_free(self.played) + self._own_lead()
        return arrived[:free] + arrived[free - 1 : free] * (len(arrived) - free)

    def _most_arrived(self, stage: int) -> list[float]:
        arrived, params = self._sum(stage, "incoming_delivery"), self.params
        if stage == len(params.stages) - 1:
            due = self._first_free(stage) + params.production_weeks
            return arrived[:due] + [math.inf] * (len(arrived) - due)
        lag = params.ship_delay
        before = sum(week["incoming_delivery"] for week in self.weeks[stage][:lag])
        later = [before + shipped for shipped in self._most_shipped(stage + 1)]
        return (arrived[:lag] + later)[: len(arrived)]

    def _most_shipped(self, stage: int) -> list[float]:
        free = self._first_free(stage)
        owned = [self.params.target_inventory + arrived for arrived in self._most_arrived(stage)]
        return self._sum(stage, "outgoing_delivery")[:free] + owned[free:]

    def _ordered(self) -> tuple[list[float], list[float]]:
        """Return the least and the most units ordered from the played stage by each week.

        The demand of customers is known. If the customer is a stage, its orders may depend on the
        shipments of the played stage, from its next order on.
        """
        known = self._sum(self.played, "incoming_order")
        if self.played == 0:
            return known, known
        echo = self.params.brewery_echo and self.played == len(self.params.stages) - 1
        reaction = 0 if echo else self._own_lead()
        free = self._first_free(self.played) + reaction + self.params.order_delay
        rest = len(known) - len(known[:free])
        return known[:free] + known[free - 1 : free] * rest, known[:free] + [math.inf] * rest
