"""Intervals cover as often as they say: samples whose truth is known are drawn and counted.

Variance components have no interval.
"""

from collections.abc import Callable
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from attrs import evolve, frozen

from desim.statistics.intervals import Interval, interval
from desim.statistics.pairing import difference, simultaneous
from desim.statistics.proportions import paired_share, share

LEVEL = 0.95
Rng = np.random.Generator


@frozen
class Case:
    """One interval: its name, kind and n, the truth, and the function that draws one."""

    name: str
    kind: str
    n: str
    truth: float
    draw: Callable[[Rng], Any]


def normal(rng: Rng, *size: int) -> Any:
    """Return standard normal values as lists."""
    return rng.normal(size=size).tolist()


def paired(rng: Rng) -> Interval:
    """Return the difference of two that share the luck of each seed."""
    luck = rng.normal(0, 2, 20)
    return difference(*(luck + rng.normal(size=(2, 20))).tolist()).paired


def nine(rng: Rng) -> Interval:
    """Return that of nine intervals of identical rivals which is farthest from holding 0."""
    scores, level = normal(rng, 10, 20), simultaneous(LEVEL, 9)
    found = [difference(one, scores[0], level).paired for one in scores[1:]]
    return max(found, key=lambda one: abs(one.mean) / (one.half or 1))


def welch(rng: Rng) -> Interval:
    """Return the interval of two samples with different spreads that share no seeds."""
    found = difference(normal(rng, 20), rng.normal(0, 3, 20).tolist())
    mean, half = found.paired.mean, found.unpaired or 0
    return evolve(found.paired, low=mean - half, high=mean + half)


def luck(rng: Rng) -> Interval:
    """Return the difference of shares of 0.6 and 0.3 that depend on the same luck."""
    drawn = rng.random(40)
    return paired_share((drawn < 0.6).tolist(), (drawn < 0.3).tolist())


CASES = (
    Case("Student, mean", "exact", "20", 0, lambda r: interval(normal(r, 20))),
    Case("Student, paired", "exact", "20", 0, paired),
    Case("Student, skewed", "near", "40", 1, lambda r: interval(r.exponential(size=40).tolist())),
    Case("Welch, unpaired", "near", "20", 0, welch),
    Case("nine rivals together", "at least", "20", 0, nine),
    Case("Wilson, share 0.3", "waves", "40", 0.3, lambda r: share(list(r.random(40) < 0.3))),
    Case("Wilson, share 0.03", "waves", "20", 0.03, lambda r: share(list(r.random(20) < 0.03))),
    Case("Bonett and Price, pairs", "waves", "40", 0.3, luck),
)  # fmt: skip


#: The measured coverage that a kind allows in so many samples.
TRIALS = 1_000
ALLOWED = {
    "exact": (0.93, 0.97),
    "at least": (0.94, 1),
    "near": (0.92, 0.97),
    "waves": (0.91, 0.99),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_interval_covers_as_often_as_it_says(case: Case) -> None:
    """Nearly where the law is near; in waves with the share and n, as counts are whole."""
    rng = np.random.default_rng([*case.name.encode()])
    covered = sum(holds(case.draw(rng), case.truth) for _ in range(TRIALS)) / TRIALS
    low, high = ALLOWED[case.kind]
    assert low <= covered <= high


def holds(found: Any, truth: float) -> bool:
    """Return whether an interval contains the truth; an end of None is unbounded."""
    return (found.low is None or found.low <= truth) and (found.high is None or truth <= found.high)


def test_open_ends_hold_everything() -> None:
    """Beyond a missing end there is no limit; an end itself belongs to the interval."""
    assert holds(Interval(0, 1, None, 2, 9), -inf)
    assert holds(Interval(0, 1, -2, None, 9), -2)
    assert not holds(Interval(0, 1, -2, 2, 9), 2.1)
    assert not holds(Interval(0, 1, -2, 2, 9), nan)
