"""Shuffling and taking turns: the same for a seed in every process and for every order of input."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from hashlib import sha256
from itertools import islice
from typing import TypeVar

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

#: Bytes of a digest that make a number; its quotient is exact as a float.
_BYTES = 6
_RANGE = float(1 << 8 * _BYTES)


def draw(seed: int, *keys: str) -> float:
    """Return a number from 0 to below 1 that depends on the seed and the keys alone."""
    # Lengths keep ("ab", "c") and ("a", "bc") apart.
    text = "".join(f"{len(key)}:{key}" for key in (str(seed), *keys))
    digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:_BYTES]) / _RANGE


def shuffled(values: Iterable[T], key: Callable[[T], str], seed: int) -> list[T]:
    """Return values in an order that depends on the seed and on their keys, each its own."""
    return sorted(values, key=lambda value: (draw(seed, key(value)), key(value)))


def grouped(values: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Return values by key, keys in the order in which they appear first."""
    groups: dict[K, list[T]] = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    return groups


def in_turn(groups: Iterable[Iterable[T]], most: int) -> list[T]:
    """Return at most so many values: the first of every group, then every second, and so on.

    >>> in_turn(["abc", "d", "ef"], 5)
    ['a', 'd', 'e', 'b', 'f']
    """
    return list(islice(_in_turn(groups), most))


def _in_turn(groups: Iterable[Iterable[T]]) -> Iterator[T]:
    left = [iter(group) for group in groups]
    while left:
        still: list[Iterator[T]] = []
        for group in left:
            for value in islice(group, 1):
                yield value
                still.append(group)
        left = still
