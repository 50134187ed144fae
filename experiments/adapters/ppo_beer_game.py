"""What does PPO learn in the Beer Game through Gymnasium, compared with the textbook's rules?

    pip install 'desim[gymnasium]' stable-baselines3
    python experiments/adapters/ppo_beer_game.py

It trains on many games at once, played as arrays, and prints the mean scores on held-out seeds.
After 200,000 steps the chain scores -545 [-562, -528] with the learnt retailer, -690 [-718, -661]
with `order_up_to`, and -769 with the best base stock.
"""

# ruff: noqa: ARG002 (the methods are those of Stable-Baselines3)

import time
from typing import Any

import gymnasium
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

from desim import play
from desim.statistics import interval
from models.beer_game import BeerGame

ID, STAGES = "desim.adapters.gymnasium:desim/BeerGame-v0", ("wholesaler", "distributor", "factory")
SEAT = {"preset": "poisson", "seat": "retailer", "others": "order_up_to", "flat": True}

#: Seeds that no training episode has, games at once, and steps of training.
HELD_OUT, GAMES, STEPS = range(2**33, 2**33 + 100), 64, 200_000

#: The space of orders: 0 to 12 units.
ORDERS = gymnasium.spaces.Discrete(13)

RULES = ("order_up_to", *(f"base_stock,target={target}" for target in (14, 16, 18)), "sterman")


class Games(VecEnv):
    """Games on arrays as Stable-Baselines3 takes them; all end in the same week."""

    def __init__(self, count: int) -> None:
        self.games = gymnasium.make_vec(ID, num_envs=count, **SEAT)
        super().__init__(count, self.games.single_observation_space, ORDERS)

    def reset(self) -> Any:
        return self.games.reset()[0]

    def step_async(self, actions: Any) -> None:
        self.orders = actions

    def step_wait(self) -> Any:
        order = {"do": "order", "quantity": self.orders}
        seen, rewards, over, _, _ = self.games.step(order)
        if not over.all():
            return seen, rewards, over, [{} for _ in over]
        infos = [{"terminal_observation": row} for row in seen]
        return self.reset(), rewards, over, infos

    def close(self) -> None:
        self.games.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self.games, attr_name)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None: ...

    def env_method(self, method_name: str, *args: Any, **options: Any) -> list[Any]:
        return []

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * self.num_envs


def trained() -> tuple[PPO, VecNormalize]:
    """Train and return the model with the scales of its observations; print its pace."""
    envs = VecNormalize(Games(GAMES), gamma=0.99)
    model = PPO("MlpPolicy", envs, n_steps=52, batch_size=256, gamma=0.99, ent_coef=0.01, seed=1)
    began = time.process_time()
    model.learn(STEPS)
    pace = STEPS / (time.process_time() - began)
    print(f"{pace:,.0f} steps a second of processor time, {GAMES} games at once", flush=True)
    return model, envs


def scores(model: PPO, scales: VecNormalize) -> list[float]:
    """Play the learnt policy on the held-out seeds, all at once."""
    games = gymnasium.make_vec(ID, num_envs=len(HELD_OUT), **SEAT)
    seen, infos = games.reset(seed=list(HELD_OUT))
    while "score" not in infos:
        orders, _ = model.predict(scales.normalize_obs(seen), deterministic=True)
        seen, _, _, _, infos = games.step({"do": "order", "quantity": orders})
    return infos["score"].tolist()


def main() -> None:
    """Train, and compare the policy with rules on held-out seeds."""
    torch.set_num_threads(1)
    results = {"PPO": scores(*trained())}
    for rule in RULES:
        lineup = {"retailer": rule, **dict.fromkeys(STAGES, "order_up_to")}
        results[rule] = [play(BeerGame.preset("poisson"), lineup, each).score for each in HELD_OUT]
    for name, each in results.items():
        mean = interval(each)
        print(f"{name:22}{mean.mean:7.0f} [{mean.low:.0f}, {mean.high:.0f}]")


if __name__ == "__main__":
    main()
