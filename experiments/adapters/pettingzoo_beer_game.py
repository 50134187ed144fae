"""What does it cost if the four stages of the Beer Game act through PettingZoo, and as rules?"""

from typing import Any

from desim import play
from desim.adapters.pettingzoo import SeatsEnv
from desim.statistics import interval
from models.beer_game import BeerGame

STAGES, LEVEL, SEEDS = ("retailer", "wholesaler", "distributor", "factory"), 20, range(50)


def up_to(seen: dict[str, Any]) -> dict[str, Any]:
    """Order what the inventory position lacks to the level."""
    position = seen["inventory"] + seen["supply_line"] - seen["backlog"]
    return {"do": "order", "quantity": max(0, round(LEVEL - position))}


def main() -> None:
    """Print the mean cost of the chain over seeds, with intervals; both are the same."""
    env, costs = SeatsEnv("beer_game", "poisson", seats=STAGES), []
    for seed in SEEDS:
        seen, infos = env.reset(seed=seed)
        while env.agents:
            seen, _, _, _, infos = env.step({agent: up_to(seen[agent]) for agent in env.agents})
        costs.append(-infos["retailer"]["score"])
    rules = dict.fromkeys(STAGES, f"order_up_to,target={LEVEL}")
    ruled = [-play(BeerGame.preset("poisson"), rules, seed).score for seed in SEEDS]
    for name, each in (("through PettingZoo", costs), ("order_up_to", ruled)):
        found = interval(each)
        print(f"{name:20}{found.mean:8.1f} [{found.low:.1f}, {found.high:.1f}]")


if __name__ == "__main__":
    main()
