"""A bound on all quantities and costs of a chain, so that lanes stay exact."""

from attrs import define

from desim.lanes.lane_protocols import NoLanes
from desim.short_repr import short_repr
from models.beer_game import rules
from models.beer_game.lanes.chain import LaneChain
from models.beer_game.params import BeerGameParams

#: Whole numbers below it are exact as doubles.
EXACT = 2**53

#: In a week no quantity, nor any sum on the way to an order, exceeds so many times the largest one
#: of before: units on hand, owed and under way can each double, and a rule adds up to all of them.
_GROWTH = 8


@define
class ExactRange:
    """The largest quantity and cost that a chain can have reached, without looking at its arrays.

    The arrays are read again only where the bound is too weak, since it grows faster than they do.

    Attributes:
        units: Bound on every quantity.
        cost: Bound on the cost of all stages, in the units of `ScaledPrices` times its `over`.
    """

    units: int
    cost: int = 0

    @classmethod
    def at_start(cls, params: BeerGameParams) -> "ExactRange":
        """Return the bounds before the first week.

        Raises:
            NoLanes: A figure is outside the exact range.
        """
        weeks = params.order_delay + params.ship_delay + params.production_weeks
        units = max(params.target_inventory, params.flow * max(weeks, _averaged(params)))
        if max(units, _averaged(params)) >= EXACT:
            raise NoLanes(
                f"target_inventory={params.target_inventory}, initial flow={params.flow} and "
                f"opponents={short_repr(params.opponents)} were given; lanes take less than {EXACT}"
            )
        return cls(units)

    def next_week(self, chain: LaneChain, given: int, demand: int) -> None:
        """Raise the bounds to those of the next week.

        Args:
            chain: The chain.
            given: The largest order of a player.
            demand: The largest demand of a week.

        Raises:
            NoLanes: A figure could leave the exact range; nothing has changed.
        """
        found = self._after(chain, given, demand)
        if found is None:
            exact = ExactRange(chain.largest(), chain.largest_cost())
            found = exact._after(chain, given, demand)
        if found is None:
            raise NoLanes(
                f"a quantity or cost could leave the exact range of lanes in week {chain.week + 1};"
                " play this episode alone"
            )
        self.units, self.cost = found

    def _after(self, chain: LaneChain, given: int, demand: int) -> tuple[int, int] | None:
        params, prices = chain.params, chain.prices
        least = rules.ANCHOR + rules.DESIRED
        units = _GROWTH * max(self.units, given, demand, params.target_inventory, least)
        # At least 1, because backlogs are added up without a cost as well.
        weekly = prices.floor + max(1, prices.per_unit + prices.per_owed) * units
        cost = self.cost + len(params.stages) * weekly * prices.over
        # A mean is computed from the sum over its weeks.
        inside = max(units * _averaged(params), cost) < EXACT
        return (units, cost) if inside else None


def _averaged(params: BeerGameParams) -> int:
    """Return the number of weeks, at least 1, that the rule of the stages averages over."""
    return rules.divisor(params.opponents)
