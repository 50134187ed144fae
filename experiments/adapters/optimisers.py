"""Which order-up-to level is best for the retailer, by three optimisers on the same seeds?

SciPy and Optuna search 20 seeds; the levels that they find, and the default, are then played on
100 other seeds.
"""

import numpy as np
import optuna
from scipy.optimize import differential_evolution, minimize_scalar

import desim
from desim.statistics.intervals import interval

HELD_OUT = range(1_000, 1_100)


def main() -> None:
    """Search, and print the cost of each level on held-out seeds."""
    cost = desim.problem("beer_game/poisson", "base_stock", {"policy.target": "int:8:60"})
    line = minimize_scalar(lambda level: cost([level]), bounds=cost.bounds[0], method="bounded")
    options = {"maxiter": 10, "popsize": 8, "polish": False, "rng": 1}
    evolved = differential_evolution(cost, cost.bounds, integrality=cost.integrality, **options)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=1))
    study.optimize(
        lambda trial: cost.mean({"policy.target": trial.suggest_int("policy.target", 8, 60)}),
        n_trials=40,
    )
    found = {
        "bounded line search": cost.point([line.x]),
        "differential evolution": cost.point(evolved.x),
        "Optuna": study.best_params,
        "middle of the range": cost.point(np.mean(cost.bounds, axis=1)),
    }
    print(f"{'found by':22} level    score (mean of {len(HELD_OUT)} seeds, 95 % interval)")
    for name, point in found.items():
        score = interval(cost.scores(point, HELD_OUT))
        print(f"{name:22} {point['policy.target']:5} {score.mean:8.1f} +-{score.half:4.1f}")


if __name__ == "__main__":
    main()
