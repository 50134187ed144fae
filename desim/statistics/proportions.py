"""Confidence intervals of shares of truth values, and of the difference of two paired ones.

Student's interval fails for rare events: at a rate of 3 % and 20 seeds, half of all samples hold no
event at all, and their interval is the point 0.
"""

import math
from collections.abc import Sequence

from desim.errors import UsageError
from desim.statistics.intervals import Interval, checked_level, moments


def are_truth_values(values: Sequence[float]) -> bool:
    """Return whether every value is 0 or 1, as truth values are."""
    return all(value in {0, 1} for value in values)


def check_truth_values(values: Sequence[float]) -> None:
    """Raise a `UsageError` if a value is neither 0 nor 1."""
    if not are_truth_values(values):
        raise UsageError("a share is of truth values; one of the values is neither 0 nor 1")


def share(values: Sequence[float], level: float = 0.95) -> Interval:
    """Return the share of values that are true with its Wilson score interval.

    Source: Wilson (1927), Probable inference, the law of succession, and statistical inference,
    Journal of the American Statistical Association 22, 209-212. The interval is inside of 0 to 1,
    and not symmetric about the share.

    Raises:
        UsageError: *values* is empty, one is neither 0 nor 1, or the level is out of range.

    >>> one = share([True] * 19 + [False])
    >>> print(f"{one.mean:.2f} from {one.low:.3f} to {one.high:.3f}")
    0.95 from 0.764 to 0.991
    """
    checked_level(level)
    mean, sd = moments(values)
    check_truth_values(values)
    n = len(values)
    return Interval(mean, sd, *wilson(mean, n, _normal_quantile((1 + level) / 2)), n, level)


def wilson(mean: float, n: float, quantile: float) -> tuple[float, float]:
    """Return the ends of the Wilson score interval of a share, inside of 0 to 1.

    *n* independent values, not always a whole number, and *quantile* standard errors to an end.
    """
    square = quantile * quantile
    middle = (mean + square / (2 * n)) / (1 + square / n)
    half = quantile / (1 + square / n) * math.sqrt(mean * (1 - mean) / n + square / (4 * n * n))
    # Rounding must not move an end past a share of 0 or 1.
    return max(0.0, min(middle - half, mean)), min(1.0, max(middle + half, mean))


def paired_share(mine: Sequence[float], theirs: Sequence[float], level: float = 0.95) -> Interval:
    """Return the difference of two shares that were observed on the same seeds.

    Source: Bonett and Price (2012), Adjusted Wald confidence interval for a difference of binomial
    proportions based on paired data, Journal of Educational and Behavioral Statistics 37, 479-488:
    one pair of each discordant kind is added, and the standard error is that of the enlarged table.

    The mean is the observed difference; the interval is inside of -1 to 1.

    Raises:
        UsageError: See `share`; or the numbers of values differ.

    >>> one = paired_share([1, 1, 1, 1, 1, 0], [1, 0, 0, 1, 0, 0])
    >>> print(f"{one.mean:.2f} from {one.low:.2f} to {one.high:.2f}")
    0.50 from -0.11 to 0.86
    """
    if len(mine) != len(theirs):
        raise UsageError(f"{len(mine)} and {len(theirs)} values were given; pairs need as many")
    checked_level(level)
    check_truth_values([*mine, *theirs])
    differences = [a - b for a, b in zip(mine, theirs, strict=True)]
    mean, sd = moments(differences)
    n = len(differences)
    better, worse = (1 + sum(d == sign for d in differences) for sign in (1, -1))
    p, q = better / (n + 2), worse / (n + 2)
    half = _normal_quantile((1 + level) / 2) * math.sqrt((p + q - (p - q) ** 2) / (n + 2))
    low, high = min(p - q - half, mean), max(p - q + half, mean)
    return Interval(mean, sd, max(-1.0, low), min(1.0, high), n, level)


def _normal_quantile(probability: float) -> float:
    # scipy.stats has the same function, but its import takes more than a second.
    from scipy.special import ndtri

    return float(ndtri(probability))
