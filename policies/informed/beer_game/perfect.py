"""Policies that know the demand: the cheapest order list found for it, and foresight of a week.

A list is played by the model itself, and compared with a lower bound on the cost of any list.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from attrs import define, evolve, field, frozen
from numpy.typing import NDArray

from desim import Model, Run
from desim.core.model_protocols import Rows
from desim.core.reported import HasTables
from desim.core.roles import Knowledge
from desim.core.streams import generator
from desim.episodes.lineup import WorldSeat
from desim.episodes.prefix import open_decisions
from desim.lanes.lane_protocols import HasLanes, Lanes, NoLanes
from models.beer_game import demand
from models.beer_game.actions import Order
from models.beer_game.observation import Stage
from models.beer_game.params import BeerGameParams
from policies.heuristics.beer_game.memoryless import order
from policies.heuristics.beer_game.seat import parameters
from policies.informed.beer_game.cost_bound import CostBound

#: Orders in units: one row for each list, one column for each week.
Lists: TypeAlias = NDArray[np.float64]

#: By stage the units to order in each week, the forced weeks included.
OrderLists = Mapping[str, Sequence[float]]


def played_cost(params: BeerGameParams, seed: int, lists: OrderLists) -> float:
    """Return the cost of the stages that order by lists, in money; the others follow their rule."""
    return 0.0 - _played(params, seed, lists).result().score


def weekly_rows(params: BeerGameParams, seed: int, lists: OrderLists) -> list[Rows]:
    """Return the rows of the table `weeks` of each stage; the first stage first."""
    assert isinstance(params, HasTables)
    state = _played(params, seed, lists).state
    return [params.tables(state, stage)["weeks"] for stage in params.stages]


def _played(params: BeerGameParams, seed: int, lists: OrderLists) -> Run[Any]:
    """Return the run of an episode that has ended."""
    assert isinstance(params, Model)
    run = Run[Any](params, seed, list(lists))
    first = 0 if params.blind else params.forced_weeks
    due = {stage: iter(units[first:]) for stage, units in lists.items()}
    for decision in open_decisions(run):
        run.answer(decision, Order(next(due[decision.role])))
    return run


#: Prices are rounded to so many decimals for the search.
DECIMALS, _PRICES = 6, ("holding_cost", "backlog_cost", "minimum_holding_cost")

#: Largest order of the search, as a multiple of the largest demand; the bound covers all orders.
REACH = 16


@frozen
class ClairvoyantPlan:
    """An order list made with knowledge of the demand.

    Attributes:
        orders: Units for each week, forced weeks included.
        cost: Cost of the stage with this list, in money, as played by the model.
        bound: Lower bound on the cost of any list, in money.
    """

    orders: tuple[int, ...]
    cost: float
    bound: float

    @property
    def gap(self) -> float:
        """The most a better list could save, in money; 0 when this list is proved the cheapest."""
        return self.cost - self.bound


@define
class Perfect:
    """Play the cheapest order list found for the demand; the other stages follow their rule.

    The policy reads the hidden demand and the others' rule, so it is a yardstick and no rule that a
    player could follow. The notes of each decision hold cost, bound and gap of its list.

    Attributes:
        plan: The order list with its cost and bound.
        first: The observation's `week` at the first order of the list.
        notes: Cost, bound and gap of the plan, in money.
    """

    knows: ClassVar[Knowledge] = "future"
    needs_world_seed: ClassVar[bool] = True
    plan: ClairvoyantPlan
    first: int
    notes: dict[str, float] = field(init=False)

    def __attrs_post_init__(self) -> None:
        plan = self.plan
        self.notes = {"cost": plan.cost, "bound": plan.bound, "gap": plan.gap}

    @classmethod
    def seated(cls, seat: WorldSeat, rounds: int = 30) -> Self:
        """Search for the list and build the policy.

        Args:
            seat: A stage of the Beer Game.
            rounds: Most descents from a disturbed best list; the search ends early at the bound.

        Raises:
            UsageError: The seat belongs to another model.
        """
        params = parameters(seat.model, "perfect")
        plan = best_plan(params, seat.role, seat.world_seed, rounds)
        return cls(plan, 0 if params.blind else 1)

    def decide(self, stage: Stage) -> Order:
        """Return the order of the list for the week."""
        return Order(self.plan.orders[stage.week - self.first])


@cache
def best_plan(params: BeerGameParams, role: str, seed: int, rounds: int = 30) -> ClairvoyantPlan:
    """Search for a cheap order list of one stage and compute a lower bound on any list's cost."""
    stage = params.stages.index(role)
    weekly = demand.weekly(params.demand, params.horizon, partial(generator, seed, "demand"))
    bound = CostBound(params, stage, weekly_rows(params, seed, {})).cost()
    cap = REACH * max(1, params.flow, *weekly)
    lane = _lane(params, role, seed, cap)
    search = _Search(params, weekly, role, lane, cap, np.random.default_rng(0))
    orders = tuple(int(units) for units in search.run(bound, rounds))
    return ClairvoyantPlan(orders, played_cost(params, seed, {role: orders}), bound)


def _lane(params: BeerGameParams, role: str, seed: int, cap: int) -> Lanes:
    """Return one lane in which the search compares lists, before its first order.

    The game is the one that is played, or one close to it where that has no lanes: with whole
    units, prices of few decimals, and without an echo whose orders leave the exact range.
    """
    game = evolve(
        params,
        whole_units=True,
        opening_cash=None,
        unit_margin=0.0,
        **{name: round(getattr(params, name), DECIMALS) for name in _PRICES},
    )
    most = {role: {"quantity": np.asarray([cap])}}
    for each in (game, evolve(game, brewery_echo=False)):
        assert isinstance(each, HasLanes)
        lane = each.lanes([seed], [role])
        with suppress(NoLanes):
            tried = lane.fork([0])
            while not tried.ended[0]:
                tried.step(most)
            break
    return lane


@frozen
class _Search:
    """Descent over thousands of neighbouring lists at once, from several starts.

    Attributes:
        params: The parameters.
        demand: Units by week.
    XX        rng: Draws the disturbances.
    """

    params: BeerGameParams
    demand: Sequence[int]
    role: str
    lane: Lanes
    cap: int
    rng: Any

    @property
    def free(self) -> int:
        """Index of the first week whose order is free."""
        return min(self.params.forced_weeks, len(self.demand))

    def run(self, bound: float, rounds: int) -> Lists:
        """Return the best list found; stop as soon as its cost meets the bound."""
        starts = self.guesses()
        ranked = np.argsort(self.costs(starts), kind="stable")[:3]
        best, least = min((self.descend(starts[row]) for row in ranked), key=lambda pair: pair[1])
        for _ in range(rounds):
            if least <= bound:
                break
            other, cost = self.descend(self.disturbed(best))
            if cost <= least:
                best, least = other, cost
        return best

    def costs(self, lists: Lists) -> Lists:
        """Return the cost of each list, in money."""
        lanes = self.lane.fork(np.zeros(len(lists), dtype=np.int64))
        first = 0 if self.params.blind else self.params.forced_weeks
        try:
            for units in lists.astype(np.int64).T[first:]:
                lanes.step({self.role: {"quantity": units}})
        except NoLanes:
            return np.full(len(lists), np.inf)
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

    def disturbed(self, orders: Lists) -> Lists:
        """Return a copy with one to four weeks redrawn around their values."""
        other, rng = orders.copy(), self.rng
        if self.free == len(orders):
            return other
        weeks = rng.integers(self.free, len(orders), size=int(rng.integers(1, 5)))
        reach = max(1, *self.demand) * 2.0 ** rng.integers(-2, 3)
        other[weeks] = np.rint(other[weeks] + rng.uniform(-reach, reach, size=len(weeks)))
        return np.clip(other, 0, self.cap)


@define
class Foresight:
    """Order the customers' demand of the same week.

    The policy reads the hidden demand, so it is a yardstick and no rule that a player could follow.

    Attributes:
        demand: Units by week.
        ahead: Weeks from the observation's `week` to the index of the demand that is ordered.
    """

    knows: ClassVar[Knowledge] = "future"
    needs_world_seed: ClassVar[bool] = True
    demand: list[int]
    ahead: int

    @classmethod
    def seated(cls, seat: WorldSeat) -> Self:
        """Build the policy for a stage with the demand of the episode's seed."""
        params = parameters(seat.model, "foresight")
        draw = partial(generator, seat.world_seed, "demand")
        return cls(demand.weekly(params.demand, params.horizon, draw), 0 if params.blind else -1)

    def decide(self, stage: Stage) -> Order:
        """Return an order of the week's demand."""
        return order(self.demand[stage.week + self.ahead])
