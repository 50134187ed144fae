"""Comparison of alternatives that were played on the same seeds."""

import math
from collections.abc import Hashable, Mapping, Sequence

from attrs import frozen

from desim.errors import UsageError
from desim.statistics.clusters import clustered_mean
from desim.statistics.intervals import Interval, checked_level, interval, moments, t_quantile
from desim.statistics.proportions import are_truth_values, paired_share


@frozen
class Difference:
    """The difference of two means over the same seeds.

    Attributes:
        paired: Its interval from the differences seed by seed; of different seeds Welch's.
        unpaired: Half the width that the interval would have if the seeds of the two were
            different ones (Welch); None for a single pair.
        correlation: Correlation of the two values of a seed, -1 to 1; None if one of the two is the
            same on all seeds.
    """

    paired: Interval
    unpaired: float | None
    correlation: float | None


def difference(
    mine: Sequence[float],
    theirs: Sequence[float],
    level: float = 0.95,
    *,
    truth: bool = False,
    clusters: Sequence[Hashable] = (),
) -> Difference:
    """Estimate the difference of two means from pairs that share a seed.

    Args:
        mine: In the order of the seeds.
        theirs: The other alternative's, in the same order.
        level: Above 0 and below 1.
        truth: Whether the values come from truth values. Where each is 0 or 1, the interval is
            that of `proportions.paired_share`, otherwise Student's.
        clusters: The cluster of each pair, where seeds share cases; nothing is then said of the
            width without pairing.

    Raises:
        UsageError: *mine* is empty, the numbers of values differ, or a value is not finite.
    """
    if len(mine) != len(theirs):
        raise UsageError(f"{len(mine)} and {len(theirs)} values were given; pairs need as many")
    differences = [a - b for a, b in zip(mine, theirs, strict=True)]
    if clusters:
        return Difference(clustered_mean(differences, clusters, level), None, None)
    if truth and len(mine) > 1 and are_truth_values([*mine, *theirs]):
        paired = paired_share(mine, theirs, level)
    else:
        paired = interval(differences, level)
    unpaired = difference_apart(mine, theirs, level).half
    return Difference(paired, unpaired, _correlation(mine, theirs))


def difference_apart(
    mine: Sequence[float], theirs: Sequence[float], level: float = 0.95
) -> Interval:
    """Estimate the difference of two means from independent values, such as those of other seeds.

    The interval is Welch's; its n is 0, the number of pairs.

    Raises:
        UsageError: One of the two is empty, or a value is not finite.
    """
    mean, found = moments(mine)[0] - moments(theirs)[0], welch_error(mine, theirs)
    if found is None:
        return Interval(mean, None, None, None, 0, level)
    error, freedom = found
    half = t_quantile((1 + level) / 2, freedom) * error
    return Interval(mean, None, mean - half, mean + half, 0, level)


def simultaneous(level: float, count: int) -> float:
    """Return the level of each of several intervals that hold together at a level.

    Source: Bonferroni's inequality (Law, Simulation Modeling and Analysis, 9.7 and 10.3): the
    chance that any of *count* intervals misses is at most the sum of their chances.

    >>> f"{simultaneous(0.95, 9):.4f}"
    '0.9944'
    """
    return 1 - (1 - checked_level(level)) / max(1, count)


def welch_error(mine: Sequence[float], theirs: Sequence[float]) -> tuple[float, float] | None:
    """Return the standard error of the difference of two independent means, and its freedom.

    Sources: Welch (1938), Biometrika 29, 350-362; Satterthwaite (1946), Biometrics Bulletin 2,
    110-114.

    Returns:
        None if one of the two has a single value.

    Raises:
        UsageError: One of the two is empty, or a value is not finite.
    """
    (_, sd_a), (_, sd_b) = moments(mine), moments(theirs)
    if sd_a is None or sd_b is None:
        return None
    a, b = sd_a**2 / len(mine), sd_b**2 / len(theirs)
    if a + b == 0:
        return 0.0, 1.0
    freedom = (a + b) ** 2 / (a**2 / (len(mine) - 1) + b**2 / (len(theirs) - 1))
    return math.sqrt(a + b), freedom


def _correlation(mine: Sequence[float], theirs: Sequence[float]) -> float | None:
    (mean_a, sd_a), (mean_b, sd_b) = moments(mine), moments(theirs)
    if not (sd_a and sd_b):
        return None
    products = [(a - mean_a) * (b - mean_b) for a, b in zip(mine, theirs, strict=True)]
    covariance = math.fsum(products) / (len(mine) - 1)
    return max(-1.0, min(1.0, covariance / (sd_a * sd_b)))


#: Values in the order of their seeds, or by seed.
Values = Sequence[float] | Mapping[Hashable, float]


def paired(values: Values, against: Values, level: float = 0.95) -> Interval:
    """Estimate the mean of `values - against` from pairs that share a seed.

    With common random numbers the two values of a pair are correlated, which makes the interval
    narrower than that of two independent samples (Law, Simulation Modeling and Analysis, 11.2).

    Both are given in the order of their seeds, or both by seed: only common seeds are compared.

    Raises:
        UsageError: The numbers of values differ, or the two have no common seed.

    >>> paired({1: 5.0, 2: 7.0, 3: 9.0}, {1: 4.0, 2: 5.0, 9: 0.0}).mean
    1.5
    """
    mine, theirs = aligned([values, against])
    return interval([a - b for a, b in zip(mine, theirs, strict=True)], level)


def aligned(alternatives: Sequence[Values]) -> list[list[float]]:
    """Return the values of each alternative in one order of seeds, for the common seeds.

    Raises:
        UsageError: *alternatives* is empty, they have no common seed, their numbers of values
            differ, or only some values are given by seed.
    """
    if not alternatives:
        raise UsageError("there is nothing to choose from")
    by_seed = [each for each in alternatives if isinstance(each, Mapping)]
    if not by_seed:
        rows = [list(each) for each in alternatives if not isinstance(each, Mapping)]
        if len({len(row) for row in rows}) > 1:
            counts = " and ".join(str(len(row)) for row in rows)
            raise UsageError(f"{counts} values cannot be paired; give equally many, or by seed")
        return rows
    if len(by_seed) < len(alternatives):
        raise UsageError("values by seed cannot be paired with values in a list; give both alike")
    common = [seed for seed in by_seed[0] if all(seed in each for each in by_seed)]
    if not common:
        raise UsageError("there is no common seed, so nothing can be paired")
    return [[each[seed] for seed in common] for each in by_seed]
