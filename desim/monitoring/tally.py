"""Statistics of observations: how many, their mean, variance, extremes and quantiles."""

import math
from array import array
from collections.abc import Sequence

from desim.core.world import World
from desim.errors import UsageError
from desim.monitoring.warm_up import checked_warm_up, finite
from desim.short_repr import short_repr

#: Observations that are kept for quantiles, 8 bytes each.
MOST_KEPT = 100_000


class Tally:
    """Statistics of observations, such as waiting times; each counts the same.

    Mean and variance are those of the differences to the first observation, updated by Welford's
    recurrence (Technometrics 4, 1962): no digits are lost where the mean is large beside the
    deviation. Quantiles are those of all observations up
    to `MOST_KEPT` of them, then of every second, fourth, ... of them.

    Args:
        clock: The world; needed for a warm-up only.
        warm_up: Observations before this tick do not count.

    Attributes:
        count: Observations.
        smallest: NaN without any.
        largest: NaN without any.

    Raises:
        UsageError: The warm-up is not a whole number of at least 0, or has no clock.
    """

    def __init__(self, clock: World | None = None, *, warm_up: int = 0) -> None:
        if checked_warm_up(warm_up) and clock is None:
            raise UsageError("a warm-up needs a clock: Tally(world, warm_up=...)")
        self._clock = clock
        self._warm_up = warm_up
        self.count = 0
        self.smallest = self.largest = self._first = math.nan
        self._mean = self._squares = 0.0
        self._kept = array("d")
        self._every = 1

    def add(self, value: float) -> None:
        """Count an observation.

        Raises:
            UsageError: The value is not a finite number.
        """
        number = finite(value)
        if self._warm_up and self._clock is not None and self._clock.now < self._warm_up:
            return
        if self.count % self._every == 0:
            self._keep(number)
        self.count += 1
        if self.count == 1:
            self._first = self.smallest = self.largest = number
            return
        shifted = number - self._first
        before = shifted - self._mean
        self._mean += before / self.count
        self._squares += before * (shifted - self._mean)
        self.smallest, self.largest = min(self.smallest, number), max(self.largest, number)

    @property
    def mean(self) -> float:
        """The mean; NaN without observations."""
        return self._first + self._mean

    @property
    def variance(self) -> float:
        """The variance of a sample, with one observation less in its divisor; NaN below two."""
        return self._squares / (self.count - 1) if self.count > 1 else math.nan

    @property
    def sd(self) -> float:
        """The standard deviation of a sample; NaN below two observations."""
        return math.sqrt(self.variance)

    def quantile(self, share: float) -> float:
        """Return a quantile, interpolated between neighbours; NaN without observations.

        Args:
            share: From 0 to 1; 0.5 is the median.

        Raises:
            UsageError: The argument is out of range.
        """
        if not 0 <= share <= 1:
            raise UsageError(f"the quantile {short_repr(share)} was given; 0 to 1 is possible")
        values: Sequence[float] = sorted(self._kept)
        if not values:
            return math.nan
        place = share * (len(values) - 1)
        low = math.floor(place)
        high = min(low + 1, len(values) - 1)
        return values[low] + (place - low) * (values[high] - values[low])

    def _keep(self, number: float) -> None:
        self._kept.append(number)
        if len(self._kept) > MOST_KEPT:
            del self._kept[1::2]
            self._every *= 2
