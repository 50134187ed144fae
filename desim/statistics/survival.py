"""Survival curves from durations of which some are cut off before the event."""

import math
from collections.abc import Sequence

from attrs import frozen

from desim.errors import UsageError
from desim.statistics.intervals import checked_level

#: The share at the median.
_HALF = 0.5


@frozen
class SurvivalStep:
    """The curve from one time of events to the next.

    Attributes:
        time: A time of at least one event, in the unit of the durations.
        share: The probability of no event up to and including the time.
        low: Lower end of its interval; None where the share is 0.
        high: Upper end; None where the share is 0.
        at_risk: The number without an event and not cut off before the time.
        events: The number of events at the time.
    """

    time: float
    share: float
    low: float | None
    high: float | None
    at_risk: int
    events: int


@frozen
class Survival:
    """The probability of having had no event yet, as a function of time.

    Attributes:
        steps: In the order of time; before the first one the probability is 1.
        n: The number of durations.
        level: The level of the intervals, each of which holds for its own time.
    """

    steps: tuple[SurvivalStep, ...]
    n: int
    level: float = 0.95

    def at(self, time: float) -> SurvivalStep | None:
        """Return the step at any time; None before the first event, where the share is 1."""
        return next((step for step in reversed(self.steps) if step.time <= time), None)

    def median(self) -> float | None:
        """Return the first time with a share of at most one half; None if it is not reached."""
        return next((step.time for step in self.steps if step.share <= _HALF), None)


def survival(durations: Sequence[float], events: Sequence[bool], level: float = 0.95) -> Survival:
    """Return the survival curve with an interval for each time.

    The curve is Kaplan and Meier's: at each time the share is multiplied by the share of those at
    risk that have no event. Who is cut off at the time of an event was at risk. The interval is
    symmetric in log(-log(share)) with Greenwood's variance, so it stays inside of 0 to 1.

    Sources: Kaplan and Meier (1958), Nonparametric estimation from incomplete observations, Journal
    of the American Statistical Association 53, 457-481; Kalbfleisch and Prentice (2002), The
    Statistical Analysis of Failure Time Data, 1.4.

    Args:
        durations: Times from the start to the event or to the end of observation, at least 0.
        events: Whether the event ended each duration; where not, the duration was cut off (right
            censored), for instance because the episode ended at its horizon.
        level: Level of the intervals, above 0 and below 1.

    Raises:
        UsageError: *durations* is empty, one is negative or not finite, an event is not a truth
            value, their numbers differ, or the level is out of range.

    >>> curve = survival([2, 3, 3, 5, 8], [True, True, False, True, False])
    >>> [(step.time, f"{step.share:.2f}") for step in curve.steps], curve.median()
    ([(2, '0.80'), (3, '0.60'), (5, '0.30')], 5)
    """
    z = _checked(durations, events, level)
    ordered = sorted(set(durations))
    had = dict.fromkeys(ordered, 0)
    left = dict.fromkeys(ordered, 0)
    for time, event in zip(durations, events, strict=True):
        had[time] += event
        left[time] += 1
    share, variance, at_risk = 1.0, 0.0, len(durations)
    found: list[SurvivalStep] = []
    for time in ordered:
        if dead := had[time]:
            share *= 1 - dead / at_risk
            # Greenwood's sum; infinite once no one is at risk any more: then without an interval.
            variance += dead / (at_risk * (at_risk - dead)) if at_risk > dead else math.inf
            found.append(SurvivalStep(time, share, *_ends(share, variance, z), at_risk, dead))
        at_risk -= left[time]
    return Survival(tuple(found), len(durations), level)


def _checked(durations: Sequence[float], events: Sequence[bool], level: float) -> float:
    """Return the normal quantile of a level, after all arguments were checked."""
    from scipy.special import ndtri

    if len(durations) != len(events):
        text = f"{len(durations)} durations and {len(events)} events were given"
        raise UsageError(f"{text}; each duration has one")
    if not durations:
        raise UsageError("no durations were given; a survival curve needs at least one")
    if not all(0 <= time < math.inf for time in durations):
        raise UsageError("a duration is negative or not finite")
    if not all(event in {0, 1} for event in events):
        raise UsageError("an event is neither true nor false")
    return float(ndtri((1 + checked_level(level)) / 2))


def _ends(share: float, variance: float, z: float) -> tuple[float | None, float | None]:
    """Return the ends of the interval of a share with the variance of its logarithm."""
    if share <= 0:
        return None, None
    log = math.log(share)
    shift = z * math.sqrt(variance) / -log
    return share ** math.exp(shift), share ** math.exp(-shift)
