"""What no order list can beat, by counting the goods that can arrive in time.

Number the stages above the played one k = 1, 2, ... and let F be the first week whose order is
free. That order is the incoming order of stage k not before week F + k * order_delay. Before then
all that stage k ships is the same whatever the played stage does, so any game shows it; afterwards
it cannot ship more than it has. With sums over the weeks up to t:

    shipped_k(t)  = as played                                    t < F + k * order_delay
    shipped_k(t) <= inventory at the start + arrived_k(t)        afterwards
    arrived_k(t)  = shipped_k+1(t - ship_delay)                  last stage: production,
                                                                 unlimited once its orders are free

So the played stage's net stock of a week is at most inventory + arrived_0(t) - incoming(t), and the
week costs at least its backlog at that best, and the holding of what was bound to arrive. The
bound covers every list of orders, whole or not, of any size. It is a matter of counting: no solver
and no tolerance.
"""

import math
from collections.abc import Sequence
from itertools import accumulate

from attrs import frozen

from models.beer_game import BeerGame
from models.beer_game.state import Week

__all__ = ["Bound"]


@frozen
class Bound:
    """The part of a game that the played stage's orders cannot reach.

    Attributes:
        game: The parameters.
        seat: The played stage's place, from 0.
        weeks: What every stage did, week by week, in some game with these parameters and demand.
    """

    game: BeerGame
    seat: int
    weeks: Sequence[Sequence[Week]]

    def cost(self) -> float:
        """Return a cost that no order list of the played stage can beat."""
        stock = self.game.target_inventory
        nets = zip(self._sure(), self._most_arrived(self.seat), *self._asked(), strict=True)
        return math.fsum(
            self._week(stock + sure - highest, stock + most - lowest)
            for sure, most, lowest, highest in nets
        )

    def _week(self, low: float, high: float) -> float:
        """Return the least a week can cost when net stock lies between two limits."""
        game = self.game
        holding = max(game.minimum_holding_cost, game.holding_cost * max(0.0, low))
        return holding + game.backlog_cost * max(0.0, -high)

    def _first_free(self, stage: int) -> int:
        """Return the first week, from 0, in which a stage can be influenced."""
        return self.game.forced_weeks + (stage - self.seat) * self.game.order_delay

    def _own_lead(self) -> int:
        """Return the weeks from the played stage's order to its arrival, at the least."""
        game = self.game
        top = self.seat == len(game.stages) - 1
        return game.production_weeks if top else game.order_delay + game.ship_delay

    def _sum(self, stage: int, flow: str) -> list[float]:
        return list(accumulate(getattr(week, flow) for week in self.weeks[stage]))

    def _sure(self) -> list[float]:
        """Return what has arrived by each week whatever is ordered."""
        arrived = self._sum(self.seat, "incoming_delivery")
        free = self._first_free(self.seat) + self._own_lead()
        return arrived[:free] + arrived[free - 1 : free] * (len(arrived) - free)

    def _most_arrived(self, stage: int) -> list[float]:
        arrived, game = self._sum(stage, "incoming_delivery"), self.game
        if stage == len(game.stages) - 1:
            due = self._first_free(stage) + game.production_weeks
            return arrived[:due] + [math.inf] * (len(arrived) - due)
        lag = game.ship_delay
        before = sum(week.incoming_delivery for week in self.weeks[stage][:lag])
        later = [before + shipped for shipped in self._most_shipped(stage + 1)]
        return (arrived[:lag] + later)[: len(arrived)]

    def _most_shipped(self, stage: int) -> list[float]:
        free = self._first_free(stage)
        owned = [self.game.target_inventory + arrived for arrived in self._most_arrived(stage)]
        return self._sum(stage, "outgoing_delivery")[:free] + owned[free:]

    def _asked(self) -> tuple[list[float], list[float]]:
        """Return limits of what was ordered from the played stage by each week.

        Customers' demand is known. Other customers are stages: they may answer what they are
        shipped, or see under way to them, with their next order.
        """
        known = self._sum(self.seat, "incoming_order")
        if self.seat == 0:
            return known, known
        echo = self.game.brewery_echo and self.seat == len(self.game.stages) - 1
        noticed = 0 if echo else self._own_lead()
        free = self._first_free(self.seat) + noticed + self.game.order_delay
        rest = len(known) - len(known[:free])
        return known[:free] + known[free - 1 : free] * rest, known[:free] + [math.inf] * rest
