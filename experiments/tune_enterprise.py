"""Which limits of the cash pool, and which way of raising funds, make a group worth most?

Every combination of a grid plays the same training seeds (common random numbers); the best one and
the line-up `laissez_faire` are played once more on held-out seeds. The other seats keep their
rules.

`policies/heuristics/enterprise` holds what this prints with its default arguments.
"""

from itertools import product

import click

from desim import Rows, sweep
from desim.statistics.pairing import paired
from models.enterprise import Enterprise
from policies.heuristics.enterprise import lineups

#: Training and held-out seeds; boards and examples use small seeds, which are in neither.
TRAINING, HELD_OUT = 10_000, 20_000

POOLS = [
    f"cash_pool,months={months},least={least},slack={slack}"
    for months, least, slack in product((1, 2, 3), (50_000, 100_000, 200_000), (2, 4))
]
FUNDS = (
    "never_raise",
    "raise_below,floor=300000,amount=1000000",
    "raise_when_free,amount=1000000",
)


@click.command()
@click.option("--preset", default="group", type=click.Choice(list(Enterprise.presets)))
@click.option("--training", default=4, show_default=True, help="Training seeds, from 10,000.")
@click.option("--held-out", default=20, show_default=True, help="Held-out seeds, from 20,000.")
def main(preset: str, training: int, held_out: int) -> None:
    """Print the ten best combinations, and the best one on held-out seeds."""
    group = Enterprise.preset(preset)
    others = lineups(group)["tuned"]
    candidates = [
        {**others, "controller": pool, "treasury.cfo": funds}
        for pool, funds in product(POOLS, FUNDS)
    ]
    rows = sweep(group, candidates, range(TRAINING, TRAINING + training), jobs=2)
    means = {name: sum(own) / len(own) for name, own in scores(rows).items()}
    ranked = sorted(means, key=means.__getitem__, reverse=True)
    best = candidates[list(means).index(ranked[0])]
    print(f"{preset}: mean net worth on {training} training seeds, dollars")
    for name in ranked[:10]:
        print(f"{means[name]:14,.0f}  {seats(name)}")
    last = sweep(group, [best, "laissez_faire"], range(HELD_OUT, HELD_OUT + held_out), jobs=2)
    tuned, alone = scores(last).values()
    print(f"the best on {held_out} held-out seeds: {sum(tuned) / held_out:,.0f}")
    print(f"gain over laissez_faire, paired: {paired(tuned, alone)}")


def scores(rows: Rows) -> dict[str, list[float]]:
    """Return the scores of each policy in the order of the seeds, dollars."""
    return {str(name): own.values("score") for (name,), own in rows.groups("policy").items()}


def seats(label: str) -> str:
    """Return the part of a label that the grid varies."""
    return " ".join(text for text in label.split() if text.startswith(("controller", "treasury")))


if __name__ == "__main__":
    main()
