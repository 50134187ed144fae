"""How near does a cross-entropy search through Gymnasium come to the textbook in the Beer Game?"""

import gymnasium
import numpy as np
from numpy.typing import NDArray

from desim import play
from desim.statistics import interval
from models.beer_game import BeerGame

ID, PRESET, OTHERS = "desim.adapters.gymnasium:desim/BeerGame-v0", "poisson", "order_up_to"
TRAINING, HELD_OUT = range(8), range(1_000, 1_100)
STAGES = ("wholesaler", "distributor", "factory")


def score(env: gymnasium.Env, weights: NDArray[np.float64], seed: int) -> float:
    """Play a rule: a base, a share of the demand, and of inventory and supply less backlog."""
    (seen, _), total, over = env.reset(seed=seed), 0.0, False
    while not over:
        position = seen["inventory"] + seen["supply_line"] - seen["backlog"]
        units = max(0, round(weights @ [1, seen["incoming_order"], position]))
        seen, reward, over, _, _ = env.step({"do": "order", "quantity": units})
        total += reward
    return total


def search(env: gymnasium.Env, generations: int = 8, rules: int = 32) -> NDArray[np.float64]:
    """Return the mean of the last elite, a fifth of the rules of its generation."""
    draw, mean, spread = np.random.default_rng(0), np.array([10, 0.5, -0.5]), np.array([10, 1, 0.5])
    for _ in range(generations):
        drawn = draw.normal(mean, spread, (rules, 3))
        scores = [np.mean([score(env, rule, seed) for seed in TRAINING]) for rule in drawn]
        elite = drawn[np.argsort(scores)[-rules // 5 :]]
        mean, spread = elite.mean(axis=0), elite.std(axis=0)
    return mean


def main() -> None:
    """Search on a few seeds; play what was found, and two known rules, on a hundred others."""
    env = gymnasium.make(ID, preset=PRESET, seat="retailer", others=OTHERS)
    found = search(env)
    print("found: {:.1f} {:+.2f} demand {:+.2f} position".format(*found))
    results = {"cross-entropy": [score(env, found, seed) for seed in HELD_OUT]}
    for name in ("random", "order_up_to"):
        lineup = {"retailer": name, **dict.fromkeys(STAGES, OTHERS)}
        results[name] = [play(BeerGame.preset(PRESET), lineup, s).score for s in HELD_OUT]
    for name, each in ((name, interval(scores)) for name, scores in results.items()):
        print(f"{name:14}{each.mean:7.0f} [{each.low:.0f}, {each.high:.0f}]")


if __name__ == "__main__":
    main()
