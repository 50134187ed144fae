"""The random generator of a seed without numpy, whose draws equal those of numpy's.

It is used where numpy is not installed, as in a browser. It has the draws that most worlds use and
refuses the others. Sources: M. E. O'Neill, "Developing a seed_seq Alternative", 2015 (the words of
a seed), and "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms for Random
Number Generation", 2014; D. Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS
29(1), 2019.
"""

import math
from collections.abc import Sequence
from typing import Any, NoReturn

from desim.errors import UsageError

#: Words of the pool of a seed, and 32-bit words from which PCG64 begins.
_POOL, _STATE_WORDS = 4, 8

#: The words of the two numbers that PCG64 begins with, the lowest first: the generator reads the
#: higher half of each number first.
_ORDER = (2, 3, 0, 1, 6, 7, 4, 5)

#: Constants of the hash that fills the pool, the one that reads it, and the mix of two words.
_FILL, _FILL_STEP = 0x43B0D7E5, 0x931E8875
_READ, _READ_STEP = 0x8B51F9DD, 0x58F38DED
_LEFT, _RIGHT = 0xCA01F9DD, 0x4973F715

#: The multiplier of PCG64, and the largest numbers of 32, 64 and 128 bits.
_STEP = 0x2360ED051FC65DA44385DF649FCCF645
_MASK_32, _MASK_64, _MASK_128 = 2**32 - 1, 2**64 - 1, 2**128 - 1

#: From this mean on, numpy draws from the Poisson distribution in another way.
_LARGE_MEAN = 10


class DrawnNumbers(list[Any]):
    """Numbers that were drawn together."""

    def tolist(self) -> list[Any]:
        """Return the numbers as a list, as an array does."""
        return list(self)


class PlainGenerator:
    """A PCG64 generator.

    Args:
        seed: A whole number of at least 0.
    """

    def __init__(self, seed: int) -> None:
        count = max(_POOL, -(-seed.bit_length() // 32))
        words = [seed >> 32 * at & _MASK_32 for at in range(count)]
        drawn = seed_words(words)
        bits = b"".join(word.to_bytes(4, "little") for word in drawn)
        self._state, self._increment = first_state(bits)
        self._half: int | None = None

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # of copying and pickling
            raise AttributeError(name)
        _refuse(f"{name}()")

    def random(self, size: int | tuple[int, ...] | None = None) -> Any:
        """Return numbers from 0 to below 1, one alone if *size* is None."""
        if size is None:
            return (self._next() >> 11) * 2.0**-53
        count, *inner = (size,) if isinstance(size, int) else size
        return DrawnNumbers(self.random((*inner,) if inner else None) for _ in range(count))

    def uniform(self, low: float, high: float) -> float:
        """Return a number from *low* to below *high*."""
        number: float = self.random()
        return low + (high - low) * number

    def integers(self, stop: int) -> int:
        """Return a whole number from 0 to below *stop*, which is at least 1 and at most 2**32."""
        if not 1 <= stop <= 2**32:
            _refuse(f"integers({stop})")
        if stop == 1:
            return 0
        drawn = self._next_half() * stop
        while drawn & _MASK_32 < 2**32 % stop:
            drawn = self._next_half() * stop
        return drawn >> 32

    def poisson(self, mean: float, size: int) -> DrawnNumbers:
        """Return numbers of a Poisson distribution; *mean* is at least 0 and below 10."""
        if not 0 <= mean < _LARGE_MEAN:
            _refuse(f"poisson({mean:g})")
        return DrawnNumbers(self._events(math.exp(-mean)) if mean else 0 for _ in range(size))

    def _events(self, least: float) -> int:
        count, product = 0, self.random()
        while product > least:
            count, product = count + 1, product * self.random()
        return count

    def _next(self) -> int:
        """Return 64 bits."""
        state = self._state = (self._state * _STEP + self._increment) & _MASK_128
        mixed, turn = (state >> 64) ^ (state & _MASK_64), state >> 122
        return (mixed >> turn | mixed << (64 - turn)) & _MASK_64

    def _next_half(self) -> int:
        """Return 32 bits: the lower half of 64, then the higher one."""
        if self._half is not None:
            half, self._half = self._half, None
            return half
        bits = self._next()
        self._half = bits >> 32
        return bits & _MASK_32


def _refuse(draw: str) -> NoReturn:
    raise UsageError(f"the draw {draw} needs numpy, which is not installed")


def seed_words(words: Sequence[Any]) -> list[Any]:
    """Return the words from which PCG64 begins.

    Args:
        words: The 32-bit words of a seed, the lowest first and at least four: numbers, or arrays of
            uint32 with one number for each of several seeds.
    """
    pool = _pool(words)
    hashed = _Hash(_READ, _READ_STEP)
    read = [hashed(pool[at % _POOL]) for at in range(_STATE_WORDS)]
    return [read[at] for at in _ORDER]


def first_state(bits: bytes) -> tuple[int, int]:
    """Return state and increment of PCG64.

    Args:
        bits: The 32 bytes of the words that `seed_words` returns.
    """
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
