"""Random numbers that depend on a seed and a name alone; the global generators of an episode."""

import contextlib
import hashlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from desim.errors import UsageError
from desim.short_repr import short_repr

if TYPE_CHECKING:  # numpy.random takes longer to import than all of desim
    from numpy.random import Generator


def check_seed(seed: object, what: str = "seed") -> None:
    """Raise a `UsageError`, which names *what*, if a seed is not a whole number of at least 0."""
    # `type` and not `isinstance`: True would be written to a record as `true`.
    if type(seed) is not int or seed < 0:
        raise UsageError(
            f"{what} {short_repr(seed)} was given; a seed is a whole number of at least 0"
        )


def derived_seed(seed: int, *name: str) -> int:
    """Return the SHA-256 of a seed and a name, from which the seed can only be found by trying."""
    # Each part is preceded by its length, which keeps ("a", "bc") and ("ab", "c") apart.
    return _hashed(f"{seed}:" + "".join([f"{len(part)}:{part}" for part in name]), 32)


def redrawn_seed(seed: int, future: int) -> int:
    """Return the seed of the streams after a redraw, by their seed before and that of the future.

    It has 64 bits, or 128 if the future has more, and changes also if both seeds are equal.

    >>> redrawn_seed(7, 7)
    15487717442309795893
    """
    return _hashed(f"{seed}:future:{future}", 16 if future >> 64 else 8)


def future_seed(seed: int, role: str, decision: int, sample: int) -> int:
    """Return the seed of a future that a role samples after so many decisions of an episode.

    >>> future_seed(7, "cfo", 0, 0)
    8200955408792125336
    """
    return _hashed(f"{seed}:ahead:{len(role)}:{role}:{decision}:{sample}", 8)


def _hashed(text: str, size: int) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:size], "big")


def generator(seed: int, *name: str) -> "Generator":
    """Return a PCG64 generator of numpy with the seed `derived_seed(seed, *name)`."""
    return generator_of(derived_seed(seed, *name))


def generator_of(seed: int) -> "Generator":
    """Return a PCG64 generator of numpy."""
    from numpy.random import PCG64, Generator  # takes longer to import than all of desim

    return Generator(PCG64(seed))


class _Blocks(threading.local):
    depth = 0  # blocks of `kept_globals` that this thread is in


_blocks, _in_use = _Blocks(), threading.Lock()

#: numpy's global draws come from these inside blocks, one for each block around another.
_bits: list[Any] = []


@contextlib.contextmanager
def kept_globals(seed: int | None = None) -> Iterator[None]:
    """Restore the global generators of Python and numpy (`random`, `numpy.random`) after a block.

    They begin with the episode's *seed*, if it is given. Threads share these generators, so the
    block of a second thread changes nothing.
    """
    depth = _blocks.depth
    if not depth and not _in_use.acquire(blocking=False):
        yield
        return
    python, numpy = _modules()
    if depth == len(_bits):
        _bits.append(numpy.MT19937())
    before, bits = python.getstate(), numpy.get_bit_generator()
    state = numpy.get_state(legacy=False)
    # Another source of bits, because to set a state takes ten times as long.
    numpy.set_bit_generator(_bits[depth])
    _blocks.depth += 1
    try:
        if seed is not None:
            seed_globals(seed)
        yield
    finally:
        python.setstate(before)
        numpy.set_bit_generator(bits)
        if state["has_gauss"]:  # a number that was drawn, and that the bits do not hold
            numpy.set_state(state)
        _blocks.depth -= 1
        if not _blocks.depth:
            _in_use.release()


def seed_globals(seed: int) -> None:
    """Seed the global generators from an episode's seed; outside `kept_globals` do nothing."""
    if _blocks.depth:
        python, numpy = _modules()
        own = derived_seed(seed, "global generators")
        python.seed(own)
        numpy.seed(own % 2**32)


def unseeded_globals() -> object:
    """Return the states of the global generators to compare; None inside `kept_globals`."""
    if _blocks.depth:
        return None
    python, numpy = _modules()
    # numpy's is a dict with an array, whose text has all of it but the middle: a draw moves `pos`.
    return python.getstate(), str(numpy.get_state(legacy=False))


def _modules() -> tuple[Any, Any]:
    import random

    from numpy import random as of_numpy  # takes longer to import than all of desim

    return random, of_numpy
