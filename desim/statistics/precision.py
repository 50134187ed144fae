"""How many seeds an interval of a wanted width needs."""

import math

from desim.errors import UsageError
from desim.statistics.intervals import Interval, t_quantile

__all__ = ["MAX_SEEDS", "seeds_needed"]

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


def _half(sd: float, probability: float, n: int) -> float:
    return t_quantile(probability, n - 1) * sd / math.sqrt(n)
