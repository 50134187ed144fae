"""Mean, standard deviation and confidence interval of a sample, by Student's t.

The number of seeds that an interval of a wanted width needs.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence

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


def seeds_for_difference(differences: Sequence[float], level: float = 0.95) -> int | None:
    """Return the seeds with which half the interval would be half the difference that was seen.

    The smallest n with t(n - 1) * sd / sqrt(n) <= |mean| / 2 (Law, Simulation Modeling and
    Analysis, 9.4.1). A constant added to all scores leaves it as it is; it is itself an estimate:
    from a few values, a rough one.

    Args:
        differences: Paired differences of two alternatives.
        level: Level of the interval, above 0 and below 1.

    Returns:
        At least 2; None where the mean or the spread of the differences is 0, or unknown, or where
        more than `MAX_SEEDS` would be needed.

    Raises:
        UsageError: *differences* is empty, or a value is not finite.

    >>> seeds_for_difference([1.6, 2.2, 2.6, 1.0, 2.8, 2.3])
    5
    """
    checked_level(level)
    mean, sd = moments(differences)
    if not (mean and sd):
        return None

    def tells(n: int) -> bool:
        return t_quantile((1 + level) / 2, n - 1) * sd / math.sqrt(n) <= abs(mean) / 2

    return fewest(tells, MAX_SEEDS)


def fewest(is_enough: Callable[[int], bool], most: int) -> int | None:
    """Return the smallest number, from 2 on, from which on it is enough; None if beyond *most*."""
    found = 2 + bisect_left(range(2, most + 1), 1, key=is_enough)
    return found if found <= most else None
