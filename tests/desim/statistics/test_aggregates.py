"""Figures over several worlds, beside rliable, and by hand where worlds are ragged."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from desim.errors import UsageError
from desim.statistics.aggregates import (
    improvement,
    interquartile_mean,
    optimality_gap,
    performance_profile,
)
from desim.statistics.bootstrap import Estimate, resampled_weights

RNG = np.random.default_rng(3)
#: Four worlds with twelve seeds each, of two policies.
MINE, THEIRS = RNG.normal(0.6, 0.3, (4, 12)), RNG.normal(0.5, 0.3, (4, 12))


def test_figures_and_intervals_are_those_of_rliable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its matrices are seeds x worlds; its bootstrap has other draws, so ends differ by chance."""
    library = pytest.importorskip("rliable.library", exc_type=ImportError)
    metrics = pytest.importorskip("rliable.metrics", exc_type=ImportError)
    # rliable 1.2 gives an argument that arch has removed; it draws from numpy's own generator.
    for base in (
        library.StratifiedBootstrap.__mro__[1],
        library.StratifiedIndependentBootstrap.__mro__[1],
    ):
        monkeypatch.setattr(base, "__init__", _without_random_state(base.__init__))
    np.random.seed(1)  # noqa: NPY002 (rliable has no other)
    for theirs, ours in (
        (metrics.aggregate_iqm, interquartile_mean(MINE, replications=4000)),
        (metrics.aggregate_optimality_gap, optimality_gap(MINE, replications=4000)),
    ):
        known, ends = library.get_interval_estimates({"a": MINE.T}, theirs, reps=4000)
        assert_near(ours, *np.ravel(known["a"]), *np.ravel(ends["a"]))
    known, ends = library.get_interval_estimates(
        {"a": (MINE.T, THEIRS.T)}, metrics.probability_of_improvement, reps=4000
    )
    assert_near(improvement(MINE, THEIRS), *np.ravel(known["a"]), *np.ravel(ends["a"]))
    taus = np.array([0.2, 0.5, 0.8])
    shares, limits = library.create_performance_profile({"a": MINE.T}, taus, reps=4000)
    found = performance_profile(MINE, taus.tolist())
    assert found.shares == pytest.approx(tuple(shares["a"]))
    assert np.allclose([found.low, found.high], limits["a"], atol=0.03)


def _without_random_state(init: Callable[..., None]) -> Callable[..., None]:
    def patched(self: object, *args: object, random_state: object = None, **kwargs: object) -> None:
        assert random_state is None
        init(self, *args, **kwargs)

    return patched


def assert_near(found: Estimate, value: float, low: float, high: float) -> None:
    """The figure is equal, and the ends differ by at most a tenth of the interval."""
    assert found.value == pytest.approx(value)
    assert found.low == pytest.approx(low, abs=(high - low) / 10)
    assert found.high == pytest.approx(high, abs=(high - low) / 10)


def test_equally_long_worlds_have_the_figures_of_scipy() -> None:
    """The trimmed mean, and the statistic of Mann and Whitney."""
    assert interquartile_mean(MINE).value == pytest.approx(stats.trim_mean(MINE.ravel(), 0.25))
    known = [stats.mannwhitneyu(a, b).statistic / 144 for a, b in zip(MINE, THEIRS, strict=True)]
    assert improvement(MINE, THEIRS).value == pytest.approx(np.mean(known))
    assert improvement(MINE, THEIRS, paired=True).value == pytest.approx(np.mean(known))
    assert optimality_gap(MINE).value == pytest.approx(1 - np.minimum(MINE, 1).mean())


def test_worlds_count_alike_however_many_seeds_they_have() -> None:
    """Repeating each seed of one world as often changes no figure."""
    short, long = [0.1, 0.5, 0.9, 1.3], [0.2, 0.4, 0.6, 0.8] * 3
    ragged, even = [short, long], [short * 3, long]
    assert interquartile_mean(ragged).value == pytest.approx(interquartile_mean(even).value)
    assert optimality_gap(ragged).value == pytest.approx(optimality_gap(even).value)
    assert performance_profile(ragged, [0.45]).shares == pytest.approx((0.75 / 2 + 0.5 / 2,))
    assert improvement(ragged, even).value == pytest.approx(0.5)
    assert interquartile_mean(ragged).n == 16


def test_pairs_are_narrower_where_seeds_decide() -> None:
    """A policy that is always a little better on the same seed, in a world of luck."""
    luck = RNG.normal(0, 1, (3, 20))
    pairs = improvement(luck + 0.3, luck, paired=True)
    others = improvement(luck + 0.3, luck)
    assert pairs.value == others.value
    assert None not in {pairs.low, pairs.high, others.low, others.high}
    assert (pairs.high or 0) - (pairs.low or 0) < ((others.high or 0) - (others.low or 0)) / 2


def test_weights_draw_as_many_values_in_each_world_as_it_has() -> None:
    """Each world has its share of every bootstrap sample; equal seeds draw the same."""
    sizes = [3, 5]
    weights = np.concatenate(list(resampled_weights(sizes, 2000, seed=4)))
    assert weights.shape == (2000, 8)
    assert np.allclose(weights[:, :3].sum(axis=1), 1 / 2)
    assert np.allclose(weights[:, 3:].sum(axis=1), 1 / 2)
    assert np.allclose((weights[:, 3:] * 10) % 1, 0)
    # The count of one value of five is binomial: its mean is 1, its variance 0.8.
    counts = weights[:, 3:] * 10
    assert abs(counts.var() - 0.8) < 0.05
    assert interquartile_mean(MINE, seed=4) == interquartile_mean(MINE, seed=4)
    assert interquartile_mean(MINE, seed=4) != interquartile_mean(MINE, seed=5)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: interquartile_mean([]), "a world without values"),
        (lambda: interquartile_mean([[1.0], []]), "a world without values"),
        (lambda: interquartile_mean([[math.nan]]), "not finite"),
        (lambda: interquartile_mean([[1.0]], level=1), "level 1 was given"),
        (lambda: interquartile_mean([[1.0]], replications=1999), "1999 replications"),
        (lambda: interquartile_mean([[1.0]], replications=10**7), "10000000 replications"),
        (lambda: interquartile_mean([[1.0]], seed=-1), "seed -1 was given"),
        (lambda: interquartile_mean([[0.0] * 1_000_001]), "more than 1,000,000 values"),
        (lambda: optimality_gap([[1.0]], math.inf), "goal inf was given"),
        (lambda: performance_profile([[1.0]], []), "0 thresholds were given"),
        (lambda: performance_profile([[1.0]], [math.nan]), "all finite"),
        (lambda: improvement([[1.0]], []), "1 and 0 worlds"),
        (lambda: improvement([[1.0]], [[1.0, 2.0]], paired=True), "pairs need as many"),
    ],
)
def test_wrong_arguments_are_refused(call: object, text: str) -> None:
    """In one sentence that says what was given."""
    assert callable(call)
    with pytest.raises(UsageError, match=text):
        call()
