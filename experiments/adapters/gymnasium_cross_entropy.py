"""How near does a cross-entropy search through Gymnasium come to the textbook in the Beer Game?"""

from collections.abc import Sequence

import gymnasium
import numpy as np
from numpy.typing import NDArray

from desim import play
from desim.statistics import interval
from models.beer_game import BeerGame

ID, PRESET, OTHERS = "desim.adapters.gymnasium:desim/BeerGame-v0", "poisson", "order_up_to"
TRAINING, HELD_OUT = range(8), range(1_000, 1_100)
STAGES = ("wholesaler", "distributor", "factory")

Array = NDArray[np.float64]


def scores(rules: Array, seeds: Sequence[int]) -> Array:
    """Play all rules on all seeds at once, and return the scores by rule and seed.

    A rule is a base, a share of the demand, and of inventory and supply less backlog.
    """
    count = len(rules) * len(seeds)
    envs = gymnasium.make_vec(ID, num_envs=count, preset=PRESET, seat="retailer", others=OTHERS)
    base, of_demand, of_position = np.repeat(rules, len(seeds), axis=0).T
    (seen, _), total, over = envs.reset(seed=[*seeds] * len(rules)), np.zeros(count), False
    while not over:
        position = seen["inventory"] + seen["supply_line"] - seen["backlog"]
        orders = base + of_demand * seen["incoming_order"] + of_position * position
        units = np.maximum(0, np.rint(orders).astype(int))
        seen, rewards, ended, _, _ = envs.step({"do": "order", "quantity": units})
        total, over = total + rewards, ended.all()
    return total.reshape(len(rules), len(seeds))


def search(generations: int = 8, rules: int = 32) -> Array:
    """Return the mean of the last elite, a fifth of the rules of its generation."""
    draw, mean, spread = np.random.default_rng(0), np.array([10, 0.5, -0.5]), np.array([10, 1, 0.5])
    for _ in range(generations):
        drawn = draw.normal(mean, spread, (rules, 3))
        elite = drawn[np.argsort(scores(drawn, TRAINING).mean(axis=1))[-rules // 5 :]]
        mean, spread = elite.mean(axis=0), elite.std(axis=0)
    return mean


def main() -> None:
    """Search on a few seeds; play what was found, and two known rules, on a hundred others."""
    found = search()
    print("found: {:.1f} {:+.2f} demand {:+.2f} position".format(*found))
    results = {"cross-entropy": scores(found[None], HELD_OUT)[0].tolist()}
    for name in ("random", "order_up_to"):
        lineup = {"retailer": name, **dict.fromkeys(STAGES, OTHERS)}
        results[name] = [play(BeerGame.preset(PRESET), lineup, s).score for s in HELD_OUT]
    for name, each in ((name, interval(each)) for name, each in results.items()):
        print(f"{name:14}{each.mean:7.0f} [{each.low:.0f}, {each.high:.0f}]")


if __name__ == "__main__":
    main()
