"""Random numbers of a drawn world: one stream for each purpose (SPEC section 3)."""

from hashlib import sha256
from random import Random


def stream(seed: int, key: str) -> Random:
    """Return a new generator for one purpose of one run.

    It is seeded with the first eight bytes, unsigned and big-endian, of SHA-256 of `SEED:KEY`.

    >>> stream(7, "task_12").random() == stream(7, "task_12").random()
    True
    """
    return Random(_number(seed, key))  # noqa: S311 (no secrets)


def restart(chance: Random, seed: int, key: str) -> None:
    """Reset a generator to the state of a new one from `stream`, in two thirds of the time."""
    chance.seed(_number(seed, key))


def _number(seed: int, key: str) -> int:
    return int.from_bytes(sha256(f"{seed}:{key}".encode()).digest()[:8], "big")


def triangular(chance: Random, low: float, high: float, mode: float) -> float:
    """Draw from a triangular distribution; rounding never leaves its two ends."""
    return max(low, min(high, chance.triangular(low, high, mode)))
