"""Ordering rules of the Beer Game as policies."""

from models.beer_game import BeerGame
from models.beer_game.demand import drawn, settled
from policies.heuristics.beer_game.perfect import Perfect
from policies.heuristics.beer_game.rules import (
    BaseStock,
    Benchmark,
    Constant,
    Fallback,
    Foresight,
    LastDemand,
    Smoothing,
    Typical,
)
from policies.heuristics.beer_game.sterman import Sterman

__all__ = [
    "BaseStock",
    "Benchmark",
    "Constant",
    "Fallback",
    "Foresight",
    "LastDemand",
    "Perfect",
    "Smoothing",
    "Sterman",
    "Typical",
    "baselines",
]


def baselines(game: BeerGame) -> tuple[str, ...]:
    """Return the specs that make sense in a game, the simplest first."""
    level = settled(game.demand)
    # Where demand is drawn, the search for the best list takes a second or two for each seed.
    known = () if drawn(game.demand) else ("perfect",)
    everywhere = ("last_demand", f"constant,quantity={level}", "typical", *known)
    if game.supply_line == "shipped":
        return (*everywhere, "base_stock", "smoothing,weeks=4", "fallback", "foresight")
    # The textbook's level: demand over the lead time and the week until the next order.
    target = (game.order_delay + game.ship_delay + 1) * level
    # The benchmark is named with its seat; without, it takes all of them and is scored for all.
    alone = f"{game.controlled}=benchmark"
    return (*everywhere, f"base_stock,target={target}", "sterman", alone, "foresight")
