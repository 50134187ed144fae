"""Selection of the best among alternatives that were played on the same seeds."""

import math
from collections.abc import Hashable, Mapping
from typing import TypeVar

from desim.errors import UsageError
from desim.short_repr import short_repr
from desim.statistics.intervals import moments, t_quantile
from desim.statistics.pairing import Values, aligned

K = TypeVar("K", bound=Hashable)


def best(values: Mapping[K, Values], alpha: float = 0.05) -> tuple[K, ...]:
    """Return the alternatives that are not significantly worse than another, highest mean first.

    The truly best of k alternatives is among them with a probability of at least `1 - alpha`: an
    alternative is dropped only if the mean of another one exceeds its own by more than the
    one-sided t-quantile at `alpha / (k - 1)` (Bonferroni) times the standard error of their paired
    differences.

    Source: the screening of Nelson, Swann, Goldsman and Song (2001), Simple procedures for
    selecting the best simulated system when the number of alternatives is large, Operations
    Research 49(6), 950-963; for common random numbers with the variance of paired differences and
    Bonferroni's inequality as in Kim and Nelson (2006), Selecting the best system, Handbooks in
    Operations Research and Management Science 13, 501-534.

    Args:
        values: The values of each alternative by name, higher is better; in the order of their
            seeds, or by seed.
        alpha: The probability of dropping the truly best alternative, above 0 and below 1.

    Raises:
        UsageError: See `paired`; or alpha is out of range, or the alternatives are empty.

    >>> best({"a": [9.0, 8.0, 9.0, 7.0], "b": [9.5, 7.5, 9.0, 7.0], "c": [3.0, 2.0, 4.0, 2.0]})
    ('a', 'b')
    """
    if not 0 < alpha < 1:
        raise UsageError(f"alpha {short_repr(alpha)} was given; it is above 0 and below 1")
    rows = dict(zip(values, aligned(list(values.values())), strict=True))
    kept = [k for k in rows if not any(_is_worse(rows, k, j, alpha) for j in rows if j != k)]
    return tuple(sorted(kept, key=lambda k: -moments(rows[k])[0]))


def _is_worse(rows: Mapping[K, list[float]], mine: K, other: K, alpha: float) -> bool:
    """Return whether *mine* is significantly worse than *other*; one seed shows nothing."""
    mean, sd = moments([b - a for a, b in zip(rows[mine], rows[other], strict=True)])
    if sd is None:
        return False
    n = len(rows[mine])
    return mean > t_quantile(1 - alpha / (len(rows) - 1), n - 1) * sd / math.sqrt(n)
