"""The cheapest flows through a chain of which several stages are played, as a linear program.

Count all units from the start of the game. For stage k, 0 at the customers, and week t let O be the
units it has ordered, S the units it has shipped, A the orders and R the goods that have reached it:

    A_0(t) = demand up to t         A_k(t) = opening mail + O_k-1(t - order delay)
    R_k(t) = opening transit + S_k+1(t - shipping delay); at the last stage + O(t - production)

With brewery_echo the last stage's own orders are in its A too. The program minimises the cost of
the played stages, with stock I + R - S and backlog A - S, subject to

    S, O never fall,   S <= I + R,   S <= A,   no shipping in a strike,

and everything that no played order can reach yet is as in an episode without a player. All that the
model does meets these constraints, so the optimum is a lower bound on the cost of any order lists,
whole or not. Two rules are left out: a stage must ship what it can, and stages without a player
order by rule. Where all stages are played, leaving them out costs nothing: a stage that is to ship
less is ordered less from, and holding goods back from a customer costs backlog as well. All
constraints but the echo compare two sums with a constant, so the matrix is that of a network and
whole data have whole optima, which are order lists that the model can play.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import gcd, inf, lcm
from typing import Any

import numpy as np
from attrs import define, field, frozen

from models.beer_game.params import BeerGameParams
from policies.informed.beer_game.linear_program import LinearProgram, Sum


@frozen
class FirstReached:
    """The first weeks, from 1, that may differ from an episode without a player; inf: none.

    Attributes:
        order: By stage, of its orders.
        shipment: By stage, of its shipments.
    """

    order: tuple[float, ...]
    shipment: tuple[float, ...]


def first_reached(params: BeerGameParams, played: AbstractSet[int]) -> FirstReached:
    """Return the first weeks that depend on the orders of the played stages, given by index.

    A shipment depends on the orders and goods that have arrived. The order of a rule depends on
    these, on the stage's own shipments, and on its supply line, which is what its supplier ships.
    """
    stages, free = range(len(params.stages)), params.forced_weeks + 1
    order = [free if stage in played else inf for stage in stages]
    shipment, before = [inf for _ in stages], None
    while before != (before := [*order, *shipment]):
        for stage in (*stages, *reversed(stages)):
            incoming, received, line = _reaching(params, order, shipment, stage)
            shipment[stage] = min(shipment[stage], incoming, received)
            order[stage] = min(order[stage], max(free, min(shipment[stage], line)))
    return FirstReached(tuple(order), tuple(shipment))


def _reaching(
    params: BeerGameParams, order: Sequence[float], shipment: Sequence[float], stage: int
) -> tuple[float, float, float]:
    """Return the first weeks of a stage's incoming orders, its deliveries and its supply line."""
    incoming = order[stage - 1] + params.order_delay if stage else inf
    if stage < len(params.stages) - 1:
        return incoming, shipment[stage + 1] + params.ship_delay, shipment[stage + 1]
    if params.brewery_echo and stage:
        incoming = min(incoming, order[stage] + params.order_delay)
    return incoming, order[stage] + params.production_weeks, inf


@frozen
class Flows:
    """A solution of the program.

    Attributes:
        bound: Cost in money that no order lists can undercut; None if no bound is proved.
        orders: By played stage the units of each week, the forced weeks included, rounded.
    """

    bound: Fraction | None
    orders: Mapping[str, Sequence[int]]


@define
class ChainProgram:
    """The program of one game.

    Attributes:
        params: The parameters.
        played: Indices of the played stages, whose costs count.
        weeks: By stage the rows of its table `weeks`, from an episode without a player.
        program: The linear program.
    """

    params: BeerGameParams
    played: frozenset[int]
    weeks: Sequence[Sequence[Mapping[str, Any]]]
    program: LinearProgram = field(init=False)
    _columns: dict[tuple[str, int, int], int] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self.program = LinearProgram(_common_divisor(*self._money[:2]))
        self._add_flows()
        for stage in range(self._count):
            self._add_limits(stage)
        for stage in sorted(self.played):
            self._add_costs(stage)

    def solve(self) -> Flows | None:
        """Return the cheapest flows, or None if the solver fails."""
        found = self.program.solve()
        if found is None:
            return None
        played = {self.params.stages[k]: self._orders(k, found.values) for k in sorted(self.played)}
        return Flows(self.program.bound(found.duals), played)

    def _orders(self, stage: int, values: Sequence[float]) -> list[int]:
        columns = [self._columns["order", stage, week] for week in self._horizon]
        totals = [round(values[column]) for column in columns]
        return [max(0, int(units)) for units in np.diff(totals, prepend=0)]

    @property
    def _count(self) -> int:
        return len(self.params.stages)

    @property
    def _horizon(self) -> range:
        return range(1, self.params.horizon + 1)

    @property
    def _money(self) -> tuple[Fraction, Fraction, Fraction]:
        """Holding cost, backlog cost and floor, as the model reads them: 0.1 is a tenth."""
        params = self.params
        prices = params.holding_cost, params.backlog_cost, params.minimum_holding_cost
        holding, backlog, floor = (Fraction(str(price)) for price in prices)
        return holding, backlog, floor

    # -- building ----------------------------------------------------------------------------------

    def _add_flows(self) -> None:
        """Add a column for the units that each stage has ordered and shipped by each week."""
        reached = first_reached(self.params, self.played)
        for flow, first in (("order", reached.order), ("outgoing_delivery", reached.shipment)):
            for stage in range(self._count):
                totals = accumulate(Fraction(week[flow]) for week in self.weeks[stage])
                for week, total in enumerate(totals, 1):
                    known = total if week < first[stage] else None
                    self._columns[flow, stage, week] = self.program.add_column(known)

    def _add_limits(self, stage: int) -> None:
        at_most = self.program.at_most
        on_strike = self.params.strike_weeks if stage == self._count - 1 else range(0)
        for week in self._horizon:
            before, shipped = self._shipped(stage, week - 1), self._shipped(stage, week)
            at_most(before, shipped)
            at_most(shipped, self._owned(stage, week))
            at_most(shipped, self._incoming(stage, week))
            if week in on_strike:
                at_most(shipped, before)
            at_most(self._ordered(stage, week - 1), self._ordered(stage, week))

    def _add_costs(self, stage: int) -> None:
        """Add the cost of each week: the floor, the stock that costs more than it, the backlog."""
        holding, backlog, floor = self._money
        for week in self._horizon:
            shipped = self._shipped(stage, week)
            self.program.charge(floor, Sum(Fraction(1)))
            if holding:
                excess = (self.program.add_column(),)
                self.program.charge(holding, Sum(columns=excess))
                costly = shipped.plus(floor / holding, excess)
                self.program.at_most(self._owned(stage, week), costly)
            self.program.charge(backlog, self._incoming(stage, week))
            self.program.charge(-backlog, shipped)

    # -- sums from the start of the game -----------------------------------------------------------

    def _ordered(self, stage: int, week: int) -> Sum:
        return self._total("order", stage, week)

    def _shipped(self, stage: int, week: int) -> Sum:
        return self._total("outgoing_delivery", stage, week)

    def _total(self, flow: str, stage: int, week: int) -> Sum:
        return Sum(columns=(self._columns[flow, stage, week],) if week > 0 else ())

    def _owned(self, stage: int, week: int) -> Sum:
        """Return the inventory at the start and the units received."""
        params, last = self.params, stage == self._count - 1
        lag = params.production_weeks if last else params.ship_delay
        sent = self._ordered(stage, week - lag) if last else self._shipped(stage + 1, week - lag)
        return sent.plus(Fraction(params.target_inventory + params.flow * min(week, lag)))

    def _incoming(self, stage: int, week: int) -> Sum:
        if stage == 0:
            return Sum(self._demand[week - 1])
        params, due = self.params, week - self.params.order_delay
        orders = self._ordered(stage - 1, due)
        if params.brewery_echo and stage == self._count - 1:
            orders = orders.plus(Fraction(0), self._ordered(stage, due).columns)
        return orders.plus(Fraction(params.flow * min(week, params.order_delay)))

    @cached_property
    def _demand(self) -> Sequence[Fraction]:
        return [*accumulate(Fraction(week["incoming_order"]) for week in self.weeks[0])]


def _common_divisor(*prices: Fraction) -> Fraction:
    """Return the largest price of which all prices are multiples; 1 if all are 0."""
    scale = lcm(*(price.denominator for price in prices))
    return Fraction(gcd(*(int(price * scale) for price in prices)), scale) or Fraction(1)
