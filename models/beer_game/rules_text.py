"""The rules of the Beer Game in words, for one stage."""

from models.beer_game.params import BeerGameParams

__all__ = ["rules"]

_ORDERS = (
    "you order from the stage to your right (the last one brews). Orders take time to arrive there "
    "and goods to arrive here"
)
_BREWS = "you order what is brewed. Brewing takes time"


def rules(params: BeerGameParams, stage: str) -> str:
    """Return the rules for a stage, with the parameters' costs and weeks."""
    order = _BREWS if stage == params.stages[-1] else _ORDERS
    least, forced = params.minimum_holding_cost, params.forced_weeks
    floor = f"; holding costs at least {least:g} a week" if least else ""
    start = f" In the first {forced} weeks each stage orders {params.flow}." if forced else ""
    return (
        f"You manage the {stage} of a beer supply chain: {' < '.join(params.stages)}, "
        f"customers at the left. Once a week {order}, so what you "
        "order now helps some weeks later; what you cannot ship is owed and shipped when you "
        "can.\n"
        f"A unit on hand costs {params.holding_cost:g} a week and a unit owed "
        f"{params.backlog_cost:g}{floor}. "
        f"Keep your own cost over {params.horizon} weeks as low as you can.{start} The chain plans "
        f"to keep about {params.target_inventory} units on hand at each stage."
    )
