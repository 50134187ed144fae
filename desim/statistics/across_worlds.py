"""Alternatives compared over several worlds on the same seeds: means, differences, ranks.

There are two questions, with different answers. *These worlds*: how do the alternatives compare on
just these worlds, if other seeds were drawn? Then seeds are resampled within each world. *Worlds
like these*: how would they compare on other worlds, of which these are a sample? Then worlds are
resampled, each whole with its seeds. Its mean already varies with its seeds, so that to resample
seeds as well would count their noise twice.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray
from scipy import special

from desim.errors import UsageError
from desim.statistics.bootstrap import FEWEST_REPLICATIONS, resampled_weights
from desim.statistics.intervals import checked_level
from desim.statistics.ranks import rank_intervals
from desim.statistics.variance import runs_needed

Array = NDArray[np.float64]

#: By alternative and world, the value of each seed; on a common scale, higher is better.
Scores = Mapping[str, Mapping[str, Mapping[Hashable, float]]]


@frozen
class AcrossWorlds:
    """Alternatives over several worlds, which count alike.

    Attributes:
        names: The alternatives, in the order in which they were given.
        worlds: The worlds in which all of them have at least two common seeds.
        seeds: The number of common seeds of each world.
        means: The mean of each alternative over the worlds.
        low: Lower ends of the intervals of the means, each for itself.
        high: Upper ends.
        ranks: The lowest and the highest rank of each that the data leave possible, all together;
            1 is the best.
        halves: By two alternatives, in the order of *names*, half of the interval of their
            difference; all of them hold together.
        needed: By two alternatives, the seeds in each world that would tell them apart; None for no
            difference, or for more than `MOST_RUNS`.
        drawn: Whether the worlds count as a sample of worlds.
        level: The level of the intervals and of all ranks together.
    """

    names: tuple[str, ...]
    worlds: tuple[str, ...]
    seeds: tuple[int, ...]
    means: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    ranks: tuple[tuple[int, int], ...]
    halves: Mapping[tuple[str, str], float]
    needed: Mapping[tuple[str, str], int | None]
    drawn: bool
    level: float = 0.95


def across_worlds(
    scores: Scores,
    level: float = 0.95,
    *,
    drawn: bool = False,
    replications: int = FEWEST_REPLICATIONS,
    seed: int = 0,
) -> AcrossWorlds | None:
    """Compare alternatives over the worlds and seeds that all of them have.

    Standard errors are those of the rescaling bootstrap, which draws one value less than there are
    and so is unbiased for few seeds (Rao and Wu 1988, Resampling inference with complex survey
    data, Journal of the American Statistical Association 83, 231-241). All intervals of differences
    hold together by the bootstrap's largest studentised difference (Romano and Wolf 2005,
    Econometrica 73, 1237-1282), or with fewer than 12 drawn worlds by Bonferroni's inequality; its
    probability is that of Student's t, with Satterthwaite's degrees of freedom. Ranks follow from
    the differences by the method of `ranks.ranked`.

    Args:
        scores: By alternative and world, the value of each seed, on one scale.
        level: The level, above 0 and below 1.
        drawn: Whether the worlds are a sample of worlds, and not all that the question is about.
        replications: Bootstrap samples, 2,000 to a million.
        seed: Seed of the bootstrap; equal seeds give equal results.

    Returns:
        None for fewer than two alternatives, or without a world in which all have two common
        seeds; with *drawn*, without two such worlds.

    Raises:
        UsageError: A value is not finite, or an argument is out of range.
    """
    checked_level(level)
    names = tuple(scores)
    values = _common(scores)
    if len(names) < 2 or len(values) < 1 + drawn:  # noqa: PLR2004 (a comparison)
        return None
    within = _Samples([*values.values()])
    pairs = [*combinations(range(len(names)), 2)]
    if drawn:
        samples = _Samples([np.array([each.mean(axis=0) for each in values.values()])])
        tail = (1 - level) / len(pairs)
    else:
        samples, tail = within, _joint_tail(within, pairs, level, (replications, seed))
    means, alone = samples.mean, [samples.half([*row], 1 - level) for row in np.eye(len(names))]
    halves = {pair: samples.half(_contrast(len(names), *pair), tail) for pair in pairs}
    above = {(i, j): bool(means[i] - means[j] > half) for (i, j), half in halves.items()}
    above |= {(j, i): bool(means[j] - means[i] > half) for (i, j), half in halves.items()}
    return AcrossWorlds(
        names,
        tuple(values),
        tuple(len(each) for each in values.values()),
        tuple(means.tolist()),
        tuple(float(m - half) for m, half in zip(means, alone, strict=True)),
        tuple(float(m + half) for m, half in zip(means, alone, strict=True)),
        tuple(rank_intervals(above, len(names))),
        {(names[i], names[j]): half for (i, j), half in halves.items()},
        {(names[i], names[j]): within.seeds_needed(_contrast(len(names), i, j)) for i, j in pairs},
        drawn,
        level,
    )


def _common(scores: Scores) -> dict[str, Array]:
    """Return by world the values of the seeds that all have, a row a seed, a column an alternative.

    Worlds with fewer than two such seeds are left out.
    """
    found: dict[str, Array] = {}
    every = [*scores.values()]
    for world in every[0] if every else ():
        if all(world in each for each in every):
            seeds = [s for s in every[0][world] if all(s in each[world] for each in every)]
            values = np.array([[each[world][s] for each in every] for s in seeds], np.float64)
            if len(seeds) > 1:
                found[world] = values
    if not all(np.isfinite(each).all() for each in found.values()):
        raise UsageError("a value is not finite; leave it out or mend the figure")
    return found


def _contrast(count: int, mine: int, theirs: int) -> list[float]:
    weights = [0.0] * count
    weights[mine], weights[theirs] = 1.0, -1.0
    return weights


@frozen
class _Samples:
    """Strata that count alike, each with rows of paired values.

    Attributes:
        strata: Arrays of at least two rows, a column an alternative.
    """

    strata: Sequence[Array]

    @property
    def mean(self) -> Array:
        """The mean over strata of each column."""
        return np.asarray(np.mean([each.mean(axis=0) for each in self.strata], axis=0))

    def variances(self, contrast: Sequence[float]) -> Array:
        """Return by stratum the variance of a weighted sum of the columns, of one row."""
        return np.array([(each @ np.asarray(contrast)).var(ddof=1) for each in self.strata])

    def error(self, contrast: Sequence[float]) -> tuple[float, float]:
        """Return the standard error of a weighted sum of means, and its degrees of freedom."""
        sizes = np.array([len(each) for each in self.strata])
        shares = self.variances(contrast) / sizes / len(self.strata) ** 2
        squares = float((shares**2 / (sizes - 1)).sum())
        whole = float(shares.sum())
        return whole**0.5, whole**2 / squares if squares else 1.0

    def half(self, contrast: Sequence[float], tail: float) -> float:
        """Return half of an interval that misses with a probability, by Student's t."""
        error, freedom = self.error(contrast)
        return float(special.stdtrit(freedom, 1 - tail / 2)) * error if error else 0.0

    def seeds_needed(self, contrast: Sequence[float]) -> int | None:
        """Return the rows of each stratum that tell a weighted sum of means from 0."""
        variance = float(self.variances(contrast).sum()) / len(self.strata) ** 2
        return runs_needed(float(self.mean @ np.asarray(contrast)), variance)

    def deviations(self, replications: int, seed: int) -> Iterator[Array]:
        """Yield blocks of bootstrap means less the means, a row a sample."""
        sizes = [len(each) for each in self.strata]
        rows = np.vstack(self.strata)
        for weights in resampled_weights(sizes, replications, seed, fewer=1):
            yield weights @ rows - self.mean


def _joint_tail(
    samples: _Samples,
    pairs: Sequence[tuple[int, int]],
    level: float,
    bootstrap: tuple[int, int],
) -> float:
    """Return the probability with which each interval may miss so that all hold together."""
    columns = len(samples.mean)
    errors = np.array([samples.error(_contrast(columns, *pair))[0] for pair in pairs])
    varied = [k for k, error in enumerate(errors) if error > 0]
    if not varied:
        return 1 - level
    mine, theirs = np.array([pairs[k] for k in varied]).T
    largest: list[Any] = [
        (np.abs(each[:, mine] - each[:, theirs]) / errors[varied]).max(axis=1)
        for each in samples.deviations(*bootstrap)
    ]
    critical = float(np.quantile(np.concatenate(largest), level))
    # Neither less than one interval alone nor more than Bonferroni's inequality asks for.
    return min(1 - level, max(2 * float(special.ndtr(-critical)), (1 - level) / len(pairs)))
