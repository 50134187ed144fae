"""Ordering rules of the Beer Game as policies."""

from models.beer_game.demand import final_level, is_random
from models.beer_game.params import BeerGameParams
from policies.heuristics.beer_game.echelon import EchelonBaseStock as EchelonBaseStock
from policies.heuristics.beer_game.foresight import Foresight as Foresight
from policies.heuristics.beer_game.foresight import Perfect as Perfect
from policies.heuristics.beer_game.order_up_to import OrderUpTo as OrderUpTo
from policies.heuristics.beer_game.published import BaseStock as BaseStock
from policies.heuristics.beer_game.published import Benchmark as Benchmark
from policies.heuristics.beer_game.published import Constant as Constant
from policies.heuristics.beer_game.published import Fallback as Fallback
from policies.heuristics.beer_game.published import LastDemand as LastDemand
from policies.heuristics.beer_game.published import MovingAverage as MovingAverage
from policies.heuristics.beer_game.published import Smoothing as Smoothing
from policies.heuristics.beer_game.published import Sterman as Sterman
from policies.heuristics.beer_game.published import Typical as Typical


def baselines(params: BeerGameParams) -> tuple[str, ...]:
    """Return the policy specs that make sense with these parameters, the simplest first."""
    level = final_level(params.demand)
    # The search takes a second or two per seed of random demand, and no game with cash has lanes.
    searched = not is_random(params.demand) and params.opening_cash is None
    known = ("perfect",) if searched else ()
    everywhere = ("last_demand", f"constant,quantity={level}", "typical", *known)
    # Without a role these play all stages and are scored for all of them.
    echelon, alone = (f"{params.controlled}={rule}" for rule in ("echelon_base_stock", "benchmark"))
    if params.supply_line == "shipped":
        averaged = ("moving_average",) if params.opponents.startswith("moving_average") else ()
        published = ("base_stock", "smoothing,weeks=4", *averaged, "fallback")
        return (*everywhere, *published, "order_up_to", echelon, "foresight")
    # The textbook level: demand over the lead time and the week until the next order.
    target = (params.order_delay + params.ship_delay + 1) * level
    base_stock = f"base_stock,target={target}"
    return (*everywhere, base_stock, "sterman", alone, "order_up_to", echelon, "foresight")
