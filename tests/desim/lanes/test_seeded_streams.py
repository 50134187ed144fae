"""Generators of many seeds are those of `streams.generator`."""

import numpy as np
import pytest

from desim.core import streams
from desim.lanes import seeded_streams
from desim.lanes.seeded_streams import generators


def test_draws_are_those_of_a_stream() -> None:
    """For small and large seeds, of every distribution."""
    seeds = [0, 1, 7, 2**31, 2**64 - 1, 2**200 + 5, *range(100, 160)]
    for seed, many in zip(seeds, generators(seeds, "demand", "north"), strict=True):
        one = streams.generator(seed, "demand", "north")
        assert many.poisson(4.5, 20).tolist() == one.poisson(4.5, 20).tolist()
        assert many.normal(3, 2, 5).tolist() == one.normal(3, 2, 5).tolist()
        assert many.integers(2**31, size=3).tolist() == one.integers(2**31, size=3).tolist()


def test_no_seeds_have_no_generators() -> None:
    """None is built."""
    assert list(generators([], "demand")) == []


def test_a_derived_seed_with_fewer_words_is_mixed_as_numpy_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One in four billion derived seeds begins with a word of zeros, which numpy leaves out."""
    short = bytes(4) + streams.seed_digest(1, "demand")[4:]
    monkeypatch.setattr(seeded_streams, "seed_digest", lambda *_: short)
    (drawn,) = [stream.random(4).tolist() for stream in generators([1], "demand")]
    expected = np.random.Generator(np.random.PCG64(int.from_bytes(short, "big")))
    assert drawn == expected.random(4).tolist()
