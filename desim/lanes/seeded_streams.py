"""Random generators of many seeds and one name, each equal to `streams.generator`.

numpy mixes the words of a seed in `SeedSequence` and begins PCG64 with the result, which takes
longer than a table of draws. Here the words of all seeds are mixed together. Sources: M. E.
O'Neill, "Developing a seed_seq Alternative", 2015 (the words of a seed), and "PCG: A Family of
Simple Fast Space-Efficient Statistically Good Algorithms for Random Number Generation", 2014.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from desim.core.streams import derived_seed, generator

if TYPE_CHECKING:
    from numpy.random import Generator

#: Words of 32 bits of a derived seed.
_WORDS = 8

#: Words of the pool of a seed, and those from which PCG64 begins, the lowest of its two numbers
#: first: the generator reads the higher half of each number first.
_POOL, _ORDER = 4, (2, 3, 0, 1, 6, 7, 4, 5)

#: Constants of the hash that fills the pool, the one that reads it, and the mix of two words.
_FILL, _FILL_STEP = 0x43B0D7E5, 0x931E8875
_READ, _READ_STEP = 0x8B51F9DD, 0x58F38DED
_LEFT, _RIGHT = 0xCA01F9DD, 0x4973F715

#: The multiplier of PCG64, and the largest numbers of 32 and 128 bits.
_STEP, _MASK_32, _MASK_128 = 0x2360ED051FC65DA44385DF649FCCF645, 2**32 - 1, 2**128 - 1


def generators(seeds: Sequence[int], *name: str) -> "Iterator[Generator]":
    """Yield the generator of each seed and a name; the next one takes its place.

    Args:
        seeds: Whole numbers of at least 0.
        name: One or more strings.
    """
    shared = generator(0, *name)
    inner: dict[str, int] = {}
    begun = {"bit_generator": "PCG64", "state": inner, "has_uint32": 0, "uinteger": 0}
    digests = [derived_seed(seed, *name).to_bytes(32, "big") for seed in seeds]
    for digest, (inner["state"], inner["inc"]) in zip(digests, _states(digests), strict=True):
        if any(digest[:4]):
            shared.bit_generator.state = begun
            yield shared
        else:  # numpy mixes fewer words of a smaller number
            yield np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))


def _states(digests: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Yield state and increment of PCG64 for each derived seed."""
    words = np.frombuffer(b"".join(digests), dtype=">u4").reshape(len(digests), _WORDS)
    begun = _seed_words([*words.astype(np.uint32).T[::-1]])
    drawn = np.stack(begun, axis=1).astype("<u4").tobytes()
    for at in range(0, len(drawn), 32):
        yield _first_state(drawn[at : at + 32])


def _seed_words(words: Sequence[Any]) -> list[Any]:
    """Return the words from which PCG64 begins.

    Args:
        words: The 32-bit words of the seeds, the lowest first: arrays with a number for each seed.
    """
    pool = _pool(words)
    hashed = _Hash(_READ, _READ_STEP)
    read = [hashed(pool[at % _POOL]) for at in range(_WORDS)]
    return [read[at] for at in _ORDER]


def _first_state(bits: bytes) -> tuple[int, int]:
    """Return state and increment of PCG64 from the 32 bytes of the words that it begins with."""
    start = int.from_bytes(bits[:16], "little")
    increment = (int.from_bytes(bits[16:], "little") << 1 | 1) & _MASK_128
    return ((increment + start) * _STEP + increment) & _MASK_128, increment


def _pool(words: Sequence[Any]) -> list[Any]:
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


class _Hash:
    """A hash of words whose factor changes with each call."""

    def __init__(self, factor: int, step: int) -> None:
        self._factor, self._step = factor, step

    def __call__(self, word: Any) -> Any:
        word = word ^ self._factor
        self._factor = self._factor * self._step & _MASK_32
        word = word * self._factor & _MASK_32
        return word ^ (word >> 16)


def _mixed(left: Any, right: Any) -> Any:
    mixed = left * _LEFT - right * _RIGHT & _MASK_32
    return mixed ^ (mixed >> 16)
