"""Draws of random streams by seed, kept in bounded memory."""

from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import Any

#: Bytes of all draws that are kept, and of the bookkeeping of each.
MOST_BYTES, _OVERHEAD = 64 * 2**20, 150

#: By key, the draws of each seed.
_Kept = dict[Hashable, dict[int, bytes]]


class DrawnStreams:
    """The draws of streams by key and seed; drops those that were used least recently.

    Draws that are new or used again belong to the recent ones. Once these have half of the bytes,
    they become the older ones, and the older ones of before are dropped.

    Args:
        most: Bytes that are kept at most.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._recent: _Kept = {}
        self._older: _Kept = {}
        self._held = 0
        self._lock = Lock()

    @property
    def held(self) -> int:
        """The bytes that are kept, with the bookkeeping of each seed."""
        draws = (each for kept in (self._recent, self._older) for each in kept.values())
        return sum(len(one) + _OVERHEAD for each in draws for one in each.values())

    def of(
        self,
        drawn: Hashable,
        seeds: Sequence[int],
        draw: Callable[[Sequence[int]], Sequence[bytes]],
    ) -> list[bytes]:
        """Return the draws of each seed.

        Args:
            drawn: The parameters and the stream that, with the seed, determine the draws.
            seeds: The seeds.
            draw: Returns the draws of given seeds; called with those that are not kept.
        """
        recent = self._recent.get(drawn, {})
        found: list[Any] = list(map(recent.get, seeds))
        if None in found:
            older = self._older.get(drawn, {})
            known = {seed: older.get(seed) for seed in seeds if seed not in recent}
            missing = [seed for seed, draws in known.items() if draws is None]
            known |= zip(missing, draw(missing) if missing else (), strict=True)
            with self._lock:
                self._keep(drawn, known)
            found = [known.get(seed) or recent[seed] for seed in seeds]
        return found

    def _keep(self, drawn: Hashable, new: dict[int, Any]) -> None:
        """Add draws to the recent ones, in portions that fit."""
        for seed, draws in new.items():
            recent = self._recent.setdefault(drawn, {})
            if seed not in recent:
                recent[seed] = draws
                self._held += len(draws) + _OVERHEAD
            if 2 * self._held > self._most:
                self._recent, self._older, self._held = {}, self._recent, 0


#: The draws of this process.
DRAWN = DrawnStreams()
