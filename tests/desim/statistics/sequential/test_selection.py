"""Selection of the best, against scipy.stats and by repeated sampling."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from desim.errors import UsageError
from desim.statistics.sequential.selection import best


def correlated(rng: np.random.Generator, means: list[float], seeds: int) -> NDArray[np.float64]:
    """Values of alternatives that share most of their noise, as common random numbers do."""
    shared = rng.normal(0, 3, seeds)
    return np.array([mean + shared + rng.normal(0, 1, seeds) for mean in means])


def test_alternatives_that_differ_clearly_are_separated() -> None:
    """Noise that a pair shares, however large, does not hide the difference."""
    rows = correlated(np.random.default_rng(2), [0.0, 2.0, 4.0], 20)
    assert best(dict(zip("abc", rows.tolist(), strict=True))) == ("c",)


def test_the_best_is_dropped_as_rarely_as_alpha() -> None:
    """Equal means are the hardest case: a trial drops "a" with a probability of at most alpha.

    The tolerance is four standard deviations of the binomial number of drops.
    """
    trials, alpha, rng = 2000, 0.1, np.random.default_rng(3)
    lost = sum(
        "a"
        not in best(dict(zip("abc", correlated(rng, [0, 0, 0], 8).tolist(), strict=True)), alpha)
        for _ in range(trials)
    )
    assert 0 < lost <= trials * alpha + 4 * math.sqrt(trials * alpha * (1 - alpha))


def test_the_selection_is_a_paired_t_test_against_each_other_alternative() -> None:
    """An alternative is dropped exactly if scipy's one-sided test rejects at alpha / (k - 1)."""
    rng, alpha = np.random.default_rng(4), 0.2
    dropped = 0
    for _ in range(50):
        rows = dict(zip("abc", correlated(rng, [0, 0.3, 0.6], 6).tolist(), strict=True))
        for name, values in rows.items():
            tests = [
                stats.ttest_rel(other, values, alternative="greater").pvalue
                for rival, other in rows.items()
                if rival != name
            ]
            assert (name in best(rows, alpha)) == (min(tests) >= alpha / 2)
            dropped += name not in best(rows, alpha)
    assert 20 < dropped < 130  # both outcomes occur


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        ({"a": [1.0], "b": [9.0]}, ("b", "a")),
        ({"a": [1.0, 2.0], "b": [2.0, 3.0]}, ("b",)),
        ({"a": [1.0, 2.0], "b": [1.0, 2.0]}, ("a", "b")),
        ({"a": {1: 1.0, 2: 2.0, 3: 99.0}, "b": {1: 2.0, 2: 3.0}}, ("b",)),
        ({"a": [1.0, 2.0]}, ("a",)),
    ],
)
def test_small_selections(values: dict[str, list[float]], kept: tuple[str, ...]) -> None:
    """One seed shows nothing, a constant difference is significant, equal values are kept."""
    assert best(values) == kept


@pytest.mark.parametrize(
    ("values", "alpha", "text"),
    [
        ({}, 0.05, "there is nothing to choose from"),
        ({"a": [1.0]}, 0, "alpha 0 was given; it is above 0 and below 1"),
    ],
)
def test_a_wrong_selection_is_refused(
    values: dict[str, list[float]], alpha: float, text: str
) -> None:
    """There must be alternatives, and alpha must be a probability."""
    with pytest.raises(UsageError) as refused:
        best(values, alpha)
    assert str(refused.value) == text
