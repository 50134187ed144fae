"""Random numbers, each cause from a stream of its own (SPEC section 3)."""

from hashlib import sha256
from random import Random

__all__ = ["stream", "triangular"]


def stream(seed: int, key: str) -> Random:
    """Return a new generator for one purpose of one run.

    It is seeded with the first eight bytes, unsigned and big-endian, of SHA-256 of `SEED:KEY`.

    >>> stream(7, "task_12").random() == stream(7, "task_12").random()
    True
    """
    return Random(int.from_bytes(sha256(f"{seed}:{key}".encode()).digest()[:8], "big"))  # noqa: S311


def triangular(chance: Random, low: float, high: float, mode: float) -> float:
    """Draw from a triangular distribution, held between its ends against rounding."""
    return max(low, min(high, chance.triangular(low, high, mode)))
