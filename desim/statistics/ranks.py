"""Ranks of policies with intervals, and the comparison of each with the best of the others."""

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from itertools import permutations
from typing import TypeVar

from attrs import frozen

from desim.errors import UsageError
from desim.statistics.clusters import clustered_mean
from desim.statistics.intervals import moments, t_quantile
from desim.statistics.pairing import Values, welch_error

#: Difference of the means of two alternatives, its standard error, and the degrees of freedom.
_Pair = tuple[float, float, float]

_BySeed = Mapping[Hashable, float]

_V = TypeVar("_V")


@frozen
class RankedMean:
    """The place of one alternative among all.

    Attributes:
        mean: The mean of its values.
        ranks: The lowest and the highest rank that the data leave possible; 1 is the best.
        to_best: The ends of the interval of its mean less the highest mean of the others; None
            without a comparison.
        may_be_best: Whether the data leave it possible that no other mean is higher.
    """

    mean: float
    ranks: tuple[int, int]
    to_best: tuple[float, float] | None
    may_be_best: bool


def ranked(
    values: Sequence[Values],
    alpha: float = 0.05,
    *,
    paired: bool = True,
    clusters: Sequence[Hashable] | Mapping[Hashable, Hashable] = (),
) -> list[RankedMean]:
    """Return intervals of the ranks and of the differences to the best, in the given order.

    All rank intervals hold together with probability 1 - *alpha* (Bonferroni over all pairs), and
    so do all intervals to the best. Noise widens an interval; it moves no alternative up.

    Sources: Mohamad, Goeman and van Zwet (2019), simultaneous ranks from pairwise differences; Hsu
    (1984), Constrained simultaneous confidence intervals for multiple comparisons with the best,
    Annals of Statistics 12, 1136-1144; with Bonferroni for unequal variances and common random
    numbers (Yang and Nelson 1991; Nelson and Matejcik 1995).

    Args:
        values: The values of each alternative, the higher the better; with *paired*, in one order
            of seeds, or by seed: a pair is then compared on the seeds that both have.
        alpha: Probability that any interval misses, above 0 and below 1.
        paired: Whether the values share their seeds; otherwise Welch's standard errors are used.
        clusters: The cluster of each seed, where seeds share cases, given as the values are; empty
            for none. For paired values.

    Raises:
        UsageError: No alternative is given, one has no value, a value is not finite, or paired
            values differ in number.
    """
    if not values:
        raise UsageError("there is nothing to rank")
    by_seed = [_by_seed(each) for each in values]
    listed = {len(each) for each in values if not isinstance(each, Mapping)}
    if paired and len(listed) > 1:
        counts = " and ".join(str(len(each)) for each in values)
        raise UsageError(f"{counts} values cannot be paired; give equally many")
    means = [moments([*each.values()])[0] for each in by_seed]
    count = len(values)
    if count == 1:
        return [RankedMean(means[0], (1, 1), None, may_be_best=True)]
    pair = partial(_paired, _by_seed(clusters)) if paired else _welch
    pairs = {(i, j): pair(by_seed[i], by_seed[j]) for i, j in permutations(range(count), 2)}
    ranks = _rank_intervals(pairs, count, alpha)
    ends, best = _to_best(pairs, count, alpha)
    lines = zip(means, ranks, ends, range(count), strict=True)
    return [RankedMean(mean, rank, end, i in best) for mean, rank, end, i in lines]


def _rank_intervals(
    pairs: dict[tuple[int, int], _Pair], count: int, alpha: float
) -> list[tuple[int, int]]:
    """Return the lowest and the highest possible rank of each."""
    probability = 1 - alpha / (count * (count - 1))
    is_above = (d > _half(probability, error, freedom) for d, error, freedom in pairs.values())
    above = [pair for pair, known in zip(pairs, is_above, strict=True) if known]
    better, worse = Counter(j for _, j in above), Counter(i for i, _ in above)
    return [(1 + better[i], count - worse[i]) for i in range(count)]


def _to_best(
    pairs: dict[tuple[int, int], _Pair], count: int, alpha: float
) -> tuple[list[tuple[float, float]], set[int]]:
    """Return the interval of each alternative to the best other, and those that may be best."""
    half = {
        key: _half(1 - alpha / (count - 1), error, freedom)
        for key, (_, error, freedom) in pairs.items()
    }
    upper = [min(pairs[i, j][0] + half[i, j] for j in range(count) if j != i) for i in range(count)]
    best = {i for i in range(count) if upper[i] >= 0}
    ends = []
    for i in range(count):
        rivals = best - {i}
        low = min((pairs[i, j][0] - half[j, i] for j in rivals), default=0.0)
        ends.append((min(0.0, low), max(0.0, upper[i])))
    return ends, best


def _half(probability: float, error: float, freedom: float) -> float:
    if math.isinf(error):
        return math.inf
    return t_quantile(probability, freedom) * error if error else 0.0


def _by_seed(values: Sequence[_V] | Mapping[Hashable, _V]) -> Mapping[Hashable, _V]:
    return values if isinstance(values, Mapping) else dict[Hashable, _V](enumerate(values))


def _paired(clusters: Mapping[Hashable, Hashable], mine: _BySeed, theirs: _BySeed) -> _Pair:
    seeds = [seed for seed in mine if seed in theirs]
    if not seeds:
        return 0.0, math.inf, 1
    found = clustered_mean(
        [mine[seed] - theirs[seed] for seed in seeds], [clusters.get(s, (s,)) for s in seeds]
    )
    if found.se is None or found.freedom is None:
        return found.mean, math.inf, 1
    return found.mean, found.se, found.freedom


def _welch(mine: _BySeed, theirs: _BySeed) -> _Pair:
    one, other = [*mine.values()], [*theirs.values()]
    difference = moments(one)[0] - moments(other)[0]
    return difference, *(welch_error(one, other) or (math.inf, 1))
