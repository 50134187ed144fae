"""Confidence sequences: intervals of a mean that hold at all numbers of values at once.

Whoever looks at an interval after every batch and stops once it is narrow needs one of these:
Student's interval holds at a number of values that is fixed beforehand.
"""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from desim.errors import UsageError
from desim.statistics.intervals import moments
from desim.statistics.shape import shape

#: Cuts the bets so that no single value can take more than half of the capital.
_MOST_BET = 0.5

#: Width of the unit interval at which a bisection ends, and the smallest mean that it tries.
_TOLERANCE, _EDGE = 1e-10, 1e-12

#: The number of values for which the t sequence is narrowest, by default.
TUNED_FOR = 200


@frozen
class ScoreRange:
    """The declared range of values, from *low* to a higher *high*."""

    low: float
    high: float

    def __attrs_post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise UsageError(f"range {self.low:g} to {self.high:g}; give a low and a higher end")

    def of_differences(self) -> "ScoreRange":
        """Return the range of differences of two values of this range."""
        return ScoreRange(self.low - self.high, self.high - self.low)

    @property
    def negated(self) -> "ScoreRange":
        """The range of the negated values."""
        return ScoreRange(-self.high, -self.low)

    def scaled(self, values: Sequence[float]) -> NDArray[np.float64]:
        """Return values as shares of the range.

        Raises:
            UsageError: *values* is empty, or one is not finite or outside the range.
        """
        moments(values)
        array = np.asarray(values, dtype=np.float64)
        outside = array[(array < self.low) | (array > self.high)]
        if outside.size:
            text = f"a value is {outside[0]:g}, and the declared range is {self.low:g} to"
            raise UsageError(f"{text} {self.high:g}; declare a range that holds all values")
        return (array - self.low) / (self.high - self.low)


def betting(values: Sequence[float], bounds: ScoreRange, alpha: float) -> tuple[float, float]:
    """Return the interval of the mean of bounded values that holds at every number of values.

    The hedged capital process with predictable plug-in bets; the ends are the tightest so far
    (running intersection). It needs independent values within the range and nothing else.

    Source: Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting,
    Journal of the Royal Statistical Society B 86, 1-27, Theorem 3.

    Args:
        values: In the order in which they were drawn.
        bounds: The range of the values.
        alpha: Probability that the mean is ever outside, above 0 and below 1.

    Raises:
        UsageError: *values* is empty, or one is not finite or outside the range.
    """
    y = bounds.scaled(values)
    bets = _bets(y, math.log(2 / alpha))
    target = math.log(2 / alpha)
    low = _last_excluded(partial(_excluded, y, bets, target))
    high = 1 - _last_excluded(partial(_excluded, 1 - y, bets, target))
    width = bounds.high - bounds.low
    # A whole run of values at odds with the range can leave the ends reversed by rounding.
    low, high = min(low, high), max(low, high)
    return bounds.low + width * low, bounds.low + width * high


def mean_exceeds(values: Sequence[float], bounds: ScoreRange, mean: float, alpha: float) -> bool:
    """Return whether the lower end of a one-sided betting sequence has reached a mean.

    With probability *alpha* it is ever said although the true mean is below. Errors as `betting`.
    """
    y = bounds.scaled(values)
    target = math.log(1 / alpha)
    share = (mean - bounds.low) / (bounds.high - bounds.low)
    return share <= 0 or (share < 1 and _excluded(y, _bets(y, target), target, share))


def t_sequence(sd: float | None, n: int, alpha: float, tuned_for: int = TUNED_FOR) -> float:
    """Return half the width of the t confidence sequence; infinite where it is not defined.

    Exact for normal values; for others it holds in the limit of many values.

    Source: Lai (1976), On confidence sequences, Annals of Statistics 4, 265-280; Wang and Ramdas
    (2024), Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance.

    Args:
        sd: Standard deviation of the values (divisor n - 1); None for a single value.
        n: The number of values.
        alpha: Probability that the mean is ever outside, above 0 and below 1.
        tuned_for: The number of values at which the sequence is about narrowest.

    >>> round(t_sequence(1.0, 60, 0.05), 6)
    0.434033
    """
    if sd is None or n < 2:  # noqa: PLR2004 (a variance needs two values)
        return math.inf
    logarithm = -2 * math.log(alpha)
    g = tuned_for / (logarithm + math.log1p(logarithm))
    a = g / (n + g)
    q = (1 / (alpha * math.sqrt(a))) ** (2 / n)
    if q * a >= 1:
        return math.inf
    return sd * math.sqrt((n - 1) * (q - 1) / ((1 - q * a) * n))


def lower_end(values: Sequence[float], alpha: float) -> float:
    """Return the lower end of the t sequence, where the sample varies and is large enough.

    Returns:
        Minus infinity for equal values and for fewer than their skewness needs (`Shape.needed`).

    Raises:
        UsageError: *values* is empty, or a value is not finite.
    """
    mean, sd = moments(values)
    described = shape(values)
    if described.constant or described.is_skewed:
        return -math.inf
    return mean - t_sequence(sd, len(values), alpha)


def _bets(y: NDArray[np.float64], logarithm: float) -> NDArray[np.float64]:
    """Return the bet on each value, which depends on earlier values alone."""
    count = np.arange(1, len(y) + 1)
    means = (0.5 + np.cumsum(y)) / (count + 1)
    variances = (0.25 + np.cumsum((y - means) ** 2)) / (count + 1)
    before = np.concatenate(([0.25], variances[:-1]))
    bets: NDArray[np.float64] = np.sqrt(2 * logarithm / (before * count * np.log(count + 1)))
    return bets


def _excluded(
    y: NDArray[np.float64], bets: NDArray[np.float64], target: float, mean: float
) -> bool:
    """Return whether the capital against a mean has ever reached the target (a logarithm)."""
    capital = np.cumsum(np.log1p(np.minimum(bets, _MOST_BET / mean) * (y - mean)))
    return bool(capital.max() >= target)


def _last_excluded(excluded: "partial[bool]") -> float:
    """Return the largest mean that is excluded from below; 0 if none is."""
    low, high = _EDGE, 1 - _EDGE
    if not excluded(low):
        return 0.0
    if excluded(high):
        return 1.0
    while high - low > _TOLERANCE:
        middle = (low + high) / 2
        low, high = (middle, high) if excluded(middle) else (low, middle)
    return low
