"""What are an enterprise's departments worth, alone and to each other?

The group is played with every subset of its departments on the same seeds, under the line-up
`tuned`. A department alone adds what it earns with a treasury behind it; added last, what it earns
beside the others. The Shapley value is its mean contribution over all orders in which departments
can join (Shapley 1953), so that the values sum to what all departments add to the treasury.
"""

from collections.abc import Mapping
from itertools import chain, combinations
from math import factorial

import click

from desim import Rows, sweep
from desim.statistics.intervals import interval
from models.enterprise import Enterprise
from policies.heuristics.enterprise import lineups

MILLION = 1e6

Worths = Mapping[int, float]  #: Net worth at the end by seed, millions of dollars.


@click.command()
@click.option("--preset", default="group", type=click.Choice(list(Enterprise.presets)))
@click.option("--seeds", default=20, show_default=True, help="Seeds of every subset, from 0.")
@click.option("--jobs", default=1, show_default=True, help="Worker processes.")
def main(preset: str, seeds: int, jobs: int) -> None:
    """Print what each department adds alone, added last, and on average over all orders."""
    names = [name for name in Enterprise.preset(preset).models if name != "treasury"]
    subsets = map(frozenset, chain(*(combinations(names, n) for n in range(len(names) + 1))))
    everyone, worths = frozenset(names), {}
    print(f"{preset}, {seeds} seeds: net worth at the end, millions of dollars [95 % interval]")
    for one in subsets:
        rows = played(preset, everyone - one, seeds, jobs)
        worths[one] = {row["seed"]: row["score"] / MILLION for row in rows}
        alive = f"{len(rows.where(ended='horizon'))} of {seeds} to the horizon"
        print(f"treasury {' '.join(n for n in names if n in one):26} {text(worths[one])}, {alive}")
    print("\nwhat a department adds")
    for name in names:
        alone = less(worths[frozenset({name})], worths[frozenset()])
        last = less(worths[everyone], worths[everyone - {name}])
        value = shapley(name, names, worths)
        print(f"{name:12} alone {text(alone)}, last {text(last)}, Shapley value {text(value)}")
        print(f"{'':12} last, less alone {text(less(last, alone))}")


def played(preset: str, closed: frozenset[str], seeds: int, jobs: int) -> Rows:
    """Return the episodes of the group without some of its departments."""
    group = Enterprise.preset(preset, **dict.fromkeys(closed))
    return sweep(group, [lineups(group)["tuned"]], range(seeds), jobs=jobs)


def shapley(name: str, names: list[str], worths: Mapping[frozenset[str], Worths]) -> Worths:
    """Return the mean contribution of a department over all orders, seed by seed."""
    n = len(names)
    total = dict.fromkeys(worths[frozenset()], 0.0)
    for others in (one for one in worths if name not in one):
        weight = factorial(len(others)) * factorial(n - len(others) - 1) / factorial(n)
        for seed, gain in less(worths[others | {name}], worths[others]).items():
            total[seed] += weight * gain
    return total


def less(mine: Worths, theirs: Worths) -> Worths:
    """Return the differences of the same seeds."""
    return {seed: mine[seed] - theirs[seed] for seed in mine}


def text(worths: Worths) -> str:
    """Return the mean, with its interval if its ends differ as printed."""
    found = interval(list(worths.values()))
    low, high = (f"{found.mean if end is None else end:z.2f}" for end in (found.low, found.high))
    return f"{found.mean:z7.2f}" + (f" [{low}, {high}]" if low != high else "")


if __name__ == "__main__":
    main()
