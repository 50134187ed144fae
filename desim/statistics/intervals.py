"""Mean, standard deviation and confidence interval of a sample, by Student's t.

The number of seeds that an interval of a wanted width needs.
"""

import math
from collections.abc import Sequence

from attrs import frozen

from desim.errors import UsageError
from desim.short_repr import short_repr


@frozen
class Interval:
    """A sample mean with its confidence interval.

    Attributes:
        mean: The mean of the values.
        sd: Their sample standard deviation (divisor n - 1); None for a single value.
        low: Lower end of the confidence interval of the mean; None for a single value.
        high: Upper end; None for a single value.
        n: The number of values.
        level: The confidence level, above 0 and below 1.
    """

    mean: float
    sd: float | None
    low: float | None
    high: float | None
    n: int
    level: float = 0.95

    @property
    def half(self) -> float | None:
        """Half the width of the interval; None for a single value."""
        return None if self.high is None or self.low is None else (self.high - self.low) / 2


def interval(values: Sequence[float], level: float = 0.95) -> Interval:
    """Return the mean of independent values with its confidence interval.

    The interval is mean +- t(n - 1) * sd / sqrt(n): exact for normal values, and by the central
    limit theorem close for others from a few dozen on.

    Args:
        values: For instance one score for each episode; truth values count as 0 and 1.
        level: The confidence level, above 0 and below 1.

    Raises:
        UsageError: *values* is empty, a value is not finite, or the level is out of range.

    >>> one = interval([1.0, 2.0, 3.0, 4.0])
    >>> print(f"{one.mean} from {one.low:.3f} to {one.high:.3f}")
    2.5 from 0.446 to 4.554
    """
    checked_level(level)
    mean, sd = moments(values)
    n = len(values)
    if sd is None:
        return Interval(mean, None, None, None, n, level)
    half = t_quantile((1 + level) / 2, n - 1) * sd / math.sqrt(n)
    return Interval(mean, sd, mean - half, mean + half, n, level)


def checked_level(level: float) -> float:
    """Return a confidence level that is above 0 and below 1.

    Raises:
        UsageError: The level is out of range.
    """
    if not 0 < level < 1:
        raise UsageError(f"level {short_repr(level)} was given; a level is above 0 and below 1")
    return level


def moments(values: Sequence[float]) -> tuple[float, float | None]:
    """Return the mean and the sample standard deviation, which is None for a single value.

    Raises:
        UsageError: *values* is empty, or a value is not finite.
    """
    n = len(values)
    if n == 0:
        raise UsageError("no values were given; a mean needs at least one")
    if not all(map(math.isfinite, values)):
        raise UsageError("a value is not finite; leave it out or mend the figure")
    if n == 1:
        return float(values[0]), None
    if min(values) == max(values):
        # The mean of equal doubles may be rounded to another double, and sd would not be 0.
        return float(values[0]), 0.0
    mean = math.fsum(values) / n
    return mean, math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1))


def t_quantile(probability: float, freedom: float) -> float:
    """Return a quantile of Student's t distribution with *freedom* degrees of freedom."""
    # scipy.stats has the same function, but its import takes more than a second.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability))


#: Larger numbers of seeds are not computed.
MAX_SEEDS = 10**9


def seeds_needed(known: Interval, half: float) -> int | None:
    """Return the seeds with which half the interval would be at most as wide as wanted.

    The smallest n with t(n - 1) * sd / sqrt(n) <= half, for the standard deviation of the values
    that are known (Law, Simulation Modeling and Analysis, 9.4.1). It is itself an estimate: from a
    few values, a rough one.

    Args:
        known: The interval of the values that are known.
        half: Half the width that is wanted, in the unit of the values; above 0.

    Returns:
        At least 2; None where nothing is known of the spread, because there is one value or all
        are equal, or where more than `MAX_SEEDS` would be needed.

    Raises:
        UsageError: *half* is not above 0.

    >>> from desim.statistics.intervals import interval
    >>> seeds_needed(interval([8.0, 10.0, 12.0, 9.0, 11.0]), 0.5)
    41
    """
    if not half > 0:
        raise UsageError(f"a half width of {half:g} was given; it is above 0")
    if not known.sd:
        return None
    level, sd = (1 + known.level) / 2, known.sd
    if (sd / half) ** 2 * t_quantile(level, MAX_SEEDS) ** 2 > MAX_SEEDS:
        return None
    low, high = 1, 2
    while _half(sd, level, high) > half:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _half(sd, level, middle) <= half else (middle, high)
    return high


def seeds_for_difference(differences: Sequence[float], level: float = 0.95) -> int | None:
    """Return the seeds with which half the interval would be half the difference that was seen.

    A constant added to all scores leaves the number as it is.

    Args:
        differences: Paired differences of two alternatives.
        level: Level of the interval, above 0 and below 1.

    Returns:
        At least 2; None where the mean or the spread of the differences is 0, or unknown.

    Raises:
        UsageError: *differences* is empty, or a value is not finite.

    >>> seeds_for_difference([1.6, 2.2, 2.6, 1.0, 2.8, 2.3])
    5
    """
    known = interval(differences, level)
    return seeds_needed(known, abs(known.mean) / 2) if known.mean else None


def _half(sd: float, probability: float, n: int) -> float:
    return t_quantile(probability, n - 1) * sd / math.sqrt(n)
