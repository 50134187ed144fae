"""The base stock policy on the correct inventory position.

Target levels are tuned for the presets, and follow a formula for other games.
"""

import math
from collections.abc import Mapping
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Self

from attrs import define, evolve, field

from desim import Seat
from desim.errors import UsageError
from models.beer_game import demand
from models.beer_game.params import BeerGameParams
from models.beer_game.rules import Number
from policies.heuristics.beer_game.memoryless import OrderingRule, at_least, parameters

#: Levels in units by preset and stage: this stage alone, the others follow the preset's rule. Found
#: by `experiments/tune_beer_game.py` with its default arguments: training seeds 10,000 to 10,099,
#: checked on held-out seeds 20,000 to 20,999; the deterministic presets have one game. In
#: `firmbench` the echo floods the upper stages, and their levels fit that one game alone.
TUNED: Mapping[str, Mapping[str, int]] = {
    "firmbench": {"retailer": 1_625, "wholesaler": 2_000, "distributor": 0, "brewery": 7_900},
    "classic": {"retailer": 32, "wholesaler": 32, "distributor": 32, "factory": 24},
    "poisson": {"retailer": 17, "wholesaler": 17, "distributor": 18, "factory": 14},
    "paper": {"retailer": 1_750, "wholesaler": 2_056, "distributor": 8_754, "factory": 28_762},
}

#: The same where all stages order up to these levels.
TUNED_TEAM: Mapping[str, Mapping[str, int]] = {
    "firmbench": {"retailer": 0, "wholesaler": 840, "distributor": 0, "brewery": 868},
    "classic": {"retailer": 32, "wholesaler": 32, "distributor": 32, "factory": 24},
    "poisson": {"retailer": 19, "wholesaler": 19, "distributor": 19, "factory": 14},
    "paper": {"retailer": 1_600, "wholesaler": 1_600, "distributor": 2_000, "factory": 1_600},
}


def order_up_to_level(params: BeerGameParams, stage: str, *, team: bool = False) -> int:
    """Return the tuned level of a preset's stage, or `formula_level` for every other game.

    Args:
        params: A Beer Game; a preset with any parameter changed is another game, unless it is cash
            alone, on which no level depends.
        stage: The stage that orders.
        team: Whether all stages order up to tuned levels, rather than this one among the others'
            rule.
    """
    tuned = (TUNED_TEAM if team else TUNED).get(_preset(params))
    return tuned[stage] if tuned else formula_level(params, stage)


def formula_level(params: BeerGameParams, stage: str) -> int:
    """Return mean demand over the lead time plus a safety stock, in units.

    The lead time is that of `params`, one week longer where players order before they observe the
    week. The safety stock is z standard deviations of the demand over the lead time, with
    z = normal quantile of backlog cost / (backlog cost + holding cost) (the newsvendor's ratio), or
    the stock that the minimum holding cost pays for anyway, if that is more.
    """
    weeks = params.lead_time(stage) + params.blind
    mean, sd = demand.moments(params.demand)
    free = params.minimum_holding_cost / params.holding_cost if params.holding_cost else 0.0
    return max(0, round(mean * weeks + max(_z(params) * sd * math.sqrt(weeks), free)))


def _z(params: BeerGameParams) -> float:
    costs = params.backlog_cost + params.holding_cost
    ratio = params.backlog_cost / costs if costs else 0.5
    # Without a holding cost, or a backlog cost, the quantile is infinite.
    return NormalDist().inv_cdf(min(max(ratio, 0.001), 0.999))


@lru_cache(maxsize=256)
def _preset(params: BeerGameParams) -> str:
    """Return the name of the preset that has these parameters, or an empty text."""
    game = evolve(params, opening_cash=None, unit_margin=0.0)
    names = (n for n, changes in params.presets.items() if game == type(params)(**changes))
    return next(names, "")


@define
class Position:
    """Computes the inventory position from the weekly observations of one stage, in their order.

    The position is what is on hand, plus ordered and not received, less owed. Where the supply line
    holds goods in transit only (preset `firmbench`), a stage knows what is missing in it all the
    same: what it has ordered less what it has received. The supplier is taken to owe nothing at the
    first observation.

    Attributes:
        mailed: Units ordered before the first observation and not in its supply line; None where
            the supply line of every observation holds all orders.
        on_order: Units ordered and not received; None before the first observation.
    """

    mailed: Number | None = None
    on_order: Number | None = None

    @classmethod
    def at(cls, params: BeerGameParams, role: str) -> Self:
        """Return the position of a stage."""
        if params.supply_line == "ordered" or role == params.stages[-1]:
            return cls()
        return cls(params.flow * (params.order_delay - 1 + params.blind))

    def of(self, stage: Any) -> Any:
        """Return the position in units; called once for each observation of a stage or of lanes."""
        if self.mailed is None:
            return stage.position
        if self.on_order is None:
            self.on_order = stage.supply_line + self.mailed
        else:
            self.on_order = self.on_order + (stage.last_order - stage.incoming_delivery)
        return stage.inventory + self.on_order - stage.backlog


@define
class UpToLevel(OrderingRule):
    """Order what the inventory position lacks to a level, which depends on the seat."""

    # Delays and demand; the rules text states costs alone.
    knows = "rules"
    _level: int = field(default=0, init=False, repr=False)
    _position: Position = field(factory=Position, init=False, repr=False)

    def units(self, stage: Any) -> Any:
        """Return the units that restore the level."""
        return self._level - self._position.of(stage)


@define
class OrderUpTo(UpToLevel):
    """Order what the inventory position lacks to a target: the base stock policy of the textbooks.

    The order is max(0, target - position). The published rule `base_stock` adds the incoming order
    to that, although it has already lowered the position.

    Attributes:
        target: Inventory position to restore, in units, at least 0; None: the tuned level of preset
            and stage, or the level by the formula if none is tuned.
        team: Whether to take the level tuned for all stages together, rather than for one stage
            among others that follow the preset's rule.

    Source: E. A. Silver, D. F. Pyke and D. J. Thomas, "Inventory and Production Management in
    Supply Chains", 4th ed., 2017, chapter 6: the (R, S) system with a review each week.
    """

    target: int | None = field(default=None, validator=at_least(0))
    team: bool = field(default=False, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.team and self.target is not None:
            raise UsageError("target and team were given; a target is the level, so leave out one")
        self._level = self.target or 0

    def seated(self, seat: Seat) -> None:
        """Take the level and the position of a stage."""
        params = parameters(seat.model, "order_up_to")
        if self.target is None:
            self._level = order_up_to_level(params, seat.role, team=self.team)
        self._position = Position.at(params, seat.role)
