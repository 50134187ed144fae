"""Ranks with intervals: values by seed, seeds that share cases, and the probability they hold."""

import numpy as np
import pytest

from desim.statistics.ranks import ranked


def test_values_by_seed_are_compared_on_the_seeds_that_both_have() -> None:
    """A pair without a common seed keeps all ranks."""
    long = {seed: 10.0 + seed % 3 for seed in range(9)}
    short = {seed: long[seed] - 5 - seed / 10 for seed in range(3)}
    alone = {90: -100.0, 91: -101.0}
    found = ranked([long, short, alone])
    assert [one.ranks for one in found] == [(1, 2), (2, 3), (1, 3)]
    assert ranked([[*short.values()], [long[seed] for seed in range(3)]])[0].ranks == (2, 2)


def test_repeated_seeds_of_few_cases_tell_no_more_than_the_cases() -> None:
    """Each value four times narrows nothing where the cluster is given, and much otherwise."""
    draws = np.random.default_rng(1).normal(size=(2, 5))
    repeated = np.repeat(draws, 4, axis=1).tolist()
    clusters = [case for case in range(5) for _ in range(4)]
    once, clustered = ranked(draws.tolist()), ranked(repeated, clusters=clusters)
    assert [one.ranks for one in once] == [one.ranks for one in clustered]
    assert once[0].to_best == pytest.approx(clustered[0].to_best)
    assert ranked(repeated)[0].to_best != pytest.approx(once[0].to_best)
