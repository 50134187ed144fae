"""The bootstrap as weights: how much each value counts in each replication."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from desim.errors import UsageError
from desim.short_repr import short_repr
from desim.statistics.intervals import checked_level

Array = NDArray[np.float64]

#: Fewer replications give no percentile interval that is worth its name.
FEWEST_REPLICATIONS = 2_000

#: More replications, and more values, are refused.
_MOST_REPLICATIONS, _MOST_VALUES = 1_000_000, 1_000_000

#: Weights that are in memory at a time.
_BLOCK = 2_000_000


@frozen
class Estimate:
    """A figure of a sample with its interval, which need not be symmetric.

    Attributes:
        value: The figure of the values as they are.
        low: Lower end of the interval; None if the values do not give one.
        high: Upper end; None if the values do not give one.
        n: The number of values.
        level: The level of the interval, above 0 and below 1.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    level: float = 0.95


def strata(worlds: Sequence[Sequence[float]]) -> list[Array]:
    """Return the values of each world as an array.

    Raises:
        UsageError: *worlds* is empty, a world is empty, a value is not finite, or the worlds have
            more than a million values.
    """
    found = [np.asarray(world, np.float64) for world in worlds]
    if not found or any(one.ndim != 1 or not one.size for one in found):
        raise UsageError("a world without values was given; each needs a list of at least one")
    if sum(one.size for one in found) > _MOST_VALUES:
        raise UsageError(f"more than {_MOST_VALUES:,} values were given; give fewer seeds")
    if not all(np.isfinite(one).all() for one in found):
        raise UsageError("a value is not finite; leave it out or mend the figure")
    return found


def equal_weights(sizes: Sequence[int]) -> Array:
    """Return the weights of the sample as it is: worlds count alike, and so do values in a world.

    >>> equal_weights([1, 2]).tolist()
    [[0.5, 0.25, 0.25]]
    """
    return np.concatenate([np.full(n, 1 / (len(sizes) * n)) for n in sizes])[None, :]


def resampled_weights(
    sizes: Sequence[int], replications: int, seed: int, *, fewer: int = 0
) -> Iterator[Array]:
    """Yield the weights of bootstrap samples, in blocks of rows that fit into memory.

    Within each world its values are drawn with replacement, as many as there are (strata, Efron
    and Tibshirani 1993, An Introduction to the Bootstrap, 8.3).

    Args:
        sizes: The number of values of each world.
        replications: The number of rows in all.
        seed: Seed of the generator; equal seeds give equal weights.
        fewer: By how many fewer values than there are each world is drawn.

    Raises:
        UsageError: *replications* is below `FEWEST_REPLICATIONS` or above a million, or the seed
            is negative.
    """
    if not FEWEST_REPLICATIONS <= replications <= _MOST_REPLICATIONS:
        raise UsageError(
            f"{short_repr(replications)} replications were given; there are "
            f"{FEWEST_REPLICATIONS:,} to {_MOST_REPLICATIONS:,}"
        )
    if seed < 0:
        raise UsageError(f"seed {short_repr(seed)} was given; a seed is at least 0")
    rng = np.random.default_rng(seed)
    rows = max(1, _BLOCK // sum(sizes))
    for start in range(0, replications, rows):
        count = min(rows, replications - start)
        yield np.hstack(
            [_counts(rng, n, count, n - fewer) / (len(sizes) * (n - fewer)) for n in sizes]
        )


def bootstrapped(
    figure: Callable[[Array], Array],
    sizes: Sequence[int],
    level: float,
    replications: int,
    seed: int,
) -> tuple[Array, Array, Array]:
    """Return a figure, or an array of several, with the ends of its percentile intervals.

    The ends are the quantiles of the figure over bootstrap samples. The interval covers as often
    as it says only with many values: below about twenty a world, less often.

    Args:
        figure: Maps rows of weights to one figure, or one array of figures, a row.
        sizes: See `resampled_weights`, also for *replications* and *seed*.
        level: Level of the interval, above 0 and below 1.
        replications: At least `FEWEST_REPLICATIONS`.
        seed: At least 0.

    Raises:
        UsageError: An argument is out of range.
    """
    tail = (1 - checked_level(level)) / 2
    value = figure(equal_weights(sizes))[0]
    drawn = np.concatenate([figure(w) for w in resampled_weights(sizes, replications, seed)])
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    return value, low, high


def _counts(rng: np.random.Generator, n: int, rows: int, draws: int) -> NDArray[Any]:
    """Return how often each of *n* values is drawn in each of some samples of so many draws."""
    drawn = rng.integers(0, n, (rows, draws), np.int32) + n * np.arange(rows)[:, None]
    return np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n)
