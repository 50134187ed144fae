"""Selection of the best: Kim and Nelson's guarantee, and what a good allocation saves."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from desim.errors import UsageError
from desim.statistics.intervals import interval
from desim.statistics.sequential.kim_nelson import KimNelson
from desim.statistics.sequential.ocba import allocation

#: The case on which the guarantee is tested: the best is just as far ahead as it must be.
MEANS, SD, DELTA = (1.0, 0.5, 0.5, 0.5, 0.5), 2.0, 0.5


def selected(draw: Callable[[], np.ndarray], alpha: float = 0.05) -> tuple[int, int]:
    """The selected alternative, and the seeds that it took."""
    procedure = KimNelson(range(len(MEANS)), DELTA, alpha, first=10)
    while procedure.best is None:
        procedure.add(dict(enumerate(map(float, draw()))))
    return procedure.best, procedure.seeds


@pytest.mark.parametrize("shared", [0.0, 0.8])
def test_the_best_is_selected_as_often_as_promised(shared: float) -> None:
    """In 500 trials; with common random numbers as well, and then after fewer seeds."""
    draws = np.random.default_rng(7)
    own, luck = SD * np.sqrt(1 - shared), SD * np.sqrt(shared)

    def draw() -> np.ndarray:
        return np.array(MEANS) + luck * draws.normal() + own * draws.normal(size=len(MEANS))

    found = [selected(draw) for _ in range(500)]
    assert sum(best == 0 for best, _ in found) >= 0.95 * 500
    seeds = np.mean([seeds for _, seeds in found])
    assert seeds < (120 if shared else 450)


class Recorded:
    """Two alternatives as the other implementation simulates them, from recorded values."""

    def __init__(self, values: np.ndarray) -> None:
        self.values, self.seen, self.observers = values, [0, 0], list[Any]()

    def register_observer(self, observer: Any) -> None:
        """Keep who is told of every value."""
        self.observers.append(observer)

    def simulate(self, design: int) -> None:
        """Tell the next value of an alternative."""
        self.seen[design] += 1
        for observer in self.observers:
            observer.feedback(self, design, self.values[self.seen[design] - 1, design])


@pytest.mark.parametrize("seed", range(20))
def test_another_implementation_ends_after_the_same_seeds(seed: int) -> None:
    """Of two alternatives: for more, sim-tools 1.3 looks up variances of other pairs."""
    zone = pytest.importorskip("sim_tools.ovs.indifference_zone", reason="no sim-tools here")
    values = np.random.default_rng(seed).normal([1.0, 0.5], SD, size=(5_000, 2))
    recorded = Recorded(values)
    theirs = zone.KN(recorded, n_designs=2, delta=DELTA, alpha=0.05, n_0=10, obj="max").solve()
    mine = KimNelson(range(2), DELTA, 0.05, first=10)
    while mine.best is None:
        mine.add(dict(enumerate(map(float, values[mine.seeds]))))
    # The other one draws once more after its last screening.
    assert ([mine.best], mine.seeds) == (list(theirs), max(recorded.seen) - 1)


def test_equal_values_end_with_the_first() -> None:
    """Where nothing varies and nothing differs, the procedure still ends."""
    procedure = KimNelson("ab", delta=1.0, first=2)
    for _ in range(3):
        procedure.add({"a": 5.0, "b": 5.0})
    assert (procedure.best, procedure.seeds) == ("a", 2)


def test_wrong_arguments_are_refused() -> None:
    """Each in a sentence; a bad value changes nothing."""
    for names, options, text in [
        ("a", {"delta": 1}, "at least two different"),
        ("aa", {"delta": 1}, "at least two different"),
        ("ab", {"delta": 0}, "above 0"),
        ("ab", {"delta": float("inf")}, "finite"),
        ("ab", {"delta": 1, "alpha": 0.5}, "the chance of a wrong guess"),
        ("ab", {"delta": 1, "first": 1}, "at least 2"),
    ]:
        with pytest.raises(UsageError, match=text):
            KimNelson(names, **options)  # type: ignore[arg-type]
    procedure = KimNelson("ab", delta=1.0)
    for wrong in ({"a": 1.0}, {"a": 1.0, "b": float("nan")}):
        with pytest.raises(UsageError, match="the value of b"):
            procedure.add(wrong)
    assert procedure.seeds == 0


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
