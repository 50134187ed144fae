"""Means and shares of values that share a cluster, such as a case or an item.

Values of one cluster depend on each other: twenty seeds that draw six cases say about as much
as six seeds.
"""

import math
from collections.abc import Hashable, Sequence

from attrs import evolve, frozen

from desim.errors import UsageError
from desim.statistics.intervals import Interval, checked_level, moments, t_quantile
from desim.statistics.proportions import check_truth_values, wilson


@frozen
class ClusteredMean(Interval):
    """A mean or a share of values in clusters; without an interval for a single cluster.

    Attributes:
        se: Standard error of the mean; None for a single cluster.
        freedom: Satterthwaite's degrees of freedom; None for a single cluster.
        clusters: The number of clusters.
        effective: The number of independent values that say as much about a share; None for a mean.
    """

    se: float | None = None
    freedom: float | None = None
    clusters: int = 1
    effective: float | None = None


def clustered_mean(
    values: Sequence[float], clusters: Sequence[Hashable], level: float = 0.95
) -> ClusteredMean:
    """Return the mean of values, each with its cluster, and its interval.

    With clusters of one size this is Student's interval of the cluster means; with one value in
    each, that of the values.

    Source: Bell and McCaffrey (2002), Bias reduction in standard errors for linear regression with
    multi-stage samples, Survey Methodology 28, 169-181 (CR2, for a mean).

    Raises:
        UsageError: *values* is empty, a value is not finite, or the numbers of values differ.
    """
    checked_level(level)
    mean, sd = moments(values)
    groups = _grouped(values, clusters)
    n, count = len(values), len(groups)
    if count == 1:
        return ClusteredMean(mean, sd, None, None, n, level)
    se, freedom = _error(groups, mean, n)
    half = t_quantile((1 + level) / 2, freedom) * se
    return ClusteredMean(mean, sd, mean - half, mean + half, n, level, se, freedom, count)


def clustered_share(
    values: Sequence[float], clusters: Sequence[Hashable], level: float = 0.95
) -> ClusteredMean:
    """Return the share of truth values, each with its cluster, and its interval.

    Wilson's interval with the effective number of values and Student's t.

    Sources: Wilson (1927), Journal of the American Statistical Association 22, 209-212; Korn and
    Graubard (1998), Survey Methodology 24, 193-201; Franco, Little, Louis and Slud (2019), Journal
    of Survey Statistics and Methodology 7, 334-364.

    Raises:
        UsageError: *values* is empty, one is neither 0 nor 1, or the numbers of values differ.
    """
    check_truth_values(values)
    found = clustered_mean(values, clusters, level)
    p, n = found.mean, found.n
    if found.se is None or found.freedom is None:
        return found
    if found.se and 0 < p < 1:
        effective, freedom = min(n, n * p * (1 - p) / ((n - 1) * found.se**2)), found.freedom
    else:
        effective, freedom = float(found.clusters), found.clusters - 1.0
    low, high = wilson(p, effective, t_quantile((1 + level) / 2, freedom))
    return evolve(found, low=low, high=high, freedom=freedom, effective=effective)


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
