"""What does the retailer of the Beer Game observe through Gymnasium, and what do two rules cost?"""

import gymnasium

from desim.statistics import interval

ID, SEEDS = "desim.adapters.gymnasium:desim/BeerGame-v0", range(50)


def cost(env: gymnasium.Env, level: int | None, seed: int) -> float:
    """Return the cost of ordering up to a level, or as much as was ordered (None)."""
    (seen, _), over, info = env.reset(seed=seed), False, {}
    while not over:
        position = seen["inventory"] + seen["supply_line"] - seen["backlog"]
        units = int(seen["incoming_order"]) if level is None else max(0, level - int(position))
        seen, _, over, _, info = env.step({"do": "order", "quantity": units})
    return -float(info["score"])


def main() -> None:
    """Print the action space, the first observation, and the mean cost of each rule over seeds."""
    env = gymnasium.make(ID, preset="poisson", seat="retailer", others="order_up_to")
    print("actions:", env.action_space)
    for name, value in env.reset(seed=0)[0].items():
        print(f"  {name:18}{value}")
    for name, level in (("what was ordered", None), ("up to 20 units", 20)):
        found = interval([cost(env, level, seed) for seed in SEEDS])
        print(f"{name:20}{found.mean:8.1f} [{found.low:.1f}, {found.high:.1f}]")


if __name__ == "__main__":
    main()
