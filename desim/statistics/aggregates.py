"""One figure over several worlds, with intervals by the stratified bootstrap.

Scores are normalised by world before, for instance to 0 for a floor and 1 for the best known.
Worlds count alike, however many seeds each was played on.

Source: Agarwal, Schwarzer, Castro, Courville and Bellemare (2021), Deep reinforcement learning at
the edge of the statistical precipice, Advances in Neural Information Processing Systems 34.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from desim.errors import UsageError
from desim.short_repr import short_repr
from desim.statistics.bootstrap import FEWEST_REPLICATIONS, Estimate, bootstrapped, strata

Array = NDArray[np.float64]

#: Seeds of the scores of a policy, world by world; the numbers of seeds may differ.
Worlds = Sequence[Sequence[float]]

#: Thresholds of one profile.
_MOST_THRESHOLDS = 1_000


@frozen
class Profile:
    """The share of episodes with a score above each threshold.

    Attributes:
        thresholds: In the order in which they were given.
        shares: One for each threshold, 0 to 1.
        low: Lower ends of the intervals; each holds for its own threshold only.
        high: Upper ends.
        level: The level of the intervals.
    """

    thresholds: tuple[float, ...]
    shares: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    level: float = 0.95


def interquartile_mean(
    worlds: Worlds, level: float = 0.95, *, replications: int = FEWEST_REPLICATIONS, seed: int = 0
) -> Estimate:
    """Return the mean of the middle half of all scores.

    Half the weight of all episodes is left out, a quarter at each end. An episode on the border
    counts with a part of its weight, so the figure is that of a trimmed mean where the number of
    episodes is a multiple of four and each world has as many.

    Args:
        worlds: Normalised scores of each world.
        level: Level of the percentile interval, above 0 and below 1.
        replications: Bootstrap samples, 2,000 to a million.
        seed: Seed of the bootstrap; equal seeds give equal intervals.

    Raises:
        UsageError: A world has no score, a score is not finite, or an argument is out of range.

    >>> interquartile_mean([[0.0, 1.0, 2.0, 3.0], [1.0, 1.0, 2.0, 90.0]]).value
    1.5
    """
    values = strata(worlds)
    figure = tail_mean(np.concatenate(values), 0.25, 0.75)
    return _estimate(figure, values, level, replications, seed)


def optimality_gap(
    worlds: Worlds,
    goal: float = 1.0,
    level: float = 0.95,
    *,
    replications: int = FEWEST_REPLICATIONS,
    seed: int = 0,
) -> Estimate:
    """Return the mean shortfall of scores below a goal; scores above it count as the goal.

    Args:
        worlds: Normalised scores of each world.
        goal: The normalised score above which a higher score does not count.
        level: See `interquartile_mean`, also for *replications* and *seed*.
        replications: Bootstrap samples.
        seed: Seed of the bootstrap.

    Raises:
        UsageError: See `interquartile_mean`; or the goal is not finite.

    >>> optimality_gap([[0.5, 1.5], [0.0, 1.0]]).value
    0.375
    """
    if not math.isfinite(goal):
        raise UsageError(f"goal {short_repr(goal)} was given; a goal is finite")
    values = strata(worlds)
    gaps = np.maximum(goal - np.concatenate(values), 0)
    return _estimate(lambda weights: weights @ gaps, values, level, replications, seed)


def performance_profile(
    worlds: Worlds,
    thresholds: Sequence[float],
    level: float = 0.95,
    *,
    replications: int = FEWEST_REPLICATIONS,
    seed: int = 0,
) -> Profile:
    """Return the share of episodes with a score above each threshold.

    Args:
        worlds: Normalised scores of each world.
        thresholds: Finite, at most 1,000.
        level: See `interquartile_mean`, also for *replications* and *seed*.
        replications: Bootstrap samples.
        seed: Seed of the bootstrap.

    Raises:
        UsageError: See `interquartile_mean`; or *thresholds* is empty, too long, or contains one
            that is not finite.

    >>> performance_profile([[0.2, 0.4], [0.6, 0.8]], [0.1, 0.4, 0.9]).shares
    (1.0, 0.5, 0.0)
    """
    if not 1 <= len(thresholds) <= _MOST_THRESHOLDS or not all(map(math.isfinite, thresholds)):
        text = f"{len(thresholds)} thresholds were given; there are 1 to {_MOST_THRESHOLDS:,}"
        raise UsageError(f"{text}, all finite")
    values = strata(worlds)
    above = (np.concatenate(values)[:, None] > np.asarray(thresholds)).astype(np.float64)
    sizes = [one.size for one in values]
    found = bootstrapped(lambda weights: weights @ above, sizes, level, replications, seed)
    shares, low, high = (tuple(each.tolist()) for each in found)
    return Profile(tuple(thresholds), shares, low, high, level)


def improvement(
    mine: Worlds,
    theirs: Worlds,
    level: float = 0.95,
    *,
    paired: bool = False,
    replications: int = FEWEST_REPLICATIONS,
    seed: int = 0,
) -> Estimate:
    """Return the probability that a score is higher than another policy's in the same world.

    For each world the share of all pairs of an episode of one and an episode of the other in which
    the first is higher, a tie counting half (Mann and Whitney); then the mean over worlds.

    Args:
        mine: Scores of each world.
        theirs: The other policy's, worlds in the same order.
        level: See `interquartile_mean`, also for *replications* and *seed*.
        paired: Whether the two have the same seeds in the same order; then a bootstrap sample
            draws seeds, each with both scores. Otherwise it draws from each policy on its own.
        replications: Bootstrap samples.
        seed: Seed of the bootstrap.

    Returns:
        *n* counts the scores of the first policy.

    Raises:
        UsageError: See `interquartile_mean`; or the numbers of worlds, or with *paired* of seeds,
            differ.

    >>> improvement([[1.0, 3.0]], [[2.0, 3.0]]).value
    0.375
    """
    if len(mine) != len(theirs):
        raise UsageError(f"{len(mine)} and {len(theirs)} worlds were given; give the same ones")
    own, other = strata(mine), strata(theirs)
    sizes, others = ([one.size for one in each] for each in (own, other))
    if paired and sizes != others:
        raise UsageError(f"{sizes} and {others} scores were given; pairs need as many")
    wins = [_wins(a, b) for a, b in zip(own, other, strict=True)]
    # One stratum for each policy and world; with pairs the weights of both are the same.
    drawn = sizes if paired else [*sizes, *others]
    figure = _Improvement(wins, paired=paired)
    value, low, high = bootstrapped(figure, drawn, level, replications, seed)
    return Estimate(float(value), float(low), float(high), sum(sizes), level)


def tail_mean(values: Array, start: float, end: float) -> Callable[[Array], Array]:
    """Return the figure, by rows of weights, that is the mean between two shares of the order.

    Args:
        values: One for each column of the weights.
        start: The share of weight, from the lowest value on, at which the mean begins.
        end: The share at which it ends.
    """
    order = np.argsort(values, kind="stable")
    ascending = values[order]

    def figure(weights: Array) -> Array:
        reached = np.cumsum(weights[:, order], axis=1).clip(start, end)
        inside = np.diff(reached, axis=1, prepend=start)
        return np.asarray(inside @ ascending / (end - start))

    return figure


@frozen
class _Improvement:
    """The mean over worlds of the weighted share of pairs that are won."""

    wins: Sequence[Array]
    paired: bool

    def __call__(self, weights: Array) -> Array:
        sizes = [len(each) for each in self.wins]
        others = sizes if self.paired else [each.shape[1] for each in self.wins]
        count = len(self.wins)
        own = np.split(weights, np.cumsum(sizes), axis=1)[:count]
        rest = weights if self.paired else weights[:, sum(sizes) :]
        other = np.split(rest, np.cumsum(others), axis=1)[:count]
        shares = [
            (a @ each * b).sum(axis=1) / (a.sum(axis=1) * b.sum(axis=1))
            for a, each, b in zip(own, self.wins, other, strict=True)
        ]
        return np.asarray(np.mean(shares, axis=0))


def _wins(mine: Array, theirs: Array) -> Array:
    """Return 1 if a score is higher, one half if both are equal, 0 if it is lower."""
    difference = np.sign(mine[:, None] - theirs[None, :])
    return np.asarray((1 + difference) / 2)


def _estimate(
    figure: Callable[[Array], Array],
    values: Sequence[Array],
    level: float,
    replications: int,
    seed: int,
) -> Estimate:
    sizes = [one.size for one in values]
    value, low, high = bootstrapped(figure, sizes, level, replications, seed)
    return Estimate(float(value), float(low), float(high), sum(sizes), level)
