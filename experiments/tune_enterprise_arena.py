"""How much better do our rules get by tuning, on seeds they were not tuned on, and what stops them?

Without a cap on what a request brings (SPEC section 8.3) the score grows with the amounts that are
asked for, so every rule is tuned in both worlds: as it is, and with `max_raise_multiple=0.75`. The
last rows ask for absurd amounts. What bounds them: without the cap nothing but the range of the
search; with it the number of rounds that close, for each lets book equity, and with it the cap,
grow by up to three quarters, while the chance of the next falls by a quarter.
"""

from collections.abc import Mapping

import click
from beside import table
from rich.console import Console
from rich.table import Table

from desim.stats import Interval
from models.enterprise_arena import EnterpriseArena
from policies.heuristics.enterprise_arena.tuning import Box, Tuned, tune

#: What is tuned, and where: dollars and shares.
BOXES: Mapping[str, Box] = {
    "raise_below": {"floor": (5e6, 60e6), "amount": (5e6, 60e6)},
    "treasurer": {"floor": (5e6, 60e6), "surge": (0.2, 1.5), "debt_worth": (0.0, 1.0)},
    # Equity whenever free, of absurd amounts: is anything else than the range a bound?
    "raise_when_free": {"amount": (20e6, 1e9)},
}
#: Most that a request brings, in multiples of book equity.
CAPS = (None, 0.75)


@click.command()
@click.option("--preset", default="paper", show_default=True, help="Profile of the model.")
@click.option("--policy", multiple=True, type=click.Choice(list(BOXES)), help="All by default.")
@click.option("--training", default=20, show_default=True, help="Seeds 0, 1, ... to tune on.")
@click.option("--held-out", default=60, show_default=True, help="Seeds after 10,000 to report on.")
@click.option("--generations", default=3, show_default=True, help="Of the search, after the first.")
@click.option("--jobs", default=2, show_default=True, help="Worker processes.")
def main(
    preset: str,
    policy: tuple[str, ...],
    training: int,
    held_out: int,
    generations: int,
    jobs: int,
) -> None:
    """Print what tuning found, in which world, and what it is worth on other seeds."""
    out = Console(highlight=False, width=160)
    seeds, others = range(training), range(10_000, 10_000 + held_out)
    rows = table("policy", "cap", "found", "training", "held out", "gain", "optimism", "of gain")
    rows.add_column("on the edge")
    for spec in policy or BOXES:
        for cap in CAPS:
            model = EnterpriseArena.preset(preset, max_raise_multiple=cap)
            found = tune(
                model,
                spec,
                BOXES[spec],
                seeds,
                others,
                members=4,
                generations=generations,
                jobs=jobs,
            )
            add(rows, found, cap)
    out.print(rows)
    out.print(f"profile {preset}; millions; training seeds 0 to {training - 1}")
    out.print(f"held-out seeds 10000 to {10_000 + held_out - 1}; gain: held out, paired by seed")
    out.print("optimism: training less held out, of the score and of the gain")


def add(rows: Table, found: Tuned, cap: float | None) -> None:
    """Write what one search found."""
    name, _, arguments = found.found.partition(",")
    rows.add_row(
        name,
        "none" if cap is None else f"{cap:g}",
        arguments.replace(",", "\n"),
        millions(found.training.score),
        millions(found.held_out.score),
        millions(found.held_out.gain),
        f"{found.optimism / 1e6:.1f}",
        f"{found.optimism_of_gain / 1e6:.1f}",
        ", ".join(found.edges) or "nothing",
    )


def millions(told: Interval) -> str:
    """Write a mean and half its 95 % interval."""
    half = "" if told.half is None else f" ± {told.half / 1e6:.1f}"
    return f"{told.mean / 1e6:.1f}{half}"


if __name__ == "__main__":  # spawn imports this file again
    main()
