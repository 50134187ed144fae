"""What a handful of episodes says about all of them: intervals, paired differences, selection.

Sums are exactly rounded (`math.fsum`), so a figure does not depend on the order of its values.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar, Union

from attrs import frozen

from desim.errors import UsageError

__all__ = ["Interval", "best", "interval", "paired"]

#: Values in the order of their seeds, or by seed.
Values = Union[Sequence[float], Mapping[Hashable, float]]  # noqa: UP007 (a name for both)

K = TypeVar("K", bound=Hashable)


@frozen
class Interval:
    """A mean, and where the true one lies with probability `level`.

    Attributes:
        mean: Of the values.
        sd: Their standard deviation (n - 1 below the line); None for a single value.
        low: Lower end of the interval of the mean; None for a single value.
        high: Upper end.
        n: How many values.
        level: Above 0 and below 1.
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
        return None if self.high is None else self.high - self.mean


def interval(values: Sequence[float], level: float = 0.95) -> Interval:
    """Estimate a mean by Student's t.

    The values are taken as independent and their mean as normal: right for any number of normal
    values, close for others from a few dozen on.

    Args:
        values: One figure an episode; truth values count as 0 and 1.
        level: Above 0 and below 1.

    Raises:
        UsageError: No value, one that is not finite, or a level out of range.

    >>> one = interval([1.0, 2.0, 3.0, 4.0])
    >>> print(f"{one.mean} from {one.low:.3f} to {one.high:.3f}")
    2.5 from 0.446 to 4.554
    """
    if not 0 < level < 1:
        raise UsageError(f"level {level!r} was given; a level is above 0 and below 1")
    mean, sd = _moments(values)
    n = len(values)
    if sd is None:
        return Interval(mean, None, None, None, n, level)
    half = _quantile((1 + level) / 2, n - 1) * sd / math.sqrt(n)
    return Interval(mean, sd, mean - half, mean + half, n, level)


def paired(values: Values, against: Values, level: float = 0.95) -> Interval:
    """Estimate the mean of `values - against` from pairs that share a seed.

    With common random numbers a pair differs by the decisions alone, which makes the interval
    narrower than that of two independent samples.

    Args:
        values: In the order of their seeds, or by seed.
        against: The same for the other alternative; by seed, those that both have count.
        level: Above 0 and below 1.

    Raises:
        UsageError: Unequal numbers of values, or no seed that both have.

    >>> paired({1: 5.0, 2: 7.0, 3: 9.0}, {1: 4.0, 2: 5.0, 9: 0.0}).mean
    1.5
    """
    mine, theirs = _aligned([values, against])
    return interval([a - b for a, b in zip(mine, theirs, strict=True)], level)


def best(values: Mapping[K, Values], alpha: float = 0.05) -> tuple[K, ...]:
    """Select the alternatives that cannot be told from the best, the highest mean first.

    The truly best one is among them with probability of at least `1 - alpha`: one is dropped only
    if another's mean exceeds its own by more than the one-sided t-quantile at `alpha / (k - 1)`
    (Bonferroni) times the standard error of their paired differences.

    Source: the screening of Nelson, Swann, Goldsman and Song (2001), Simple procedures for
    selecting the best simulated system when the number of alternatives is large, Operations
    Research 49(6), 950-963; for common random numbers with the variance of paired differences and
    Bonferroni's inequality as in Kim and Nelson (2006), Selecting the best system, Handbooks in
    Operations Research and Management Science 13, 501-534.

    Args:
        values: Alternatives by name, higher is better; each in the order of the seeds, or by seed.
        alpha: Probability of losing the best one; above 0 and below 1.

    Raises:
        UsageError: As `paired`; alpha out of range; nothing to choose from.

    >>> best({"a": [9.0, 8.0, 9.0, 7.0], "b": [9.5, 7.5, 9.0, 7.0], "c": [3.0, 2.0, 4.0, 2.0]})
    ('a', 'b')
    """
    if not 0 < alpha < 1:
        raise UsageError(f"alpha {alpha!r} was given; it is above 0 and below 1")
    rows = dict(zip(values, _aligned(list(values.values())), strict=True))
    kept = [k for k in rows if not any(_beaten(rows, k, j, alpha) for j in rows if j != k)]
    return tuple(sorted(kept, key=lambda k: -_moments(rows[k])[0]))


def _beaten(rows: Mapping[K, list[float]], mine: K, other: K, alpha: float) -> bool:
    mean, sd = _moments([b - a for a, b in zip(rows[mine], rows[other], strict=True)])
    if sd is None:
        return False
    n = len(rows[mine])
    return mean > _quantile(1 - alpha / (len(rows) - 1), n - 1) * sd / math.sqrt(n)


def _aligned(several: Sequence[Values]) -> list[list[float]]:
    """Bring values into one order of seeds, leaving out seeds that one of them lacks."""
    if not several:
        raise UsageError("there is nothing to choose from")
    maps = [each for each in several if isinstance(each, Mapping)]
    if not maps:
        rows = [list(each) for each in several if not isinstance(each, Mapping)]
        if len({len(row) for row in rows}) > 1:
            counts = " and ".join(str(len(row)) for row in rows)
            raise UsageError(f"{counts} values cannot be paired; give one a seed each, or by seed")
        return rows
    if len(maps) < len(several):
        raise UsageError("values by seed cannot be paired with values in a row; give both alike")
    shared = [seed for seed in maps[0] if all(seed in each for each in maps)]
    if not shared:
        raise UsageError("there is no seed that all have, so nothing can be paired")
    return [[each[seed] for seed in shared] for each in maps]


def _moments(values: Sequence[float]) -> tuple[float, float | None]:
    n = len(values)
    if n == 0:
        raise UsageError("no values were given; a mean needs at least one")
    if not all(map(math.isfinite, values)):
        raise UsageError("a value is not finite; leave it out or mend the figure")
    if n == 1:
        return float(values[0]), None
    if min(values) == max(values):
        # A mean of equal doubles may round to another one, and they would seem to scatter.
        return float(values[0]), 0.0
    mean = math.fsum(values) / n
    return mean, math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1))


def _quantile(probability: float, freedom: int) -> float:
    # scipy.stats would say the same after more than a second of importing.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability))
