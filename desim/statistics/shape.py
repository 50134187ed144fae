"""Shape of a sample: skewness, the values it repeats, and the outcomes it may not hold yet."""

import math
import sys
from collections import Counter
from collections.abc import Sequence

from attrs import frozen

from desim.errors import UsageError
from desim.statistics.intervals import moments

#: Values from which a 95 % interval of a mean is off by at most about one percentage point, for a
#: skewness of 1 (Cochran 1977, Sampling Techniques, 3rd edition, 2.15).
_COCHRAN = 25

#: Differences of two doubles vary by rounding up to this share of the larger one.
_ROUNDING = 4 * sys.float_info.epsilon


@frozen
class Shape:
    """The shape of the distribution of a sample.

    Attributes:
        n: The number of values.
        skew: Skewness m3 / m2^1.5, with central moments of divisor n; 0 for equal values.
        needed: Values from which a 95 % interval of the mean is off by about one percentage point.
        constant: Whether all values are equal.
        atom: The most frequent value, the smallest of several.
        atom_share: The share of values that are the atom, above 0 and at most 1.
        unseen: See `unseen`.
    """

    n: int
    skew: float
    needed: int
    constant: bool
    atom: float
    atom_share: float
    unseen: float

    @property
    def is_skewed(self) -> bool:
        """Whether the sample is too small for its skewness."""
        return self.n < self.needed


def shape(values: Sequence[float]) -> Shape:
    """Describe the shape of a sample.

    Raises:
        UsageError: *values* is empty, or a value is not finite.

    >>> shape([0.0] * 19 + [1.0]).needed
    427
    """
    mean, _ = moments(values)
    n = len(values)
    counts = Counter(values)
    most = max(counts.values())
    atom = min(value for value, count in counts.items() if count == most)
    skew = 0.0 if len(counts) == 1 else _skewness(values, mean)
    needed = math.ceil(_COCHRAN * skew**2)
    return Shape(n, skew, needed, len(counts) == 1, float(atom), most / n, unseen(n))


def differences(mine: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Return the differences of pairs; where they vary by rounding alone, all are the first one.

    Two scores in cents that always differ by the same amount would otherwise seem to vary.

    >>> differences([0.3, 0.4], [0.1, 0.2])
    [0.19999999999999998, 0.19999999999999998]
    """
    found = [a - b for a, b in zip(mine, theirs, strict=True)]
    rounding = _ROUNDING * max(map(abs, (*mine, *theirs)), default=0.0)
    is_constant = found and max(found) - min(found) <= rounding
    return found[:1] * len(found) if is_constant else found


def unseen(n: int, confidence: float = 0.95) -> float:
    """Return the largest probability of an outcome that n independent values may not hold.

    An outcome of this probability is missing in n values with probability 1 - *confidence*; for
    many values and 95 % it is about 3 / n.

    Raises:
        UsageError: *n* is below 1.

    >>> f"{unseen(60):.3f}"
    '0.049'
    """
    if n < 1:
        raise UsageError(f"{n} values were given; at least one is needed")
    return 1 - math.pow(1 - confidence, 1 / n)


def _skewness(values: Sequence[float], mean: float) -> float:
    scale = max(abs(value - mean) for value in values)  # powers of large values would overflow
    parts = [(value - mean) / scale for value in values]
    second = math.fsum(part**2 for part in parts) / len(parts)
    third = math.fsum(part**3 for part in parts) / len(parts)
    return third / math.pow(second, 1.5)
