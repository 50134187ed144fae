"""Ordering rules of the Beer Game as policies."""

from models.beer_game import BeerGame
from models.beer_game.demand import settled
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
    "Smoothing",
    "Sterman",
    "Typical",
    "baselines",
]


def baselines(game: BeerGame) -> tuple[str, ...]:
    """Return the specs that make sense in a game, the simplest first."""
    everywhere = ("last_demand", f"constant,quantity={settled(game.demand)}", "typical")
    if game.supply_line == "shipped":
        return (*everywhere, "base_stock", "smoothing,weeks=4", "fallback", "foresight")
    weeks = game.order_delay + game.ship_delay + 3  # three weeks of stock beside the pipeline
    return (
        *everywhere,
        f"base_stock,target={weeks * game.flow}",
        "sterman",
        "benchmark",
        "foresight",
    )
