"""How much do our rules gain by tuning, on seeds they were not tuned on, and what limits them?

The worlds are those that boards play first: `capped`, which refuses requests above 50 million
dollars, and `regime`, the same with a macro history of its own for every seed. What limits a rule
stands in the last column: where an argument ends on an edge of its range, the range limits the
result, not the world. Below that bound the score still grows with the amounts requested, since the
size of a request does not change its odds.
"""

from collections.abc import Mapping

import click
from beside import table
from rich.console import Console
from rich.table import Table
from tuning import Box, Tuned, tune

from desim.statistics.intervals import Interval

#: Range of every tuned argument by policy, in dollars or shares.
BOXES: Mapping[str, Box] = {
    "raise_below": {"floor": (5e6, 60e6), "amount": (5e6, 60e6)},
    "treasurer": {
        "floor": (5e6, 150e6),
        "surge": (0.2, 1.5),
        "least": (5e6, 50e6),
        "debt_worth": (0.0, 1.0),
    },
    # Above the bound every request is refused.
    "raise_when_free": {"amount": (5e6, 60e6)},
}


@click.command()
@click.option("--preset", multiple=True, default=("capped", "regime"), show_default=True)
@click.option("--policy", multiple=True, type=click.Choice(list(BOXES)), help="All by default.")
@click.option("--training", default=20, show_default=True, help="Training seeds, from 0.")
@click.option("--held-out", default=60, show_default=True, help="Held-out seeds, from 10,000.")
@click.option("--generations", default=3, show_default=True, help="Generations after the first.")
@click.option("--jobs", default=1, show_default=True, help="Worker processes.")
def main(
    preset: tuple[str, ...],
    policy: tuple[str, ...],
    training: int,
    held_out: int,
    generations: int,
    jobs: int,
) -> None:
    """Print the tuned arguments in each world, and their gain on held-out seeds."""
    out = Console(highlight=False, width=160)
    seeds, others = range(training), range(10_000, 10_000 + held_out)
    rows = table("policy", "preset", "tuned", "training", "held out", "gain", "optimism", "of gain")
    rows.add_column("on the edge")
    for spec in policy or BOXES:
        for world in preset:
            tuned = tune(
                f"enterprise_arena/{world}",
                spec,
                BOXES[spec],
                seeds,
                others,
                members=4,
                generations=generations,
                jobs=jobs,
            )
            add(rows, tuned, world)
    out.print(rows)
    out.print(f"millions; training seeds 0 to {training - 1}")
    out.print(f"held-out seeds 10000 to {10_000 + held_out - 1}; gain: held out, paired by seed")
    out.print("optimism: training less held out, of the score and of the gain")


def add(rows: Table, tuned: Tuned, world: str) -> None:
    """Add the row of one search."""
    name, _, arguments = tuned.best.partition(",")
    rows.add_row(
        name,
        world,
        arguments.replace(",", "\n"),
        millions(tuned.training.score),
        millions(tuned.held_out.score),
        millions(tuned.held_out.gain),
        f"{tuned.optimism / 1e6:.1f}",
        f"{tuned.optimism_of_gain / 1e6:.1f}",
        ", ".join(tuned.edges) or "nothing",
    )


def millions(mean: Interval) -> str:
    """Return a mean and half its 95 % interval as text, in millions."""
    half = "" if mean.half is None else f" ± {mean.half / 1e6:.1f}"
    return f"{mean.mean / 1e6:.1f}{half}"


if __name__ == "__main__":  # spawn imports this file again
    main()
