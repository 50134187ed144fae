"""The parameters of the Beer Game and its presets."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

from attrs import Attribute, field, frozen
from attrs.validators import deep_iterable, ge, in_, instance_of, le, min_len, optional

from desim.core.roles import Thinking
from desim.schema.validators import finite, whole
from desim.short_repr import short_repr
from models.beer_game import demand, rules
from models.beer_game.demand import read_strike

#: With the echo the last stage's order doubles every week, and floats end at 2**1024.
ECHO_WEEKS = 900

_SERIAL = ("retailer", "wholesaler", "distributor")
_CLASSIC: dict[str, Any] = {
    "horizon": 36,
    "demand": "step:4:8:4",
    "order_delay": 2,
    "production_delay": 3,
    "target_inventory": 12,
    "minimum_holding_cost": 0.0,
    "opponents": "benchmark",
    "stages": (*_SERIAL, "factory"),
    "brewery_echo": False,
    "blind": False,
    "whole_units": False,
    "supply_line": "ordered",
    "forced_weeks": 4,
}

#: The game as the paper's text describes it; the README lists where that differs from the code.
_PAPER: dict[str, Any] = {
    "demand": "step:100:400:1",
    "opponents": "moving_average:4",
    "stages": (*_SERIAL, "factory"),
    "brewery_echo": False,
    "names_opponents": False,
}


def _whole_cents(_: object, attribute: "Attribute[Any]", value: float) -> None:
    if (100 * Fraction(str(value))).denominator > 1:
        raise ValueError(f"{attribute.name}={value} was given; it is money in whole cents")


def _weighed(_: object, __: "Attribute[Any]", value: str) -> None:
    rules.weights(value)


_delay = [whole, ge(1), le(1_000)]
_cash: list[Any] = [finite, ge(0), le(1e12), _whole_cents]
_units = [whole, ge(0), le(rules.LARGEST)]
_price: list[Any] = [finite, ge(0), le(1e9)]


@frozen(kw_only=True)
class BeerGameParams:
    """A serial supply chain on a weekly clock: orders travel up, goods travel down.

    Attributes:
        horizon: Weeks, 1 to 10,000.
        demand: Units that customers order in each week; `demand.read` lists the forms of the text.
        order_delay: Weeks from an order to its arrival at the supplier, at least 1.
        ship_delay: Weeks from shipping to arrival one stage down, at least 1.
        production_delay: Weeks from the last stage's order to its arrival; None: as `ship_delay`.
        target_inventory: Units that each stage should keep; its inventory at the start.
        initial_flow: Units in every box of every pipeline at the start; None: the demand's level
            before its first change.
        holding_cost: Money per unit on hand and week.
        backlog_cost: Money per unit owed and week.
        minimum_holding_cost: Money; a floor under a stage's weekly holding cost, not an addition.
        opponents: The rule of every stage without a player: typical, no_backorder, base_stock,
            smoothing:T, moving_average:T, benchmark, pass_through. Any other name works as
            pass_through, as published. typical:ALPHA:BETA and moving_average:T:ALPHA:BETA weigh
            what inventory lacks and the backlog, 0 to 100, both 1 by default.
        names_opponents: Whether the observation holds the name of that rule.
        controlled: The stage that a policy plays when no role is named.
        stages: Names of the stages, beginning at the customers.
        brewery_echo: Whether the last stage's order also arrives in its own order pipeline, as in
            the published code.
        blind: Whether players order before they observe the week's deliveries and orders.
        whole_units: Whether a fraction of an order is cut off.
        supply_line: What stages count as under way: "shipped" (goods in transit) or "ordered" (also
            orders not yet filled).
        forced_weeks: Weeks at the start in which every stage must order `initial_flow`.
        strike: Weeks in which the last stage ships nothing: "30:34" is weeks 30 to 34, both
            included; None for a chain without a strike.
        opening_cash: Money in whole cents before the first week, from which the costs of all stages
            are paid at the end of each week; None: the chain keeps no cash.
        unit_margin: Money received for each unit that customers receive; needs `opening_cash`.
        thinking: Weeks that the decisions of players take, in which their stages order nothing.

    Source: reference SPEC sections 1 to 7 (`firmbench`), 9 (`paper`) and 10 (`classic`); strike and
    cash are invented here.
    """

    horizon: int = field(default=25, validator=[whole, ge(1), le(10_000)])
    demand: str = field(default="step:100:400:2", converter=demand.read)
    order_delay: int = field(default=1, validator=_delay)
    ship_delay: int = field(default=2, validator=_delay)
    production_delay: int | None = field(default=None, validator=optional(_delay))
    target_inventory: int = field(default=400, validator=_units)
    initial_flow: int | None = field(default=None, validator=optional(_units))
    holding_cost: float = field(default=0.5, validator=_price)
    backlog_cost: float = field(default=1.0, validator=_price)
    minimum_holding_cost: float = field(default=200.0, validator=_price)
    opponents: str = field(default="typical", validator=[instance_of(str), _weighed])
    names_opponents: bool = field(default=True, validator=instance_of(bool))
    controlled: str = field(default="retailer")
    stages: tuple[str, ...] = field(
        default=(*_SERIAL, "brewery"),
        converter=tuple,
        validator=[min_len(1), deep_iterable(instance_of(str))],
    )
    brewery_echo: bool = field(default=True, validator=instance_of(bool))
    blind: bool = field(default=True, validator=instance_of(bool))
    whole_units: bool = field(default=True, validator=instance_of(bool))
    supply_line: str = field(default="shipped", validator=in_(("shipped", "ordered")))
    forced_weeks: int = field(default=0, validator=[whole, ge(0)])
    strike: str | None = field(default=None, converter=read_strike)
    opening_cash: float | None = field(default=None, validator=optional(_cash))
    unit_margin: float = field(default=0.0, validator=_price)
    thinking: Thinking = field(factory=Thinking, validator=instance_of(Thinking))

    #: Changes of parameters by preset; the first preset is the default.
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "firmbench": {},
        "classic": _CLASSIC,
        "poisson": {**_CLASSIC, "horizon": 52, "demand": "poisson:4", "forced_weeks": 0},
        "paper": _PAPER,
    }

    def __attrs_post_init__(self) -> None:
        if len(set(self.stages)) < len(self.stages):
            raise ValueError(f"stages={short_repr(self.stages)} was given; each name is used once")
        if self.controlled not in self.stages:
            names = ", ".join(self.stages)
            raise ValueError(
                f"controlled={short_repr(self.controlled)} was given; possible: {names}"
            )
        if self.brewery_echo and self.horizon > ECHO_WEEKS:
            raise ValueError(
                f"horizon={self.horizon} was given; with brewery_echo orders double every week and "
                f"{ECHO_WEEKS} weeks are the limit"
            )
        if self.unit_margin and self.opening_cash is None:
            raise ValueError(
                f"unit_margin={self.unit_margin} was given without opening_cash; it is received in "
                "cash, so give an opening_cash, which may be 0"
            )

    @property
    def flow(self) -> int:
        """Units in every box of every pipeline at the start."""
        given = self.initial_flow
        return demand.opening_level(self.demand) if given is None else given

    @property
    def production_weeks(self) -> int:
        """Weeks from the last stage's order to its arrival."""
        return self.ship_delay if self.production_delay is None else self.production_delay

    @property
    def strike_weeks(self) -> range:
        """The weeks, counted from 1, in which the last stage ships nothing."""
        return demand.weeks_of_strike(self.strike)

    @property
    def deterministic(self) -> bool:
        """Whether no draw depends on the seed: only a random demand does."""
        return not demand.is_random(self.demand)

    def lead_time(self, stage: str) -> int:
        """Return the weeks from a stage's order to its arrival, if its supplier has stock."""
        brews = stage == self.stages[-1]
        return self.production_weeks if brews else self.order_delay + self.ship_delay
