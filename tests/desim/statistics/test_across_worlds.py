"""Alternatives over several worlds: intervals that hold together, ranks, seeds that tell apart."""

import math

import numpy as np
import pytest

from desim.errors import UsageError
from desim.statistics.across_worlds import Scores, across_worlds
from desim.statistics.pairing import paired

#: Two worlds; the second has a seed more of one alternative.
PLAIN: Scores = {
    "a": {"x": {0: 1.0, 1: 2.0, 2: 4.0}, "y": {0: 5.0, 1: 5.5, 7: 0.0}},
    "b": {"x": {0: 0.5, 1: 1.0, 2: 2.0}, "y": {0: 1.0, 1: 2.5}},
}


def drawn_scores(rng: np.random.Generator, worlds: int, seeds: int, count: int) -> Scores:
    """Equal alternatives on common seeds, with worlds that favour some of them by chance."""
    favour = rng.normal(0, 0.5, (worlds, count))
    favour -= favour.mean(axis=0)
    values = rng.normal(0, 1, (worlds, seeds, count)) + favour[:, None, :]
    return {
        f"a{k}": {f"w{w}": dict(enumerate(values[w, :, k])) for w in range(worlds)}
        for k in range(count)
    }


def test_worlds_count_alike_on_the_seeds_that_all_have() -> None:
    """Seed 7 of one alternative alone is left out; each world has half of the weight."""
    found = across_worlds(PLAIN)
    assert found is not None
    assert found.means == pytest.approx(((7 / 3 + 5.25) / 2, (3.5 / 3 + 1.75) / 2))
    assert (found.worlds, found.seeds) == (("x", "y"), (3, 2))


def test_one_pair_in_one_world_is_the_paired_interval() -> None:
    """With two alternatives and one world nothing is left to hold together but Student's t."""
    x = {name: {"x": each["x"]} for name, each in PLAIN.items()}
    found = across_worlds(x)
    wanted = paired(x["a"]["x"], x["b"]["x"])
    assert found is not None
    assert found.means[0] - found.means[1] == pytest.approx(wanted.mean)
    assert wanted.half is not None
    assert found.halves["a", "b"] == pytest.approx(wanted.half)


def test_drawn_worlds_are_resampled_whole() -> None:
    """Their means are the values: with two worlds that is Student's interval of two differences."""
    found = across_worlds(PLAIN, drawn=True)
    wanted = paired([7 / 3, 5.25], [3.5 / 3, 1.75])
    assert found is not None
    assert wanted.half is not None
    assert found.halves["a", "b"] == pytest.approx(wanted.half)
    assert found.ranks == ((1, 2), (1, 2))
    assert (
        across_worlds({name: {"x": each["x"]} for name, each in PLAIN.items()}, drawn=True) is None
    )


def test_seeds_needed_is_known_of_every_pair() -> None:
    """A large difference takes the fewest seeds that give an interval, none takes no number."""
    noise = {0: 0.0, 1: 0.4, 2: -0.4, 3: 0.1}
    worlds = {"x": noise, "y": {seed: -value for seed, value in noise.items()}}
    best = {
        world: {s: 50 + (-1) ** s * v for s, v in each.items()} for world, each in worlds.items()
    }
    found = across_worlds({"b": worlds, "best": best, "same": worlds})
    assert found is not None
    assert found.needed["b", "same"] is None
    assert found.needed["b", "best"] == found.needed["best", "same"] == 2
    assert found.ranks == ((2, 3), (1, 1), (2, 3))


@pytest.mark.parametrize(
    "scores",
    [{}, {"a": PLAIN["a"]}, {"a": {"x": {0: 1.0}}, "b": {"x": {0: 2.0}}}, {"a": {}, "b": {}}],
)
def test_without_a_comparison_there_is_none(scores: Scores) -> None:
    """One alternative, one seed or no common world is not compared."""
    assert across_worlds(scores) is None


def test_a_value_that_is_not_finite_is_refused() -> None:
    """It is never left out in silence."""
    with pytest.raises(UsageError, match="not finite"):
        across_worlds({"a": {"x": {0: 1.0, 1: math.nan}}, "b": {"x": {0: 1.0, 1: 2.0}}})


@pytest.mark.slow
@pytest.mark.parametrize(("worlds", "seeds", "count"), [(3, 5, 4), (6, 10, 6)])
def test_equal_alternatives_are_rarely_told_apart(worlds: int, seeds: int, count: int) -> None:
    """In at most 5 % of 400 trials any of them is, with three standard errors of room."""
    rng = np.random.default_rng(7)
    found = [across_worlds(drawn_scores(rng, worlds, seeds, count)) for _ in range(400)]
    told = sum(one is not None and one.ranks != ((1, count),) * count for one in found)
    assert told / 400 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)
