"""What a stage sees, what it may order, and the rules of the game in words."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar

from attrs import evolve, field, frozen
from attrs.validators import ge, le

from desim import Option
from desim.core.reported import SeatBriefing, Texts
from desim.show.column import Column
from models.beer_game import demand
from models.beer_game.params import BeerGameParams
from models.beer_game.rules import LARGEST, Number

#: Stocks or demands of a week that an order may have before a person is asked to confirm it.
_USUAL = 5

_UNITS = Column("units")


@frozen
class Order:
    """Order goods from the stage above; the last stage orders a production run.

    A negative quantity counts as 0. Where a world deals in whole units (preset `firmbench`) a
    fraction is cut off, as the published environment does; elsewhere it is kept exactly.

    Attributes:
        quantity: Units to order this week; 0 orders nothing.
    """

    columns: ClassVar[Mapping[str, Column]] = {"quantity": _UNITS}

    quantity: Number = field(validator=[ge(-LARGEST), le(LARGEST)])


@frozen
class Stage:
    """One stage of the chain, with the figures that its manager knows.

    Attributes:
        week: Weeks completed; where the stage orders at the end of a week, the week that ends now.
        role: The stage's name.
        inventory: Units on hand after this week's shipping.
        backlog: Units owed to the stage below.
        incoming_order: Units ordered from this stage in the week just played.
        incoming_delivery: Units received in that week.
        outgoing_delivery: Units shipped in that week.
        supply_line: Units under way to this stage; the rules say from when they count.
        last_order: Units this stage ordered last.
        horizon: Weeks of the episode.
        opponents: The rule of the stages without a player; empty where it is not known.
        target_inventory: Units that the stage should keep on hand.
    """

    columns: ClassVar[Mapping[str, Column]] = {
        "week": Column(kind="tick", of=("horizon",)),
        **dict.fromkeys(("inventory", "backlog"), Column("units", priority=2)),
        **dict.fromkeys(("incoming_order", "supply_line"), Column("units", priority=1)),
        **dict.fromkeys(("last_order", "target_inventory"), _UNITS),
        **dict.fromkeys(("incoming_delivery", "outgoing_delivery"), _UNITS),
        "horizon": Column("weeks"),
        # The rule of the other stages would give away their orders.
        "opponents": Column(shown=False),
    }

    week: int
    role: str
    inventory: Number
    backlog: Number
    incoming_order: Number
    incoming_delivery: Number
    outgoing_delivery: Number
    supply_line: Number
    last_order: Number
    horizon: int
    opponents: str
    target_inventory: int

    @property
    def position(self) -> Number:
        """Inventory position in units: on hand plus supply line less backlog."""
        return self.inventory + self.supply_line - self.backlog


# -- what it may order -----------------------------------------------------------------------------


def options(params: BeerGameParams, stage: Stage) -> list[Option]:
    """Return orders from nothing to twice the demand, and the one that fills the pipeline.

    The value of an order is minus the cost, in money, of one week: the first in which a change of
    the order shows in full, if the stage places the same order each week until this one arrives.
    Demand is assumed to stay as it is, and everything under way to arrive by then.

    Why not the week in which this order alone arrives: its best order moves by the lead time plus
    one for each unit by which demand moves, and each stage above multiplies that again. Over the
    lead time the same gap is closed in as many steps.
    """
    ordered = int(stage.incoming_order)
    # A blind player orders one week before the order is placed.
    weeks = params.lead_time(stage.role) + params.blind
    # The last of these orders arrives `weeks - 1` weeks after the first.
    last = 2 * weeks - 1
    filling = max(0, int(ordered * weeks - stage.position))
    candidates = {0, ordered // 2, ordered, ordered * 3 // 2, ordered * 2, filling}
    kept = stage.position + _mailed(params, stage)
    found = []
    for units in sorted({min(units, LARGEST) for units in candidates}):
        stock = kept + units * weeks - stage.incoming_order * last
        note = f"leaves {stock:g} in {last} weeks"
        found.append(Option(Order(units), -_week_cost(params, stock), note=note))
    return found


def _mailed(params: BeerGameParams, stage: Stage) -> Number:
    """Return the units ordered and not counted in the supply line, if the supplier had stock."""
    if params.supply_line == "ordered" or stage.role == params.stages[-1]:
        return 0
    return stage.last_order * (params.order_delay - 1 + params.blind)


def _week_cost(params: BeerGameParams, stock: Number) -> float:
    holding = max(params.minimum_holding_cost, params.holding_cost * max(0, stock))
    return holding + params.backlog_cost * max(0, -stock)


def default_action(stage: Stage) -> Order:
    """Return an order of as many units as were ordered from the stage."""
    return Order(min(stage.incoming_order, LARGEST))


def described(params: BeerGameParams) -> Mapping[str, Mapping[str, Column]]:
    """Return the columns of an order.

    It is usual up to 5 times the stock that a stage should keep, or a week's demand where that is
    more: 60 units in the classic game, whose players' largest orders are around 50 (Sterman 1989).
    """
    level = max(params.target_inventory, demand.final_level(params.demand))
    return {"order": {"quantity": _units_up_to(_USUAL * level)}}


@lru_cache(100)  # a column is checked when it is made, and the roles are read often
def _units_up_to(usual: int) -> Column:
    return evolve(_UNITS, usual=(0, usual))


# -- the rules in words ----------------------------------------------------------------------------

_BREWS = "you order what is brewed. Brewing takes time"

_ORDERS = (
    "you order from the stage to your right (the last one brews). Orders take time to arrive there "
    "and goods to arrive here"
)

#: From when units are under way to a stage, by the parameter `supply_line`, and to the last stage.
_UNDER_WAY = {
    "shipped": "they are shipped",
    "ordered": "you have ordered them",
    "brewed": "their brewing begins",
}


def texts(params: BeerGameParams, stage: str) -> Texts:
    """Return the rules for a stage, with the parameters' costs and weeks."""
    brews = stage == params.stages[-1]
    least, forced = params.minimum_holding_cost, params.forced_weeks
    price, owed = f"A unit on hand costs {params.holding_cost:g} a week", f"{params.backlog_cost:g}"
    floor = f"; holding costs at least {least:g} a week" if least else ""
    start = f" In the first {forced} weeks each stage orders {params.flow}." if forced else ""
    rules = (
        f"You manage the {stage} of a beer supply chain: {' < '.join(params.stages)}, customers at "
        f"the left. Once a week {_BREWS if brews else _ORDERS}, so what you order now helps some "
        "weeks later; what you cannot ship is owed and shipped when you can.\n"
        f"{price} and a unit owed {owed}{floor}. "
        f"Keep your own cost over {params.horizon} weeks as low as you can.{start} The chain plans "
        f"to keep about {params.target_inventory} units on hand at each stage. Units count as "
        f"under way to you from when {_UNDER_WAY['brewed' if brews else params.supply_line]}."
    )
    above = "your own works" if brews else "your supplier"
    floor = f", and holding at least {least:g} a week" if least else ""
    briefing = SeatBriefing(
        title="The Beer Game",
        you_are=f"The {stage} of a beer supply chain, which sells from stock. Each week you order "
        f"from {above}; goods arrive {params.lead_time(stage)} weeks later at the earliest.",
        you_want="Enough units on hand for every order, and no more.",
        it_costs=f"{price}, a unit owed {owed}{floor}.",
        it_ends=f"After {params.horizon} weeks.",
        score="Your costs with a minus sign: closer to 0 is better.",
    )
    return Texts(rules, briefing)


def effect(params: BeerGameParams, stage: str, week: int, order: Any, cost: float) -> str:
    """Return what a stage's order of a week did: its units, and the stage's cost in money."""
    spent = f"Week {week} cost you {cost:,g}."
    if order <= 0:
        return f"{spent} You ordered nothing."
    arrival = week + params.lead_time(stage)
    return f"{spent} The {order:,g} units that you ordered arrive in week {arrival} or later."
