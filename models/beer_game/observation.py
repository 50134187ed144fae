"""The observation of a stage.

The rules of the Beer Game in words, for one stage.
"""

from collections.abc import Mapping
from typing import ClassVar

from attrs import frozen

from desim.core.reported import SeatBriefing
from desim.show.column import Column
from models.beer_game.actions import Number
from models.beer_game.params import BeerGameParams

_UNITS = Column("units")


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


_ORDERS = (
    "you order from the stage to your right (the last one brews). Orders take time to arrive there "
    "and goods to arrive here"
)


_BREWS = "you order what is brewed. Brewing takes time"

#: The units under way to a stage, by the parameter `supply_line`, and those to the last stage.
_SUPPLY_LINES = {
    "shipped": "Units count as under way to you from when they are shipped.",
    "ordered": "Units count as under way to you from when you have ordered them.",
    "brewed": "Units count as under way to you from when their brewing begins.",
}


def rules(params: BeerGameParams, stage: str) -> str:
    """Return the rules for a stage, with the parameters' costs and weeks."""
    order = _BREWS if stage == params.stages[-1] else _ORDERS
    least, forced = params.minimum_holding_cost, params.forced_weeks
    floor = f"; holding costs at least {least:g} a week" if least else ""
    start = f" In the first {forced} weeks each stage orders {params.flow}." if forced else ""
    line = _SUPPLY_LINES["brewed" if stage == params.stages[-1] else params.supply_line]
    return (
        f"You manage the {stage} of a beer supply chain: {' < '.join(params.stages)}, "
        f"customers at the left. Once a week {order}, so what you "
        "order now helps some weeks later; what you cannot ship is owed and shipped when you "
        "can.\n"
        f"A unit on hand costs {params.holding_cost:g} a week and a unit owed "
        f"{params.backlog_cost:g}{floor}. "
        f"Keep your own cost over {params.horizon} weeks as low as you can.{start} The chain plans "
        f"to keep about {params.target_inventory} units on hand at each stage. {line}"
    )


def effect(params: BeerGameParams, stage: str, week: int, quantity: Number, cost: float) -> str:
    """Return what an order did, seen when the next one is open.

    Args:
        params: The parameters.
        stage: The stage that ordered.
        week: The week in which the order was placed, from 1.
        quantity: Units ordered.
        cost: The stage's cost in that week, in money.
    """
    spent = f"Week {week} cost you {cost:,g}."
    if quantity <= 0:
        return f"{spent} You ordered nothing."
    arrival = week + _weeks_to_goods(params, stage)
    return f"{spent} The {quantity:,g} units that you ordered arrive in week {arrival} or later."


def _weeks_to_goods(params: BeerGameParams, stage: str) -> int:
    """Return the fewest weeks from an order to its goods."""
    if stage == params.stages[-1]:
        return params.production_weeks
    return params.order_delay + params.ship_delay


def briefing(params: BeerGameParams, stage: str) -> SeatBriefing:
    """Return the rules for a stage in five answers."""
    brews = stage == params.stages[-1]
    above, delay = "your own works" if brews else "your supplier", _weeks_to_goods(params, stage)
    least = params.minimum_holding_cost
    floor = f", and holding at least {least:g} a week" if least else ""
    return SeatBriefing(
        title="The Beer Game",
        you_are=f"The {stage} of a beer supply chain, which sells from stock. "
        f"Each week you order from {above}; goods arrive {delay} weeks later at the earliest.",
        you_want="Enough units on hand for every order, and no more.",
        it_costs=f"A unit on hand costs {params.holding_cost:g} a week, a unit owed "
        f"{params.backlog_cost:g}{floor}.",
        it_ends=f"After {params.horizon} weeks.",
        score="Your costs with a minus sign: closer to 0 is better.",
    )
