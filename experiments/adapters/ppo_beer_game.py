"""What does PPO learn in the Beer Game through Gymnasium, compared with the textbook's rules?

    pip install 'desim[gymnasium]' stable-baselines3 matplotlib
    python experiments/adapters/ppo_beer_game.py FOLDER

It trains for two minutes on one thread, and writes the curve (`curve.csv`, `curve.svg`), the mean
scores on held-out seeds (`scores.csv`), and the learnt policy's episode of the first of these seeds
(`episode.jsonl.gz`), which `desim replay` plays again.
"""

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from desim import play
from desim.adapters.gymnasium import SeatEnv
from desim.statistics import interval
from models.beer_game import BeerGame

PRESET, SEAT, OTHERS = "poisson", "retailer", "order_up_to"
STAGES = ("wholesaler", "distributor", "factory")

#: Seeds that no training episode has: those of the curve, and those of the comparison.
CURVE_SEEDS, HELD_OUT = range(2**32, 2**32 + 20), range(2**33, 2**33 + 100)

#: The targets of base stock among which the best is chosen, and the seeds for that.
TARGETS, TUNING_SEEDS = range(10, 41), range(40)

#: Steps between two points of the curve, and points.
STEPS, POINTS = 10_240, 12

#: Orders go from 0 to one less.
ORDERS = 13


class Orders(gymnasium.ActionWrapper[Any, Any, Any]):
    """Orders of 0 to 12 units as `Discrete`."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self.action_space = gymnasium.spaces.Discrete(ORDERS)

    def action(self, action: Any) -> dict[str, Any]:
        """Return the order of a number."""
        return {"do": "order", "quantity": int(action)}


def seat() -> Any:
    """Return the retailer, who observes the numbers alone."""
    return Orders(SeatEnv("beer_game", PRESET, seat=SEAT, others=OTHERS, flat=True))


def scores(model: Any, seen: Any, seeds: Sequence[int], record: Path | None = None) -> list[float]:
    """Play the learnt policy on seeds; the first episode is recorded."""
    found = []
    for seed in seeds:
        env, over, total = seat(), False, 0.0
        first = {"record": str(record)} if record and seed == seeds[0] else {}
        observation, _ = env.reset(seed=seed, options=first)
        while not over:
            action, _ = model.predict(seen.normalize_obs(observation), deterministic=True)
            observation, reward, over, _, _ = env.step(action)
            total += reward
        env.close()
        found.append(total)
    return found


def trained(folder: Path) -> tuple[Any, Any, list[tuple[int, float]]]:
    """Train and return the model, the scales of its observations, and the curve."""
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    torch.set_num_threads(1)
    envs = VecNormalize(DummyVecEnv([seat] * 8), gamma=0.99)
    model = PPO("MlpPolicy", envs, n_steps=256, batch_size=256, gamma=0.99, ent_coef=0.01, seed=1)
    curve = [(0, float(np.mean(scores(model, envs, CURVE_SEEDS))))]
    for point in range(1, POINTS + 1):
        model.learn(STEPS, reset_num_timesteps=False)
        curve.append((point * STEPS, float(np.mean(scores(model, envs, CURVE_SEEDS)))))
        print(f"{curve[-1][0]:9,} steps: {curve[-1][1]:7.0f}", flush=True)
    with (folder / "curve.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("steps", "score"), *curve])
    return model, envs, curve


def draw(curve: Sequence[tuple[int, float]], rules: dict[str, float], path: Path) -> None:
    """Draw the curve, with the rules as lines."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "desim"})
    figure = Figure((6.4, 4.0), layout="constrained")
    panel = figure.subplots()
    panel.plot(*zip(*curve, strict=True), marker="o", label="PPO, 20 seeds")
    for place, (name, score) in enumerate(rules.items()):
        panel.axhline(score, color=f"C{place + 1}", linestyle="--", label=f"{name}, 100 seeds")
    panel.set(xlabel="training steps", ylabel="mean score of the chain (money)", ylim=(-2000, 0))
    panel.legend(loc="lower right")
    figure.savefig(path, metadata={"Date": None})


def rule_scores(rule: str, seeds: Sequence[int]) -> list[float]:
    """Play a rule in the seat, with the same policies around it."""
    lineup = {SEAT: rule, **dict.fromkeys(STAGES, OTHERS)}
    return [play(BeerGame.preset(PRESET), lineup, seed).score for seed in seeds]


def tuned_rule() -> str:
    """Return base stock with the target of the highest mean score on other seeds."""
    rules = [f"base_stock,target={target}" for target in TARGETS]
    return max(rules, key=lambda rule: float(np.mean(rule_scores(rule, TUNING_SEEDS))))


def main() -> None:
    """Train, draw the curve, and compare the policy with rules on held-out seeds."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    model, seen, curve = trained(folder)
    results = {"PPO": scores(model, seen, HELD_OUT, folder / "episode.jsonl.gz")}
    for rule in (tuned_rule(), "order_up_to", "sterman"):
        results[rule] = rule_scores(rule, HELD_OUT)
    means = {name: interval(each) for name, each in results.items()}
    with (folder / "scores.csv").open("w", newline="") as file:
        lines = [(name, each.n, each.mean, each.low, each.high) for name, each in means.items()]
        csv.writer(file).writerows([("policy", "seeds", "mean", "low", "high"), *lines])
    for name, each in means.items():
        print(f"{name:22}{each.mean:7.0f} [{each.low:.0f}, {each.high:.0f}]")
    rules = {name: each.mean for name, each in means.items() if name != "PPO"}
    draw(curve, rules, folder / "curve.svg")


if __name__ == "__main__":
    main()
