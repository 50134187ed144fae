"""Random generators of many seeds and one name, each equal to `streams.generator`.

numpy mixes the words of a seed in `SeedSequence` and begins PCG64 with the result, which takes
longer than a table of draws. Here the words of all seeds are mixed together. Source: M. E.
O'Neill, "Developing a seed_seq Alternative", 2015, in the form that numpy documents as stable.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from desim.core.streams import generator, seed_digest

if TYPE_CHECKING:
    from numpy.random import Generator

#: Words of 32 bits of a derived seed, and of the pool.
_WORDS, _POOL = 8, 4

#: The words of the two numbers that PCG64 begins with, the lowest first: the generator reads the
#: higher half of each number first.
_ORDER = (2, 3, 0, 1, 6, 7, 4, 5)

#: Constants of the hash that fills the pool, the one that reads it, and the mix of two words.
_FILL, _FILL_STEP = 0x43B0D7E5, 0x931E8875
_READ, _READ_STEP = 0x8B51F9DD, 0x58F38DED
_LEFT, _RIGHT = np.uint32(0xCA01F9DD), np.uint32(0x4973F715)

#: The multiplier of PCG64, and the limit of its 128 bits.
_STEP, _MASK = 0x2360ED051FC65DA44385DF649FCCF645, 2**128 - 1

_HALF = np.uint32(16)


def generators(seeds: Sequence[int], *name: str) -> "Iterator[Generator]":
    """Yield the generator of each seed and a name; the next one takes its place.

    Args:
        seeds: Whole numbers of at least 0.
        name: One or more strings.
    """
    shared = generator(0, *name)
    inner: dict[str, int] = {}
    begun = {"bit_generator": "PCG64", "state": inner, "has_uint32": 0, "uinteger": 0}
    digests = [seed_digest(seed, *name) for seed in seeds]
    for digest, (inner["state"], inner["inc"]) in zip(digests, _states(digests), strict=True):
        if any(digest[:4]):
            shared.bit_generator.state = begun
            yield shared
        else:  # numpy mixes fewer words of a smaller number
            yield np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))


def _states(digests: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Yield state and increment of PCG64 for each derived seed."""
    words = np.frombuffer(b"".join(digests), dtype=">u4").reshape(len(digests), _WORDS)
    read = _read(_pool(words.astype(np.uint32).T[::-1]))
    drawn = np.stack([read[word] for word in _ORDER], axis=1).astype("<u4").tobytes()
    for at in range(0, len(drawn), 32):
        start = int.from_bytes(drawn[at : at + 16], "little")
        increment = (int.from_bytes(drawn[at + 16 : at + 32], "little") << 1 | 1) & _MASK
        yield ((increment + start) * _STEP + increment) & _MASK, increment


def _pool(words: Any) -> list[Any]:
    """Return the pool of each seed, by word."""
    hashed = _Hash(_FILL, _FILL_STEP)
    pool = [hashed(word) for word in words[:_POOL]]
    for source in range(_POOL):
        for target in range(_POOL):
            if source != target:
                pool[target] = _mixed(pool[target], hashed(pool[source]))
    for word in words[_POOL:]:
        for target in range(_POOL):
            pool[target] = _mixed(pool[target], hashed(word))
    return pool


def _read(pool: list[Any]) -> list[Any]:
    hashed = _Hash(_READ, _READ_STEP)
    return [hashed(pool[word % _POOL]) for word in range(len(_ORDER))]


class _Hash:
    """A hash of words whose factor changes with each call."""

    def __init__(self, factor: int, step: int) -> None:
        self._factor, self._step = factor, step

    def __call__(self, word: Any) -> Any:
        word = word ^ np.uint32(self._factor)
        self._factor = self._factor * self._step % 2**32
        word = word * np.uint32(self._factor)
        return word ^ (word >> _HALF)


def _mixed(left: Any, right: Any) -> Any:
    mixed = left * _LEFT - right * _RIGHT
    return mixed ^ (mixed >> _HALF)
