"""Optimal computing budget allocation: where further replications help most to find the best."""

import math
from collections.abc import Hashable, Mapping
from typing import TypeVar

from desim.errors import UsageError
from desim.statistics.intervals import Interval

K = TypeVar("K", bound=Hashable)

#: A standard deviation of 0 and a difference of 0 count as this share of the largest one, so that
#: every alternative has a share of the budget.
_SMALLEST = 1e-3


def allocation(known: Mapping[K, Interval], more: int) -> dict[K, int]:
    """Return how many further replications each alternative should have.

    Alternatives that are close to the best, and those that vary much, receive most. The total of
    each, with those it has, is in the ratios N_i / N_j = (s_i / d_i)^2 / (s_j / d_j)^2 and
    N_b = s_b * sqrt(sum of (N_i / s_i)^2), where d is the difference of a mean to the highest and b
    the alternative with that.

    Source: Chen, Lin, Yucesan and Chick (2000), Simulation budget allocation for further enhancing
    the efficiency of ordinal optimization, Discrete Event Dynamic Systems 10, 251-270. The
    replications of different alternatives are taken to be independent.

    Args:
        known: Mean and standard deviation so far by alternative, each of at least 2 values.
        more: Replications to distribute, at least 1.

    Returns:
        Whole numbers that add up to *more*; an alternative that has more than its share already
        receives none.

    Raises:
        UsageError: Fewer than two alternatives were given, one has a single value, or *more* is
            below 1.
    """
    if len(known) < 2:  # noqa: PLR2004 (two of them, or there is nothing to choose)
        raise UsageError("a budget is allocated to at least two alternatives")
    if more < 1:
        raise UsageError(f"more={more} was given; it is at least 1")
    ratios = _ratios(known)
    return _rounded(_wanted(known, ratios, more), more)


def _ratios(known: Mapping[K, Interval]) -> dict[K, float]:
    """Return numbers in the ratios of the best allocation."""
    sds = {name: one.sd for name, one in known.items()}
    for name, sd in sds.items():
        if sd is None:
            raise UsageError(f"{name} has one value; an allocation needs at least 2 of each")
    largest = max(sd for sd in sds.values() if sd is not None) or 1.0
    spread = {name: max(sd or 0.0, _SMALLEST * largest) for name, sd in sds.items()}
    best = max(known, key=lambda name: known[name].mean)
    behind = {name: known[best].mean - one.mean for name, one in known.items() if name != best}
    least = _SMALLEST * (max(behind.values()) or largest)
    ratios = {name: (spread[name] / max(d, least)) ** 2 for name, d in behind.items()}
    others = math.fsum((ratio / spread[name]) ** 2 for name, ratio in ratios.items())
    return {**ratios, best: spread[best] * math.sqrt(others)}


def _wanted(known: Mapping[K, Interval], ratios: Mapping[K, float], more: int) -> dict[K, float]:
    """Return further replications, none negative, that add up to *more*."""
    open_ = dict(ratios)
    while True:
        total = more + sum(known[name].n for name in open_)
        scale = total / math.fsum(open_.values())
        further = {name: ratio * scale - known[name].n for name, ratio in open_.items()}
        full = [name for name, count in further.items() if count < 0]
        if not full:
            return further
        # The surplus runs of these are missing for the others.
        for name in full:
            del open_[name]


def _rounded(wanted: Mapping[K, float], total: int) -> dict[K, int]:
    """Return whole numbers that add up to a total, by the largest remainders."""
    floors = {name: math.floor(count) for name, count in wanted.items()}
    rest = total - sum(floors.values())
    by_remainder = sorted(wanted, key=lambda name: floors[name] - wanted[name])
    for name in by_remainder[:rest]:
        floors[name] += 1
    return floors
