"""Do our intervals cover as often as they say?

Draws samples whose truth is known, and counts how often each interval of `desim.statistics` holds
it. Variance components have no interval.
"""

from collections.abc import Callable
from math import sqrt
from typing import Any

import click
import numpy as np
from attrs import evolve, frozen

from desim.show.console import console
from desim.show.table import Table
from desim.statistics.intervals import Interval, interval
from desim.statistics.pairing import difference, simultaneous
from desim.statistics.proportions import paired_share, share

NOTE = """\
exact: covers as often as it says. at least: as often or more (Bonferroni).
waves: up and down around the level with the share and n, as counts are whole.
near: the normal law, close to the level with many values.
±: twice the standard error of the measured coverage."""

LEVEL = 0.95
Rng = np.random.Generator


@frozen
class Case:
    """One interval: its name, kind and n, the truth, and the function that draws one."""

    name: str
    kind: str
    n: str
    truth: float
    draw: Callable[[Rng], Any]


def normal(rng: Rng, *size: int) -> Any:
    """Return standard normal values as lists."""
    return rng.normal(size=size).tolist()


def paired(rng: Rng) -> Interval:
    """Return the difference of two that share the luck of each seed."""
    luck = rng.normal(0, 2, 20)
    return difference(*(luck + rng.normal(size=(2, 20))).tolist()).paired


def nine(rng: Rng) -> Interval:
    """Return that of nine intervals of identical rivals which is farthest from holding 0."""
    scores, level = normal(rng, 10, 20), simultaneous(LEVEL, 9)
    found = [difference(one, scores[0], level).paired for one in scores[1:]]
    return max(found, key=lambda one: abs(one.mean) / (one.half or 1))


def welch(rng: Rng) -> Interval:
    """Return the interval of two samples with different spreads that share no seeds."""
    found = difference(normal(rng, 20), rng.normal(0, 3, 20).tolist())
    mean, half = found.paired.mean, found.unpaired or 0
    return evolve(found.paired, low=mean - half, high=mean + half)


def luck(rng: Rng) -> Interval:
    """Return the difference of shares of 0.6 and 0.3 that depend on the same luck."""
    drawn = rng.random(40)
    return paired_share((drawn < 0.6).tolist(), (drawn < 0.3).tolist())


CASES = (
    Case("Student, mean", "exact", "20", 0, lambda r: interval(normal(r, 20))),
    Case("Student, paired", "exact", "20", 0, paired),
    Case("Student, skewed", "near", "40", 1, lambda r: interval(r.exponential(size=40).tolist())),
    Case("Welch, unpaired", "near", "20", 0, welch),
    Case("nine rivals together", "at least", "20", 0, nine),
    Case("Wilson, share 0.3", "waves", "40", 0.3, lambda r: share(list(r.random(40) < 0.3))),
    Case("Wilson, share 0.03", "waves", "20", 0.03, lambda r: share(list(r.random(20) < 0.03))),
    Case("Bonett and Price, pairs", "waves", "40", 0.3, luck),
)  # fmt: skip


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
