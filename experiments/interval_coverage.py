"""Do our intervals cover as often as they say?

Draws samples whose truth is known (`interval_cases.py`), and counts how often each interval of
`desim.statistics` holds it. Variance components have no interval.
"""

from math import sqrt
from typing import Any

import click
import numpy as np
from interval_cases import CASES, LEVEL, Case

from desim.show.console import console
from desim.show.table import Table

NOTE = """\
exact: covers as often as it says. at least: as often or more (ends are values, Bonferroni).
waves: up and down around the level with the share and n, as counts are whole.
near: the normal law or the bootstrap, close to the level with many values.
±: twice the standard error of the measured coverage."""


@click.command()
@click.option("--trials", default=2_000, show_default=True, type=click.IntRange(2))
def main(trials: int) -> None:
    """Print the measured coverage of each interval."""
    heads = ("interval", "kind", "n", "stated", "measured", "±")
    lines = []
    for case in CASES:
        covered = coverage(case, trials)
        error = 2 * sqrt(covered * (1 - covered) / trials)
        texts = f"{LEVEL:g}", f"{covered:.4f}", f"{error:.4f}"
        lines.append((case.name, case.kind, case.n, *texts))
    console().print(Table(heads, lines, (0, 1), legend=NOTE.splitlines()))


def coverage(case: Case, trials: int) -> float:
    """Return the share of samples whose interval holds the truth; a case has its own stream."""
    rng = np.random.default_rng([*case.name.encode()])
    return sum(holds(case.draw(rng), case.truth) for _ in range(trials)) / trials


def holds(found: Any, truth: float) -> bool:
    """Return whether an interval contains the truth; an end of None is unbounded."""
    return (found.low is None or found.low <= truth) and (found.high is None or truth <= found.high)


if __name__ == "__main__":
    main()
