"""Means and shares of values that share a cluster, such as a case or an item.

Values of one cluster depend on each other: twenty seeds that draw six cases say about as much
as six seeds.
"""

import math
from collections.abc import Hashable, Sequence

from attrs import evolve, frozen

from desim.errors import UsageError
from desim.statistics.intervals import Interval, checked_level, moments, t_quantile
from desim.statistics.proportions import are_truth_values, wilson


@frozen
class ClusteredMean:
    """A mean or a share of values in clusters, with its interval.

    Attributes:
        mean: The mean of all values.
        se: Its standard error; None for a single cluster.
        freedom: Satterthwaite's degrees of freedom; None for a single cluster.
        low: Lower end of the interval; None for a single cluster.
        high: Upper end; None for a single cluster.
        n: The number of values.
        clusters: The number of clusters.
        level: The confidence level.
        effective: The number of independent values that say as much about a share; None for a mean
            and for a single cluster.
    """

    mean: float
    se: float | None
    freedom: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    level: float = 0.95
    effective: float | None = None


def clustered_mean(
    values: Sequence[float], clusters: Sequence[Hashable], level: float = 0.95
) -> ClusteredMean:
    """Return the mean of values in clusters with its interval.

    With clusters of one size this is Student's interval of the cluster means; with one value in
    each, that of the values.

    Source: Bell and McCaffrey (2002), Bias reduction in standard errors for linear regression with
    multi-stage samples, Survey Methodology 28, 169-181 (CR2, for a mean).

    Args:
        values: At least one.
        clusters: The cluster of each value.
        level: The confidence level, above 0 and below 1.

    Raises:
        UsageError: *values* is empty, a value is not finite, or the numbers of values differ.
    """
    checked_level(level)
    mean, _ = moments(values)
    groups = _grouped(values, clusters)
    n, count = len(values), len(groups)
    if count == 1:
        return ClusteredMean(mean, None, None, None, None, n, 1, level)
    se, freedom = _error(groups, mean, n)
    half = t_quantile((1 + level) / 2, freedom) * se
    return ClusteredMean(mean, se, freedom, mean - half, mean + half, n, count, level)


def clustered_share(
    values: Sequence[float], clusters: Sequence[Hashable], level: float = 0.95
) -> ClusteredMean:
    """Return the share of truth values in clusters with its interval.

    Wilson's interval with the effective number of values and Student's t.

    Sources: Wilson (1927), Journal of the American Statistical Association 22, 209-212; Korn and
    Graubard (1998), Survey Methodology 24, 193-201; Franco, Little, Louis and Slud (2019), Journal
    of Survey Statistics and Methodology 7, 334-364.

    Args:
        values: Each 0 or 1.
        clusters: The cluster of each value.
        level: The confidence level, above 0 and below 1.

    Raises:
        UsageError: *values* is empty, one is neither 0 nor 1, or the numbers of values differ.
    """
    if not are_truth_values(values):
        raise UsageError("a share is of truth values; one of the values is neither 0 nor 1")
    found = clustered_mean(values, clusters, level)
    p, n, count = found.mean, found.n, found.clusters
    if found.se is None or found.freedom is None:
        return found
    if found.se and 0 < p < 1:
        effective, freedom = min(n, n * p * (1 - p) / ((n - 1) * found.se**2)), found.freedom
    else:
        effective, freedom = float(count), count - 1.0
    low, high = wilson(p, effective, t_quantile((1 + level) / 2, freedom))
    return evolve(found, low=low, high=high, freedom=freedom, effective=effective)


def clustered_interval(
    values: Sequence[float], clusters: Sequence[Hashable], level: float, *, truth: bool = False
) -> Interval:
    """Return the mean of values in clusters as tables show it.

    Args:
        values: See `clustered_mean`.
        clusters: The cluster of each value.
        level: The confidence level, above 0 and below 1.
        truth: Whether the values come from truth values. Where each is 0 or 1, the interval is
            that of a share.

    Raises:
        UsageError: See `clustered_mean`.
    """
    estimate = clustered_share if truth and are_truth_values(values) else clustered_mean
    found = estimate(values, clusters, level)
    return Interval(found.mean, moments(values)[1], found.low, found.high, found.n, level)


def _grouped(values: Sequence[float], clusters: Sequence[Hashable]) -> list[list[float]]:
    if len(values) != len(clusters):
        raise UsageError(f"{len(values)} values and {len(clusters)} clusters were given")
    groups: dict[Hashable, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        groups.setdefault(cluster, []).append(value)
    return list(groups.values())


def _error(groups: Sequence[Sequence[float]], mean: float, n: int) -> tuple[float, float]:
    """Return the standard error of the mean and its degrees of freedom."""
    sums = [math.fsum(value - mean for value in group) for group in groups]
    sizes = [len(group) for group in groups]
    parts = (total**2 / (1 - size / n) for total, size in zip(sums, sizes, strict=True))
    # Equal values differ from their mean by rounding; their standard error measures that alone.
    constant = len({value for group in groups for value in group}) == 1
    error = 0.0 if constant else math.sqrt(math.fsum(parts)) / n
    ratios = [size**2 / (n - size) for size in sizes]
    squares = math.fsum(ratio**2 for ratio in ratios)
    below = sum(size**2 for size in sizes) + math.fsum(ratios) ** 2 - squares
    return error, n**2 / below
