"""The cheapest order list when demand is known, beside a bound that no list can beat."""

from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Any, Self

import numpy as np
from attrs import define, field, frozen

from desim import Run, Seat
from desim.errors import UsageError
from desim.world import generator
from models.beer_game import BeerGame, Order, Stage, demand
from policies.heuristics.beer_game.bound import Bound
from policies.heuristics.beer_game.many import Lists, costs

__all__ = ["Perfect", "Plan", "best_plan"]

#: The search orders no more than this many times the largest demand; the bound knows no limit.
REACH = 16


@frozen
class Plan:
    """An order list and what is known about it.

    Attributes:
        orders: Units, one a week, those of forced weeks included.
        cost: What the stage pays with it, as played by the model.
        bound: No order list costs less.
    """

    orders: tuple[int, ...]
    cost: float
    bound: float

    @property
    def gap(self) -> float:
        """What a better list could save at most; 0 when this one is proved to be the cheapest."""
        return self.cost - self.bound


@define
class Perfect:
    """Play the cheapest order list for the demand to come, the other stages following their rule.

    It reads the hidden demand and knows the others' rule, so it is a yardstick and no rule a player
    could follow. The notes of each decision tell cost, bound and gap of its list.

    Attributes:
        plan: The list and what is known about it.
        first: The week of the first order.
    """

    plan: Plan
    first: int
    notes: dict[str, float] = field(init=False)

    def __attrs_post_init__(self) -> None:
        plan = self.plan
        self.notes = {"cost": plan.cost, "bound": plan.bound, "gap": plan.gap}

    @classmethod
    def seated(cls, seat: Seat, rounds: int = 30) -> Self:
        """Search before the first order.

        Args:
            seat: A stage of the Beer Game.
            rounds: Descents from a disturbed best list, where the bound has not been met before.
        """
        game = seat.model
        if not isinstance(game, BeerGame):
            raise UsageError("perfect plays the Beer Game's stages and no other world")
        return cls(best_plan(game, seat.role, seat.seed, rounds), 0 if game.blind else 1)

    def decide(self, stage: Stage) -> Order:
        """Order what the list says for the week."""
        return Order(self.plan.orders[stage.week - self.first])


@cache
def best_plan(game: BeerGame, role: str, seed: int, rounds: int = 30) -> Plan:
    """Find a cheap order list for one stage and bound what any list costs.

    Args:
        game: The parameters.
        role: The stage that is played.
        seed: The episode's, from which random demand comes.
        rounds: See `Perfect.seated`.
    """
    seat = game.stages.index(role)
    wanted = demand.weekly(game.demand, game.horizon, partial(generator, seed, "demand"))
    bound = _bound(game, role, seed)
    search = _Search(game, wanted, seat, np.random.default_rng(0))
    orders = tuple(int(units) for units in search.run(bound, rounds))
    return Plan(orders, _played(game, role, seed, orders), bound)


def _played(game: BeerGame, role: str, seed: int, orders: Sequence[int]) -> float:
    """Return what a list costs, by playing it."""
    run = Run(game, seed, [role])
    due = iter(orders[0 if game.blind else game.forced_weeks :])
    while handed := run.advance():
        run.answer(handed[0], Order(next(due)))
    return -run.result().score


def _bound(game: BeerGame, role: str, seed: int) -> float:
    run = Run(game, seed, [])
    run.advance()
    weeks = [run.state.history(name) for name in game.stages]
    return Bound(game, game.stages.index(role), weeks).cost()


@frozen
class _Search:
    """Descent over thousands of neighbours at once, from many starts; the same each time."""

    game: BeerGame
    demand: Sequence[int]
    seat: int
    rng: Any

    @property
    def free(self) -> int:
        return min(self.game.forced_weeks, len(self.demand))

    @property
    def cap(self) -> int:
        return REACH * max(1, self.game.flow, *self.demand)

    def run(self, bound: float, rounds: int) -> Lists:
        """Return the best list found; stop where nothing can be better."""
        starts = self.guesses()
        ranked = np.argsort(self.costs(starts), kind="stable")[:3]
        best, least = min((self.descend(starts[row]) for row in ranked), key=lambda pair: pair[1])
        for _ in range(rounds):
            if least <= bound:
                break
            found, paid = self.descend(self.disturbed(best))
            if paid <= least:
                best, least = found, paid
        return best

    def costs(self, lists: Lists) -> Lists:
        return costs(self.game, self.demand, self.seat, lists)

    def guesses(self) -> Lists:
        """Demand some weeks ahead, with or without a larger first order."""
        demand = list(self.demand)
        ahead = [[*demand[lag:], *demand[-1:] * min(lag, len(demand))] for lag in range(9)]
        lists = np.repeat(np.array(ahead, dtype=np.float64), 5, axis=0)
        if self.free < len(self.demand):
            lists[:, self.free] *= np.tile([1, 2, 3, 5, 10], len(ahead))
        return np.minimum(lists, self.cap)

    def descend(self, start: Lists) -> tuple[Lists, float]:
        """Take the best neighbour until none is better."""
        best, least = start, float(self.costs(start[None])[0])
        shifts = np.concatenate(list(self.shifts()))
        while len(shifts):
            lists = np.clip(best + shifts, 0, self.cap)
            paid = self.costs(lists)
            row = int(np.argmin(paid))
            if paid[row] >= least:
                break
            best, least = lists[row], float(paid[row])
        return best, least

    def shifts(self) -> Iterator[Lists]:
        """Yield changes of one week, and of two close weeks that keep the sum."""
        weeks, sizes = len(self.demand), [2**power for power in range(self.cap.bit_length())]
        moves = [np.eye(weeks)[self.free :]]
        moves += [
            (np.eye(weeks) - np.eye(weeks, k=gap))[self.free : max(self.free, weeks - gap)]
            for gap in (1, 2, 3, 4)
        ]
        for size in sizes:
            yield from (sign * size * move for move in moves for sign in (1, -1))

    def disturbed(self, orders: Lists) -> Lists:
        """Redraw a few weeks around the values they have."""
        other, rng = orders.copy(), self.rng
        if self.free == len(orders):
            return other
        weeks = rng.integers(self.free, len(orders), size=int(rng.integers(1, 5)))
        reach = max(1, *self.demand) * 2.0 ** rng.integers(-2, 3)
        other[weeks] = np.rint(other[weeks] + rng.uniform(-reach, reach, size=len(weeks)))
        return np.clip(other, 0, self.cap)
