"""What does a trainer of TRL see of a world? Rollouts of a month with random orders.

With a GPU the same class goes to TRL, whose dataset has a column `seed`:

    GRPOTrainer(model, train_dataset=dataset, environment_factory=environment("beer_game", ...))
"""

import random

from desim.adapters.trl import environment

#: Rollouts of a group, which TRL compares with one another: one seed, different actions.
GROUP = 4


def main() -> None:
    """Print the first prompt, and the rewards of two groups."""
    month = environment("beer_game", "poisson", seat="retailer", others="order_up_to", max_days=28)
    chance = random.Random(1)  # noqa: S311 (no secret)
    for seed in (1000, 1001):
        for number in range(GROUP):
            rollout = month()
            prompt = rollout.reset(seed=seed, prompt="ignored, as every other column is")
            if (seed, number) == (1000, 0):
                print(f"{prompt[:300]} ...\n\ntool order: {month.order.__doc__}\n")
            said = ""
            while not said.startswith("The episode is over."):
                said = rollout.order(quantity=chance.randrange(12))
            steps = " ".join(f"{each:+.1f}" for each in rollout.rewards)
            print(f"seed {seed}, rollout {number}: {steps}, together {rollout.get_reward():+.1f}")


if __name__ == "__main__":
    main()
