"""The parameters of the Beer Game and its presets."""

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, Self

from attrs import Attribute, field, frozen
from attrs.validators import deep_iterable, ge, in_, instance_of, le, min_len, optional

from desim import Role, World, from_preset
from models.beer_game import demand, options, processes, score, sheets
from models.beer_game.actions import LARGEST, Order
from models.beer_game.observation import Stage
from models.beer_game.state import Chain

__all__ = ["BeerGame"]

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


def _number(_: object, attribute: "Attribute[Any]", value: Any) -> None:
    """Refuse True and False, which Python counts as 1 and 0."""
    if isinstance(value, bool):
        raise TypeError(f"'{attribute.name}' must be a number, not {value}")


_whole: list[Any] = [_number, instance_of(int)]
_delay = [*_whole, ge(1), le(1_000)]
_units = [*_whole, ge(0), le(LARGEST)]
_price: list[Any] = [_number, ge(0), le(1e9)]


def _seats(names: Any) -> tuple[str, ...]:
    return tuple(names)


@frozen(kw_only=True)
class BeerGame:
    """A serial supply chain on a weekly clock: orders travel up, goods travel down.

    Attributes:
        horizon: Weeks, 1 to 10,000.
        demand: What customers want; see `demand.py` for the forms.
        order_delay: Weeks from an order to its arrival at the supplier, at least 1.
        ship_delay: Weeks from shipping to arrival one stage down, at least 1.
        production_delay: Weeks from the last stage's order to its arrival; None: as `ship_delay`.
        target_inventory: Units each stage is told to keep; its inventory at the start.
        initial_flow: Units in every box of every pipeline at the start; None: the demand's level
            before its first change.
        holding_cost: Money per unit on hand and week.
        backlog_cost: Money per unit owed and week.
        minimum_holding_cost: Money; a floor under a stage's weekly holding cost, not an addition.
        opponents: The rule of every stage without a player: typical, no_backorder, base_stock,
            smoothing:T, benchmark, pass_through. Any other name passes orders on, as published.
        controlled: The seat a policy takes when none is named.
        stages: Their names, customers' side first.
        brewery_echo: Whether the last stage's order also arrives in its own order pipeline, as in
            the published code.
        blind: Whether players order before the week's deliveries and orders are seen.
        whole_units: Whether a fraction of an order is cut off.
        supply_line: What stages count as under way: "shipped" (goods in transit) or "ordered" (also
            orders not yet filled).
        forced_weeks: Weeks at the start in which every stage must order `initial_flow`.

    Source: reference SPEC sections 1 to 7 (`firmbench`) and 10 (`classic`).
    """

    horizon: int = field(default=25, validator=[*_whole, ge(1), le(10_000)])
    demand: str = field(default="step:100:400:2", converter=demand.read)
    order_delay: int = field(default=1, validator=_delay)
    ship_delay: int = field(default=2, validator=_delay)
    production_delay: int | None = field(default=None, validator=optional(_delay))
    target_inventory: int = field(default=400, validator=_units)
    initial_flow: int | None = field(default=None, validator=optional(_units))
    holding_cost: float = field(default=0.5, validator=_price)
    backlog_cost: float = field(default=1.0, validator=_price)
    minimum_holding_cost: float = field(default=200.0, validator=_price)
    opponents: str = field(default="typical", validator=instance_of(str))
    controlled: str = field(default="retailer")
    stages: tuple[str, ...] = field(
        default=(*_SERIAL, "brewery"),
        converter=_seats,
        validator=[min_len(1), deep_iterable(instance_of(str))],
    )
    brewery_echo: bool = field(default=True, validator=instance_of(bool))
    blind: bool = field(default=True, validator=instance_of(bool))
    whole_units: bool = field(default=True, validator=instance_of(bool))
    supply_line: str = field(default="shipped", validator=in_(("shipped", "ordered")))
    forced_weeks: int = field(default=0, validator=[*_whole, ge(0)])

    #: Changes of parameters by name; the first is the default.
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "firmbench": {},
        "classic": _CLASSIC,
        "poisson": {**_CLASSIC, "horizon": 52, "demand": "poisson:4", "forced_weeks": 0},
    }

    def __attrs_post_init__(self) -> None:
        if len(set(self.stages)) < len(self.stages):
            raise ValueError(f"stages={self.stages!r} was given; each name may stand once")
        if self.controlled not in self.stages:
            raise ValueError(
                f"controlled={self.controlled!r} was given; possible: {', '.join(self.stages)}"
            )
        if self.brewery_echo and self.horizon > ECHO_WEEKS:
            raise ValueError(
                f"horizon={self.horizon} was given; with brewery_echo orders double every week and "
                f"{ECHO_WEEKS} weeks are the limit"
            )

    @classmethod
    def preset(cls, name: str = "", **changes: Any) -> Self:
        """Return a preset with some parameters changed."""
        return from_preset(cls, name, changes)

    @property
    def flow(self) -> int:
        """Units in every pipeline box at the start."""
        return demand.opening(self.demand) if self.initial_flow is None else self.initial_flow

    @property
    def production_weeks(self) -> int:
        """Weeks from the last stage's order to its arrival."""
        return self.ship_delay if self.production_delay is None else self.production_delay

    @property
    def lead(self) -> tuple[str, ...]:
        """The seat a policy takes when none is named."""
        return (self.controlled,)

    @property
    def roles(self) -> dict[str, Role]:
        """Every stage; the chain plays those at which nobody sits."""
        choose = partial(options.options, self)
        role = Role(Stage, Order, choose, optional=True, neutral=options.neutral)
        return dict.fromkeys(self.stages, role)

    def begin(self, world: World) -> Chain:
        """Fill the pipelines and start the flows."""
        return processes.begin(world, self)

    def score(self, state: Chain) -> float:
        """Minus the cost of the stages with a player: higher is better."""
        return score.score(state)

    def metrics(self, state: Chain) -> dict[str, Any]:
        """Return the metrics of SPEC section 7 under its names, and each stage's cost."""
        return score.metrics(state)

    def sheets(self, state: Chain, role: str) -> dict[str, list[dict[str, Any]]]:
        """Return what a stage's manager may look up: its weeks, goods and costs."""
        return sheets.sheets(state, role)
