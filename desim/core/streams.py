"""Random numbers that depend on a seed and a name alone."""

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # numpy.random takes longer to import than all of desim
    from numpy.random import Generator

__all__ = ["generator"]


def generator(seed: int, *name: str) -> "Generator":
    """Return the random generator of a seed and a name.

    Args:
        seed: The episode's seed, a whole number of at least 0.
        name: One or more strings.

    Returns:
        A PCG64 generator whose seed is the SHA-256 of *seed* and *name*.
    """
    from numpy.random import PCG64, Generator

    # Each part is preceded by its length, which keeps ("a", "bc") and ("ab", "c") apart.
    text = f"{seed}:" + "".join(f"{len(part)}:{part}" for part in name)
    return Generator(PCG64(int(hashlib.sha256(text.encode()).hexdigest(), 16)))
