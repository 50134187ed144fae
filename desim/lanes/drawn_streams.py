"""Draws of random streams that several groups of lanes use, kept in bounded memory."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from threading import Lock

#: Bytes of all draws that are kept, and of the bookkeeping of each.
MOST_BYTES, _OVERHEAD = 64 * 2**20, 300


class DrawnStreams:
    """The draws of streams by what draws them and seed; the least recently used make way.

    Args:
        most: Bytes that are kept at most.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._held = 0
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._kept)

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
            draw: Returns the draws of the given seeds; called at most once, with those not kept.
        """
        with self._lock:
            found = {seed: self._found((drawn, seed)) for seed in seeds}
        missing = [seed for seed, bytes_ in found.items() if bytes_ is None]
        if missing:
            new = dict(zip(missing, draw(missing), strict=True))
            with self._lock:
                for seed, bytes_ in new.items():
                    self._keep((drawn, seed), bytes_)
            found |= new
        return [found[seed] or b"" for seed in seeds]

    def _found(self, key: Hashable) -> bytes | None:
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def _keep(self, key: Hashable, draws: bytes) -> None:
        self._kept[key] = draws
        self._held += len(draws) + _OVERHEAD
        while self._held > self._most:
            _, oldest = self._kept.popitem(last=False)
            self._held -= len(oldest) + _OVERHEAD


#: Those of this process.
DRAWN = DrawnStreams()
