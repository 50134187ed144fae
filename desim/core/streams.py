"""Random numbers that depend on a seed and a name alone."""

import hashlib
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
