"""Two bakers with one shop: a world with lanes whose two roles decide together."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from attrs import define, frozen
from support.bakery import Bake, Morning

from desim.core.roles import Role
from desim.core.streams import generator
from desim.core.world import World
from desim.lanes.lane_columns import Array, Columns
from desim.lanes.lane_protocols import Lanes

SIDES = ("left", "right")


@define(eq=False)
class Till:
    """The state: loaves of each baker, loaves sold by each, and days."""

    stock: dict[str, int]
    sold: dict[str, int]
    day: int = 0

    ledgers: ClassVar[tuple[Any, ...]] = ()


@frozen
class Rivals:
    """Two bakers, who sell equal numbers of loaves, and the one with more in stock one more."""

    days: int = 12

    @property
    def roles(self) -> Mapping[str, Role]:
        """Both bakers."""
        return {side: Role(Morning, Bake, default_action=lambda _: Bake(3)) for side in SIDES}

    def begin(self, world: World) -> Till:
        """Open with empty shelves."""
        till = Till(dict.fromkeys(SIDES, 0), dict.fromkeys(SIDES, 0))
        for side in SIDES:
            world.process(self._bake(world, till, side))
        world.process(self._trade(world, till))
        return till

    def _bake(self, world: World, till: Till, side: str) -> Iterator[Any]:
        """Bake at even ticks."""
        for _ in range(self.days):
            answer: Bake = yield world.ask(side, partial(_morning, till, side))
            till.stock[side] += answer.loaves
            yield world.timeout(2)

    def _trade(self, world: World, till: Till) -> Iterator[Any]:
        """Sell at odd ticks."""
        customers = world.stream("customers")
        yield world.timeout(1)
        for day in range(self.days):
            wanted = int(customers.random() * 10)
            ahead = till.stock["left"] > till.stock["right"]
            for side in SIDES:
                share = wanted + (ahead == (side == "left"))
                till.sold[side] = min(share, till.stock[side])
                till.stock[side] -= till.sold[side]
            till.day = day + 1
            if till.day < self.days:
                yield world.timeout(2)
        world.end("closed")

    def score(self, till: Till) -> float:
        """Return the loaves left of the left baker less those of the right one."""
        return float(till.stock["left"] - till.stock["right"])

    def metrics(self, till: Till) -> Mapping[str, Any]:
        """Return the days."""
        return {"days": till.day}

    def lanes(self, seeds: Sequence[int], roles: Sequence[str], *, arrays: Any = None) -> Lanes:
        """Return lanes of both bakers."""
        return _Tills(self, seeds)


def _morning(till: Till, side: str) -> Morning:
    return Morning(till.day, 0, till.stock[side], till.sold[side])


class _Tills:
    """Lanes of both bakers."""

    texts: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def __init__(self, model: Rivals, seeds: Sequence[int]) -> None:
        self.model, self.seeds = model, [*seeds]
        self.reset()

    def __len__(self) -> int:
        return len(self.seeds)

    @property
    def ended(self) -> Array:
        """Whether a lane has ended: all do together."""
        return np.full(len(self), self.day >= self.model.days)

    @property
    def decisions(self) -> Array:
        """Two answers a day."""
        return np.full(len(self), 2 * self.day)

    def reset(self) -> Mapping[str, Columns]:
        """Open all lanes."""
        self.streams = [generator(seed, "customers") for seed in self.seeds]
        self.day = 0
        self.stock = {side: np.zeros(len(self), int) for side in SIDES}
        self.sold = {side: np.zeros(len(self), int) for side in SIDES}
        return self._questions()

    def step(self, actions: Mapping[str, Any]) -> Mapping[str, Columns]:
        """Bake, and sell for a day."""
        stock = {side: self.stock[side] + actions[side]["loaves"] for side in SIDES}
        wanted = np.array([int(each.random() * 10) for each in self.streams])
        ahead = stock["left"] > stock["right"]
        for side in SIDES:
            share = wanted + (ahead == (side == "left"))
            self.sold[side] = np.minimum(share, stock[side])
            self.stock[side] = stock[side] - self.sold[side]
        self.day += 1
        return self._questions()

    def score(self) -> Array:
        """Return the score of each lane."""
        return self.stock["left"] - self.stock["right"]

    def metrics(self) -> Mapping[str, Any]:
        """Return the days."""
        return {"days": [self.day] * len(self)}

    def end_reasons(self) -> Sequence[str]:
        """Return why each lane ended."""
        return ["closed" if self.day >= self.model.days else ""] * len(self)

    def fork(self, rows: Array) -> "_Tills":
        """No test forks these lanes."""
        raise NotImplementedError

    def redraw(self, futures: Sequence[int]) -> None:
        """No test redraws these lanes."""
        raise NotImplementedError

    def _questions(self) -> Mapping[str, Columns]:
        if self.day >= self.model.days:
            return {}
        return {
            side: Columns(
                Morning,
                {"day": self.day, "cash": 0, "stock": self.stock[side], "sold": self.sold[side]},
            )
            for side in SIDES
        }


@define
class Copying:
    """Bakes what was sold two days before; remembers it."""

    before: Any = 2

    def decide(self, morning: Morning) -> Bake:
        """Return what was kept, and keep what was sold."""
        loaves, self.before = self.before, morning.sold
        return Bake(loaves)

    def decide_all(self, mornings: Columns) -> Mapping[str, Array]:
        """Return what was kept of every lane."""
        loaves, self.before = self.before, mornings.sold
        return {"loaves": loaves}
