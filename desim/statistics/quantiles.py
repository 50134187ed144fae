"""Quantiles, and the mean of the worst share, with intervals."""

import math
from collections.abc import Sequence

import numpy as np
from attrs import frozen

from desim.errors import UsageError
from desim.short_repr import short_repr
from desim.statistics.aggregates import tail_mean
from desim.statistics.bootstrap import FEWEST_REPLICATIONS, Estimate, bootstrapped, strata
from desim.statistics.intervals import checked_level, t_quantile


@frozen
class QuantileInterval:
    """A quantile with an interval whose ends are values of the sample.

    Attributes:
        value: The quantile of the sample.
        low: Lower end of the interval; None where the values are too few to have one.
        high: Upper end; None where the values are too few to have one.
        n: The number of values.
        level: The requested level.
        coverage: The probability with which the interval holds the quantile of a continuous
            distribution; at least *level*. For a discrete one it is still larger.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    level: float
    coverage: float


def quantile(values: Sequence[float], share: float, level: float = 0.95) -> QuantileInterval:
    """Return the value below which a share of the distribution is, with its interval.

    The interval is from one order statistic to another one. How many values are below the quantile
    is binomial, whatever the distribution, so the interval is exact, and conservative: of all
    order statistics the innermost are taken beyond which at most half the remaining probability is
    at each side.

    Source: Conover (1999), Practical Nonparametric Statistics, 3.2.

    Args:
        values: Independent values.
        share: Share of the values below the quantile, above 0 and below 1; 0.5 is the median.
        level: Level of the interval, above 0 and below 1.

    Raises:
        UsageError: *values* is empty, one is not finite, or an argument is out of range.

    >>> found = quantile([3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.0, 3.5, 8.0, 7.0], 0.5)
    >>> found.value, found.low, found.high, f"{found.coverage:.3f}"
    (3.75, 1.5, 8.0, '0.979')
    """
    from scipy.special import bdtr

    tail = (1 - checked_level(level)) / 2
    if not 0 < share < 1:
        raise UsageError(f"share {short_repr(share)} was given; a share is above 0 and below 1")
    ordered = np.sort(strata([values])[0])
    n = ordered.size
    # at_most[k]: the probability that at most k of the values are below the quantile.
    at_most = bdtr(np.arange(n + 1), n, share)
    lower = int(np.searchsorted(at_most, tail, side="right"))
    upper = 1 + int(np.searchsorted(at_most, 1 - tail, side="left"))
    value = float(np.quantile(ordered, share))
    low = float(ordered[lower - 1]) if lower else None
    high = float(ordered[upper - 1]) if upper <= n else None
    beyond = (at_most[upper - 1] if upper <= n else 1) - (at_most[lower - 1] if lower else 0)
    return QuantileInterval(value, low, high, n, level, float(beyond))


def worst_mean(
    values: Sequence[float],
    share: float,
    level: float = 0.95,
    *,
    replications: int = FEWEST_REPLICATIONS,
    seed: int = 0,
) -> Estimate:
    """Return the mean of the lowest share of values: conditional value at risk, of scores.

    The value on the border counts with a part of its weight. The interval is the percentile
    interval of the bootstrap, widened as Student's interval is wider than the normal one for as
    many values as the share has; with few it is still too narrow, as no worse value is known than
    the sample's worst.

    Sources: Rockafellar and Uryasev (2002), Conditional value-at-risk for general loss
    distributions, Journal of Banking & Finance 26, 1443-1471; Hesterberg (2015), What teachers
    should know about the bootstrap, The American Statistician 69, 371-386 (expanded percentiles).

    Args:
        values: Independent values, higher is better.
        share: Above 0, at most 1; with 1 the mean of all.
        level: Level of the interval, above 0 and below 1.
        replications: Bootstrap samples, 2,000 to a million.
        seed: Seed of the bootstrap; equal seeds give equal intervals.

    Raises:
        UsageError: *values* is empty, one is not finite, or an argument is out of range.

    >>> worst_mean([5.0, -3.0, 1.0, 9.0], 0.5).value
    -1.0
    """
    if not 0 < share <= 1:
        raise UsageError(f"share {short_repr(share)} was given; it is above 0 and at most 1")
    own = strata([values])[0]
    figure = tail_mean(own, 0, share)
    wider = _expanded(checked_level(level), max(2, int(share * own.size)))
    value, low, high = bootstrapped(figure, [own.size], wider, replications, seed)
    return Estimate(float(value), float(low), float(high), own.size, level)


def _expanded(level: float, n: int) -> float:
    """Return the level at which the normal interval is as wide as Student's of *n* values."""
    from scipy.special import ndtr

    quantile_of_t = t_quantile((1 + level) / 2, n - 1) * math.sqrt(n / (n - 1))
    # A level is below 1; just below it, the ends are the extremes of all replications.
    return min(1 - 1e-12, 2 * float(ndtr(quantile_of_t)) - 1)
