"""Statistics of a quantity with a value at every tick: averages weighted by duration."""

import math

from desim.core.world import World
from desim.monitoring.warm_up import checked_warm_up, finite


class TimeWeighted:
    """Statistics over time of a value that changes in steps, such as a queue's length.

    Mean and variance are those of the differences to the first value that counts, updated by West's
    recurrence with ticks as weights (Communications of the ACM 22, 1979). A value that is replaced
    at the tick at which it was set lasted no time and counts nowhere, also not as the largest.

    Args:
        clock: The world.
        value: The value now.
        warm_up: The time before this tick does not count.

    Attributes:
        current: The value now.

    Raises:
        UsageError: The warm-up is not a whole number of at least 0, or the value is not finite.
    """

    def __init__(self, clock: World, value: float = 0, *, warm_up: int = 0) -> None:
        self._clock = clock
        self.current = finite(value)
        self._last = max(clock.now, checked_warm_up(warm_up))
        self._ticks = 0
        self._first = self._smallest = self._largest = math.nan
        self._mean = self._squares = 0.0

    def set(self, value: float) -> None:
        """Set the value from now on.

        Raises:
            UsageError: The value is not a finite number.
        """
        number = finite(value)
        self._advance()
        self.current = number

    def add(self, change: float) -> None:
        """Change the value from now on.

        Raises:
            UsageError: The result is not a finite number.
        """
        self.set(self.current + change)

    @property
    def ticks(self) -> int:
        """Ticks that count so far."""
        self._advance()
        return self._ticks

    @property
    def mean(self) -> float:
        """The average over time up to now; NaN if no time has passed."""
        self._advance()
        return self._first + self._mean

    @property
    def variance(self) -> float:
        """The variance over time up to now; NaN if no time has passed."""
        self._advance()
        return self._squares / self._ticks if self._ticks else math.nan

    @property
    def smallest(self) -> float:
        """The smallest value that lasted; NaN if no time has passed."""
        self._advance()
        return self._smallest

    @property
    def largest(self) -> float:
        """The largest value that lasted; NaN if no time has passed."""
        self._advance()
        return self._largest

    def _advance(self) -> None:
        """Count the present value for the ticks since the last call."""
        ticks = self._clock.now - self._last
        if ticks <= 0:  # below 0 during a warm-up
            return
        value = self.current
        self._last += ticks
        self._ticks += ticks
        if self._ticks == ticks:
            self._first = self._smallest = self._largest = value
            return
        shifted = value - self._first
        before = shifted - self._mean
        self._mean += before * (ticks / self._ticks)
        self._squares += ticks * before * (shifted - self._mean)
        self._smallest, self._largest = min(self._smallest, value), max(self._largest, value)
