"""What a good allocation of a budget saves."""

import numpy as np
import pytest

from desim.errors import UsageError
from desim.statistics.intervals import interval
from desim.statistics.ocba import allocation


def allocated(draws: np.random.Generator, means: np.ndarray, sd: float, total: int) -> bool:
    """Whether the best has the highest mean after a total, allocated in steps of 20."""
    values = {k: list(draws.normal(mean, sd, 5)) for k, mean in enumerate(means)}
    while (used := sum(map(len, values.values()))) < total:
        further = allocation({k: interval(v) for k, v in values.items()}, min(20, total - used))
        for k, count in further.items():
            values[k] += list(draws.normal(means[k], sd, count))
    return max(values, key=lambda k: np.mean(values[k])) == 0


@pytest.mark.slow
def test_allocation_needs_a_third_of_equal_replications() -> None:
    """Ten alternatives, one unit apart, sd 6: 95 % right selections (Chen and others 2000)."""
    means, sd = -np.arange(10.0), 6.0
    draws = np.random.default_rng(9)
    # What equal allocation needs, from normal means: the probability is computed by simulation.
    trials = 300
    equal = next(
        n
        for n in range(50, 1_000, 10)
        if np.mean(draws.normal(means, sd / np.sqrt(n), (4_000, 10)).argmax(axis=1) == 0) >= 0.95
    )
    right = np.mean([allocated(draws, means, sd, 10 * equal // 3) for _ in range(trials)])
    assert right >= 0.92  # 0.95 less twice the error of 300 trials


def test_the_whole_budget_is_allocated() -> None:
    """Whole numbers; none for an alternative that has its share; most for the closest rivals."""
    known = {
        "best": interval([10.0, 12.0, 14.0]),
        "close": interval([9.0, 11.0, 13.0]),
        "far": interval([1.0, 2.0, 3.0] * 20),
    }
    further = allocation(known, 37)
    assert sum(further.values()) == 37
    assert further.get("far", 0) == 0
    assert further["close"] > 10
    same = allocation({k: interval([1.0, 1.0]) for k in "abc"}, 9)
    assert sum(same.values()) == 9
    with pytest.raises(UsageError, match="at least two"):
        allocation({"a": interval([1.0, 2.0])}, 5)
    with pytest.raises(UsageError, match="one value"):
        allocation({"a": interval([1.0]), "b": interval([1.0, 2.0])}, 5)
    with pytest.raises(UsageError, match="at least 1"):
        allocation(known, 0)
