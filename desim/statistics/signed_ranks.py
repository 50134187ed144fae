"""Wilcoxon's signed-rank test of paired differences, with ties and zeros."""

import math
from collections.abc import Sequence

#: Most pairs whose distribution is computed exactly; for more a normal one is close.
_MOST_EXACT = 50


def signed_rank_p(differences: Sequence[float]) -> float:
    """Return the p-value of Wilcoxon's signed-rank test that differences tend to be below 0.

    Differences of 0 share their ranks between both signs, and equal ones have their mean rank. Up
    to 50 differences all signs are counted; beyond, the sum of ranks is taken as normal, with a
    correction for continuity.

    Args:
        differences: At least one finite number.

    >>> signed_rank_p([-1, -2, -3, -4, -5])
    0.03125
    """
    ranks = _doubled_ranks([abs(one) for one in differences])
    pairs = list(zip(differences, ranks, strict=True))
    zeros = sum(rank for one, rank in pairs if one == 0)
    above = sum(rank for one, rank in pairs if one > 0)
    movable = [rank for one, rank in pairs if one != 0]
    if not movable:
        return 1.0
    if len(differences) <= _MOST_EXACT:
        return _exact(movable, above)
    # Zeros have a share in the variance, as their ranks are split and not left out.
    mean, variance = sum(ranks) / 2, sum(rank * rank for rank in ranks) / 4
    z = (above + zeros / 2 - mean + 1) / math.sqrt(variance)
    return math.erfc(-z / math.sqrt(2)) / 2


def _exact(ranks: Sequence[int], above: int) -> float:
    """Return the share of all signs with at most this sum of the ranks above 0."""
    ways = [1]
    for rank in ranks:
        longer = ways + [0] * rank
        for place, count in enumerate(ways):
            longer[place + rank] += count
        ways = longer
    return float(sum(ways[: above + 1]) / 2 ** len(ranks))


def _doubled_ranks(sizes: Sequence[float]) -> list[int]:
    """Return twice the ranks from 1, which are whole numbers also where equal ones share them."""
    ordered = sorted(sizes)
    first: dict[float, int] = {}
    last: dict[float, int] = {}
    for place, size in enumerate(ordered, 1):
        first.setdefault(size, place)
        last[size] = place
    return [first[size] + last[size] for size in sizes]
