"""Random numbers that depend on a seed and a name alone."""

import contextlib
import hashlib
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from desim.errors import UsageError
from desim.short_repr import short_repr

if TYPE_CHECKING:  # numpy.random takes longer to import than all of desim
    from numpy.random import Generator


def check_seed(seed: object, what: str = "seed") -> None:
    """Check a seed.

    Args:
        seed: The seed.
        what: The name of the seed in the error text.

    Raises:
        UsageError: The seed is not a whole number of at least 0.
    """
    # `type` and not `isinstance`: True would be written to a record as `true`.
    if type(seed) is not int or seed < 0:
        raise UsageError(
            f"{what} {short_repr(seed)} was given; a seed is a whole number of at least 0"
        )


def derived_seed(seed: int, *name: str) -> int:
    """Return the 256-bit seed derived from a seed and a name.

    Args:
        seed: The episode's seed, a whole number of at least 0.
        name: One or more strings.

    Returns:
        The SHA-256 of *seed* and *name*, from which *seed* can only be found by trying seeds.
    """
    return int.from_bytes(seed_digest(seed, *name), "big")


def seed_digest(seed: int, *name: str) -> bytes:
    """Return `derived_seed` as 32 bytes, the highest first."""
    # Each part is preceded by its length, which keeps ("a", "bc") and ("ab", "c") apart.
    text = f"{seed}:" + "".join([f"{len(part)}:{part}" for part in name])
    return hashlib.sha256(text.encode()).digest()


def generator(seed: int, *name: str) -> "Generator":
    """Return the random generator of a seed and a name.

    Args:
        seed: The episode's seed, a whole number of at least 0.
        name: One or more strings.

    Returns:
        A PCG64 generator with the seed `derived_seed(seed, *name)`.
    """
    return generator_of(derived_seed(seed, *name))


def generator_of(seed: int) -> "Generator":
    """Return a PCG64 generator of numpy."""
    from numpy.random import PCG64, Generator  # takes longer to import than all of desim

    return Generator(PCG64(seed))


class _Kept(threading.local):
    """The number of blocks of `kept_globals` that this thread is in."""

    depth = 0


_kept, _in_use = _Kept(), threading.Lock()


@contextlib.contextmanager
def kept_globals(seed: int | None = None) -> Iterator[None]:
    """Restore the global generators of Python and numpy (`random`, `numpy.random`) after a block.

    Threads share these generators, so the block of a second thread changes nothing.

    Args:
        seed: The seed of the episode in the block; None leaves `seed_globals` to the block.
    """
    if not _kept.depth and not _in_use.acquire(blocking=False):
        yield
        return
    import random  # both take longer to import than all of desim

    from numpy import random as of_numpy

    before = random.getstate(), of_numpy.get_state(legacy=False)  # noqa: NPY002 (the global one)
    _kept.depth += 1
    try:
        if seed is not None:
            seed_globals(seed)
        yield
    finally:
        random.setstate(before[0])
        of_numpy.set_state(before[1])  # noqa: NPY002
        _kept.depth -= 1
        if not _kept.depth:
            _in_use.release()


def seed_globals(seed: int) -> None:
    """Seed the global generators from an episode's seed; outside `kept_globals` do nothing."""
    if not _kept.depth:
        return
    import random

    from numpy import random as of_numpy

    own = derived_seed(seed, "global generators")
    random.seed(own)
    with contextlib.suppress(TypeError):  # a generator that a program has put in place of numpy's
        of_numpy.seed(own % 2**32)  # noqa: NPY002


def unseeded_globals() -> object:
    """Return the states of the global generators to compare; None inside `kept_globals`."""
    if _kept.depth:
        return None
    import random

    states: tuple[object, ...] = (random.getstate(),)
    if "numpy.random" in sys.modules:
        from numpy import random as of_numpy

        # A dict with an array, whose text has all of it but the middle: a draw moves `pos`.
        states += (str(of_numpy.get_state(legacy=False)),)  # noqa: NPY002
    return states


def redrawn_seed(seed: int, future: int) -> int:
    """Return the seed of the streams after a redraw.

    Args:
        seed: The seed of the streams before.
        future: The seed of the future.

    Returns:
        The first 64 bits of the SHA-256 of "SEED:future:FUTURE", and the first 128 bits if the
        future has more than 64 itself. They depend on both seeds, so the streams change even if the
        future equals the episode's seed or an earlier future.

    >>> redrawn_seed(7, 7)
    15487717442309795893
    """
    text = f"{seed}:future:{future}"
    size = 16 if future >> 64 else 8
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:size], "big")


def future_seed(seed: int, role: str, decision: int, sample: int) -> int:
    """Return the seed of a future in which a policy plays ahead.

    Its name differs from all stream names, so no stream of the model has this seed.

    Args:
        seed: The episode's seed.
        role: The role that looks ahead.
        decision: The number of decisions of the episode before the present one.
        sample: The number of the future, from 0.

    >>> future_seed(7, "cfo", 0, 0)
    8200955408792125336
    """
    text = f"{seed}:ahead:{len(role)}:{role}:{decision}:{sample}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
