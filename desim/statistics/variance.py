"""Variance between groups and within them, and the runs that separate two means."""

import math
from collections.abc import Sequence

from attrs import frozen

from desim.errors import UsageError
from desim.short_repr import short_repr
from desim.statistics.intervals import fewest, t_quantile

#: Groups from which a variance between them is estimated, at least.
_FEWEST_GROUPS = 2

#: The largest number of runs that `runs_needed` returns.
MOST_RUNS = 100_000

#: The probability with which so many runs find the difference.
_LEAST_POWER = 0.8


@frozen
class VarianceComponents:
    """The two variances of values that were drawn in groups.

    Attributes:
        between: Variance of the groups' true means; 0 if the estimate is negative.
        within: Variance of values around the mean of their group.
        negative: Whether the estimate of *between* is negative, and 0 stands for it.
    """

    between: float
    within: float
    negative: bool


def variance_components(groups: Sequence[Sequence[float]]) -> VarianceComponents | None:
    """Estimate the variance between groups and within them, which need not be equally large.

    The model is the one-way layout with random groups: a value is the overall mean, plus the effect
    of its group (variance *between*), plus an error of its own (variance *within*). Both mean
    squares of the analysis of variance are set equal to their expectations (method of moments).
    Where *between* is small its estimate is negative by chance; then it is 0, as usual, and said.

    Source: Searle, Casella and McCulloch (1992), Variance Components, section 3.6.

    Empty groups are left out. None where either variance cannot be estimated: there are fewer than
    two groups, or none has two values.

    Raises:
        UsageError: A value is not finite.

    >>> variance_components([[1.0, 3.0], [5.0, 7.0]])
    VarianceComponents(between=7.0, within=2.0, negative=False)
    """
    groups = [group for group in groups if group]
    sizes = [len(group) for group in groups]
    count, n = len(groups), sum(sizes)
    if not all(math.isfinite(value) for group in groups for value in group):
        raise UsageError("a value is not finite; leave it out or mend the figure")
    if count < _FEWEST_GROUPS or n == count:
        return None
    means = [math.fsum(group) / len(group) for group in groups]
    whole = math.fsum(value for group in groups for value in group) / n
    inside = math.fsum(
        (value - mean) ** 2 for mean, group in zip(means, groups, strict=True) for value in group
    )
    outside = math.fsum(size * (mean - whole) ** 2 for mean, size in zip(means, sizes, strict=True))
    within = inside / (n - count)
    size = (n - sum(size**2 for size in sizes) / n) / (count - 1)
    between = (outside / (count - 1) - within) / size
    return VarianceComponents(max(0.0, between), within, between < 0)


def runs_needed(difference: float, variance: float, samples: int = 1) -> int | None:
    """Return the runs after which a true difference of means is found with probability 0.8.

    It is found where the 95 % interval of Student's t around the estimate excludes 0; the
    probability of this is that of the noncentral t distribution. Values are taken as normal, and
    the variance as known, which an estimate from few runs is not: the number is an orientation.

    Source: Cohen (1988), Statistical Power Analysis for the Behavioral Sciences, chapter 2.

    Args:
        difference: The true difference; its sign does not matter.
        variance: Variance of a paired difference, or with two samples the sum of both variances.
        samples: 1 for pairs that share a seed, 2 for independent runs of both alternatives.

    Returns:
        The number of pairs, or of runs of each alternative, at least 2; None if the difference is
        0 or takes more than `MOST_RUNS`.

    Raises:
        UsageError: The difference or the variance is not finite, or the variance is below 0.

    >>> runs_needed(1.0, 1.0), runs_needed(1.0, 2.0, samples=2), runs_needed(0.0, 1.0)
    (10, 17, None)
    """
    if not (math.isfinite(difference) and 0 <= variance < math.inf):
        text = f"difference {short_repr(difference)} and variance {short_repr(variance)} were given"
        raise UsageError(f"{text}; both are finite, and a variance is at least 0")
    if difference == 0:
        return None

    def found(n: int) -> bool:
        shift = abs(difference) * math.sqrt(n / variance) if variance else math.inf
        return _power(shift, samples * (n - 1)) >= _LEAST_POWER

    return fewest(found, MOST_RUNS)


def _power(shift: float, freedom: int) -> float:
    """Return the probability that a noncentral t is beyond the quantile on the side of its shift.

    A result on the other side has the wrong sign and finds nothing.
    """
    from scipy.special import nctdtr, ndtr

    quantile = t_quantile(0.975, freedom)
    below = float(nctdtr(freedom, shift, quantile))
    # For a large shift the series of the noncentral t underflows; the normal law is exact there.
    return 1 - (below if math.isfinite(below) else float(ndtr(quantile - shift)))
