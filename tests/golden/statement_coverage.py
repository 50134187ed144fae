"""Writes `coverage.tsv`: how often the statements of boards, `compare` and `select` are true.

Draws samples whose truth is known, and counts: `python tests/golden/statement_coverage.py --write`.
"""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
from attrs import frozen
from support.until_narrow import until_chosen, until_narrow

from desim.show.console import console
from desim.show.table import Table
from desim.statistics.clusters import clustered_mean, clustered_share
from desim.statistics.elimination import Elimination
from desim.statistics.intervals import interval
from desim.statistics.normalised import normalised
from desim.statistics.ranks import ranked
from desim.statistics.sequences import ScoreRange
from desim.statistics.stopping import Goal

Rng = np.random.Generator

#: Values that one may look at until the interval is narrow, and until a choice is made.
MOST_UNTIL, MOST_SELECT = 2_000, 8_000

HEADS = ("statement", "scores", "n or method", "true in", "seeds", "stated")


@frozen
class Scores:
    """A distribution of scores whose mean is known.

    Attributes:
        draw: Draws a number of values.
        mean: The true mean.
        bounds: No value is outside.
        goal: Half the width that is wanted.
        is_share: Whether the width is a share of the mean.
    """

    draw: Callable[[Rng, int], np.ndarray[Any, np.dtype[np.float64]]]
    mean: float
    bounds: ScoreRange
    goal: float
    is_share: bool = False


def disaster(rng: Rng, n: int, size: float, chance: float, rest: float = 0.0) -> Any:
    """Return normal values; some are lower by *size*."""
    return rng.normal(rest, 1, n) - size * (rng.random(n) < chance)


SCORES = {
    "normal": Scores(lambda rng, n: rng.normal(0, 1, n).clip(-5, 5), 0, ScoreRange(-5, 5), 0.15),
    "lognormal": Scores(
        lambda rng, n: rng.lognormal(0, 1, n).clip(0, 30), math.exp(0.5), ScoreRange(0, 30), 0.3
    ),
    "half are 0": Scores(
        lambda rng, n: (rng.normal(60, 10, n) * (rng.random(n) < 0.5)).clip(0, 100),
        30,
        ScoreRange(0, 100),
        5,
    ),
    "5 % less 10": Scores(
        lambda rng, n: disaster(rng, n, 10, 0.05).clip(-15, 5), -0.5, ScoreRange(-15, 5), 0.4
    ),
    "1 with 5 %": Scores(
        lambda rng, n: np.where(rng.random(n) < 0.05, 1.0, 0.05),
        0.0975,
        ScoreRange(0, 1.1),
        0.05,
        is_share=True,
    ),
}

#: Candidates for a selection: draws values of each, the index of the best, delta and their range.
CANDIDATES: dict[str, tuple[Callable[[Rng, int], Any], int, float, ScoreRange]] = {
    "normal, 0.3 apart": (
        lambda rng, n: [rng.normal(mean, 1, n).clip(-6, 6) for mean in (0.6, 0.3, 0.0)],
        0,
        0.3,
        ScoreRange(-6, 6),
    ),
    "disaster of 5 %": (
        lambda rng, n: [
            rng.normal(0, 0.5, n).clip(-13, 3),
            *(
                (rng.normal(0.2, 0.5, n) - 10 * (rng.random(n) < 0.05)).clip(-13, 3)
                for _ in range(2)
            ),
        ],
        0,
        0.3,
        ScoreRange(-13, 3),
    ),
}

#: Six policies on shared seeds: true means and spreads.
MEANS, SPREADS = (0, 0, 0.5, 0.5, 1, 2), (1, 3, 1, 0.5, 1, 1.5)

#: Sizes of clusters, with effects of standard deviation 1 between and within.
CLUSTERS = {
    "2 clusters of 10": [10, 10],
    "6 clusters 4,4,3,3,3,3": [4, 4, 3, 3, 3, 3],
    "6 clusters 10,4,2,2,1,1": [10, 4, 2, 2, 1, 1],
    "20 clusters of 3": [3] * 20,
}

#: Truth values: clusters, values in each, their share, and the correlation within.
SHARES = {
    "14 items x 6, 0.8": (14, 6, 0.8, 0.4),
    "84 items once, 0.9": (84, 1, 0.9, 0.0),
    "6 cases x 4, 0.5": (6, 4, 0.5, 0.3),
    "20 items x 3, 0.97": (20, 3, 0.97, 0.4),
}


@click.command()
@click.option("--trials", default=2_000, show_default=True, type=click.IntRange(2))
@click.option("--write", is_flag=True, help="Also write the golden table.")
def main(trials: int, *, write: bool) -> None:
    """Print how often each statement is true."""
    lines = [*coverage(trials)]
    console().print(Table(HEADS, [[*line] for line in lines], (0, 1, 2)))
    if write:
        texts = ["\t".join(HEADS), *("\t".join(map(str, line)) for line in lines)]
        Path(__file__).with_name("coverage.tsv").write_text(
            "\n".join(texts) + "\n", encoding="utf-8"
        )


def coverage(trials: int) -> Iterator[tuple[Any, ...]]:
    """Yield the lines of the table: shares to three digits, seeds as their mean."""
    for name, scores in SCORES.items():
        for n in (20, 60, 200):
            held = [holds(interval(scores.draw(rng, n)), scores) for rng in streams(name, trials)]
            yield "interval at a fixed n", name, n, share(held), n, 0.95
    for name, scores in SCORES.items():
        for bounds in (None, scores.bounds):
            yield until_line(name, scores, bounds, trials)
    for name in CANDIDATES:
        for with_range in (False, True):
            yield select_line(name, trials, with_range=with_range)
    for n in (10, 20, 60):
        yield from rank_lines(n, trials)
    yield from cluster_lines(trials)
    held = [ratio_holds(rng) for rng in streams("ratio", trials)]
    yield "normalised score", "floor and ceiling vary", 20, share(held), 20, 0.95


def streams(name: str, trials: int) -> Iterator[Rng]:
    """Yield a generator for each trial."""
    for number in range(trials):
        yield np.random.default_rng([*name.encode(), number])


def share(held: list[bool]) -> float:
    """Return the share that is true, to three digits."""
    return round(sum(held) / len(held), 3)


def holds(found: Any, scores: Scores) -> bool:
    """Return whether an interval contains the true mean."""
    return found.low is not None and bool(found.low <= scores.mean <= found.high)


def until_line(
    name: str, scores: Scores, bounds: ScoreRange | None, trials: int
) -> tuple[Any, ...]:
    """Return how often the interval of a stopped run holds the truth, and its seeds."""
    goal = Goal(scores.goal, is_share=scores.is_share, bounds=bounds)
    found = [until_narrow(scores.draw(rng, MOST_UNTIL), goal) for rng in streams(name, trials)]
    seeds = round(sum(one.seeds for one in found) / trials)
    method = "t sequence" if bounds is None else "betting"
    held = [holds(one, scores) for one in found]
    return "until narrow", name, method, share(held), seeds, 0.95


def select_line(name: str, trials: int, *, with_range: bool) -> tuple[Any, ...]:
    """Return how often a selection chooses the best, and its seeds."""
    draw, best, delta, bounds = CANDIDATES[name]
    found = []
    for rng in streams(name, trials):
        begun = Elimination(3, delta, bounds if with_range else None)
        found.append(until_chosen(draw(rng, MOST_SELECT), begun))
    seeds = round(sum(one.seeds for one in found) / trials)
    method = "betting" if with_range else "t sequence"
    return "selection", name, method, share([one.chosen == best for one in found]), seeds, 0.95


def rank_lines(n: int, trials: int) -> Iterator[tuple[Any, ...]]:
    """Yield how often all rank intervals, and all intervals to the best, hold together."""
    ranks, best = [], []
    for rng in streams(f"ranks {n}", trials):
        luck = rng.normal(0, 1, n) * math.sqrt(0.7)
        noise = [luck + rng.normal(0, 1, n) * math.sqrt(0.3) for _ in MEANS]
        values = [m + s * each for m, s, each in zip(MEANS, SPREADS, noise, strict=True)]
        lines = ranked(values)
        ranks.append(all(rank_holds(i, line.ranks) for i, line in enumerate(lines)))
        best.append(all(best_holds(i, line.to_best) for i, line in enumerate(lines)))
    yield "all ranks", "six policies, correlation 0.7", n, share(ranks), n, 0.95
    yield "all to the best", "six policies, correlation 0.7", n, share(best), n, 0.95


def rank_holds(index: int, ranks: tuple[int, int]) -> bool:
    """Return whether an interval holds all ranks that the true means leave to a policy."""
    above = sum(mean > MEANS[index] for mean in MEANS)
    ties = sum(mean == MEANS[index] for mean in MEANS)
    return ranks[0] <= above + 1 and above + ties <= ranks[1]


def best_holds(index: int, ends: tuple[float, float] | None) -> bool:
    """Return whether an interval holds the true difference to the best of the others."""
    truth = MEANS[index] - max(mean for i, mean in enumerate(MEANS) if i != index)
    return ends is not None and ends[0] <= truth <= ends[1]


def cluster_lines(trials: int) -> Iterator[tuple[Any, ...]]:
    """Yield how often clustered intervals of a mean and of a share hold."""
    for name, sizes in CLUSTERS.items():
        names = [number for number, size in enumerate(sizes) for _ in range(size)]
        held = []
        for rng in streams(name, trials):
            effects = rng.normal(0, 1, len(sizes))
            found = clustered_mean(effects[names] + rng.normal(0, 1, len(names)), names)
            held.append(found.low is not None and found.low <= 0 <= (found.high or 0))
        yield "clustered mean", name, len(names), share(held), len(names), 0.95
    for name, (count, each, p, correlation) in SHARES.items():
        names = [number for number in range(count) for _ in range(each)]
        held = []
        for rng in streams(name, trials):
            scale = 1 / correlation - 1 if correlation else math.inf
            chances = rng.beta(p * scale, (1 - p) * scale, count) if correlation else [p] * count
            truths = (rng.random(len(names)) < np.asarray(chances)[names]).astype(int)
            of_items = clustered_share(truths.tolist(), names)
            held.append(of_items.low is not None and of_items.low <= p <= (of_items.high or 0))
        yield "clustered share", name, len(names), share(held), len(names), 0.95


def ratio_holds(rng: Rng) -> bool:
    """Return whether the interval of a normalised score of 0.6 holds it."""
    floor = rng.normal(-400, 40, 20)
    ceiling = floor + rng.normal(250, 20, 20)
    scores = floor + 0.6 * (ceiling - floor) + rng.normal(0, 30, 20)
    found = normalised(scores, floor, ceiling)
    assert found
    assert found.low is not None
    return found.low <= 0.6 <= (found.high or 0)


if __name__ == "__main__":
    main()
