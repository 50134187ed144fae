"""Stopping once an interval of a mean is narrow enough, with a statement that is true then."""

import math
from collections.abc import Iterator, Sequence
from typing import Literal

from attrs import frozen

from desim.errors import UsageError
from desim.statistics.intervals import moments
from desim.statistics.sequences import ScoreRange, betting, t_sequence
from desim.statistics.shape import Shape, shape

#: The first look: an outcome of 5 % is then seen with a probability of 95 %.
FIRST_LOOK = 60

#: By this factor the number of values grows from one look to the next.
_GROWTH = 1.25

#: Why a goal is not reached: too wide, too few values for the skewness, or no spread seen.
Reason = Literal["", "wide", "skew", "constant"]


@frozen
class Goal:
    """The width that an interval shall have.

    Attributes:
        half: Half the width, in the unit of the values, or with *is_share* as a share of the mean.
        is_share: Whether *half* is a share: of every mean that the interval leaves possible.
        alpha: Probability that the mean is ever outside, above 0 and below 1; for several intervals
            together the share of each.
        bounds: The declared range of the values; None without one.
    """

    half: float
    is_share: bool = False
    alpha: float = 0.05
    bounds: ScoreRange | None = None

    def __attrs_post_init__(self) -> None:
        if not self.half > 0:
            raise UsageError(f"a half width of {self.half:g} was given; it is above 0")


@frozen
class Look:
    """The state of one mean at a look.

    Attributes:
        seeds: The number of values.
        low: Lower end of the confidence sequence; None without an interval.
        high: Upper end; None without an interval.
        reason: Why the goal is not reached; empty if it is.
        shape: The shape of the values.
    """

    seeds: int
    low: float | None
    high: float | None
    reason: Reason
    shape: Shape

    @property
    def reached(self) -> bool:
        """Whether the interval is as narrow as wanted."""
        return not self.reason

    @property
    def half(self) -> float | None:
        """Half the width of the interval; None without one."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def looks(first: int, most: int) -> Iterator[int]:
    """Yield the numbers of values at which one looks: *first*, then a quarter more, up to *most*.

    >>> list(looks(60, 150))
    [60, 75, 94, 118, 148, 150]
    """
    n = min(first, most)
    yield n
    while n < most:
        n = min(most, math.ceil(_GROWTH * n))
        yield n


def look(values: Sequence[float], goal: Goal) -> Look:
    """Return the interval of a mean and whether it is as narrow as wanted.

    With a declared range it is a betting sequence, and holds whatever the distribution. Without, it
    is the t sequence, on the condition that there are enough values for their skewness.

    Raises:
        UsageError: *values* is empty, or one is not finite or outside the declared range.
    """
    described = shape(values)
    n = len(values)
    if goal.bounds is not None:
        low, high = betting(values, goal.bounds, goal.alpha)
        wide = (high - low) / 2 > _wanted(low, high, goal)
        return Look(n, low, high, "wide" if wide else "", described)
    if described.constant:
        return Look(n, None, None, "constant", described)
    mean, sd = moments(values)
    half = t_sequence(sd, n, goal.alpha)
    if math.isinf(half):
        return Look(n, None, None, "wide", described)
    low, high = mean - half, mean + half
    wide = half > _wanted(low, high, goal)
    reason: Reason = "wide" if wide else "skew" if described.is_skewed else ""
    return Look(n, low, high, reason, described)


def checked_first(first: int, bounds: ScoreRange | None) -> int:
    """Return the number of values of the first look.

    Raises:
        UsageError: It is below 1, or without a declared range below `FIRST_LOOK`.
    """
    least = 1 if bounds else FIRST_LOOK
    if first < least:
        why = "" if bounds else ", as rarer outcomes would not be seen; or declare a score range"
        raise UsageError(f"the first look has {first} seeds; at least {least} are needed{why}")
    return first


def _wanted(low: float, high: float, goal: Goal) -> float:
    """Return half the width that is wanted, in the unit of the values."""
    if not goal.is_share:
        return goal.half
    smallest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    return goal.half * smallest
