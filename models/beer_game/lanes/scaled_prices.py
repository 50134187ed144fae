"""The prices of a chain as whole numbers, so that costs are sums of whole numbers."""

from math import gcd

import numpy as np
from attrs import frozen

from desim.lanes.lane_columns import Array
from desim.lanes.lane_protocols import NoLanes
from models.beer_game.chain import DIGITS
from models.beer_game.params import BeerGameParams
from models.beer_game.weeks import Prices


@frozen
class ScaledPrices:
    """Prices in units of their greatest common divisor.

    Attributes:
        per_unit: Holding cost per unit and week.
        per_owed: Backlog cost per unit and week.
        floor: The least holding cost of a stage and week.
        over: The unit in money is `over / below`, in lowest terms.
        below: See `over`.
    """

    per_unit: int
    per_owed: int
    floor: int
    over: int
    below: int

    @classmethod
    def of(cls, params: BeerGameParams) -> "ScaledPrices":
        """Return the prices of a chain.

        Raises:
            NoLanes: A price has a fraction of the book's unit, so its costs would be rounded.
        """
        per_unit, per_owed, floor, _ = Prices.of(params)
        if not isinstance(per_unit, int) or not isinstance(per_owed, int):
            raise NoLanes(
                f"holding_cost={params.holding_cost} and backlog_cost={params.backlog_cost} were "
                f"given; lanes take prices of at most {DIGITS} decimals"
            )
        unit, book = gcd(per_unit, per_owed, floor) or 1, 10**DIGITS
        common = gcd(unit, book)
        return cls(
            per_unit // unit, per_owed // unit, floor // unit, unit // common, book // common
        )

    def held(self, on_hand: Array) -> Array:
        """Return what is added up for the holding cost of a week, see `per_held`."""
        if not self.floor:
            return on_hand
        return np.maximum(on_hand * self.per_unit, self.floor)

    @property
    def per_held(self) -> int:
        """The factor of the sum of `held`."""
        return 1 if self.floor else self.per_unit

    def money(self, cost: Array) -> Array:
        """Return costs in money, as `Book.money` rounds them."""
        money: Array = cost * self.over / self.below
        return money
