"""Python's collector of reference cycles, run less often while episodes are played.

CPython collects cycles after every 700 new containers that stay alive, and an episode creates such
containers all the time, most of which live until its end. Nothing is switched off: with a higher
threshold the garbage of a long episode, and of the episodes before it, stays bounded.
"""

import contextlib
import gc
import threading
from collections.abc import Iterator

#: New containers after which cycles are collected while an episode is played. 400 games of the Beer
#: Game end with 48 MB, with the usual threshold of 700 with 46, without any collection with 93.
THRESHOLD = 50_000

_lock = threading.Lock()

#: The number of entered blocks, in all threads, and the thresholds before the first of them.
_entered = 0
_before: tuple[int, ...] = ()


@contextlib.contextmanager
def rare_collections() -> Iterator[None]:
    """Collect cycles less often inside the block, in the whole process.

    Blocks may be nested, and entered by several threads or coroutines: the first one that is
    entered raises the threshold, the last one that is left restores it. A program that has switched
    the collector off, or set a threshold as high, keeps what it has set; so does one that sets a
    threshold inside a block.
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _entered, _before  # noqa: PLW0603 (the collector is one for the process as well)
    with _lock:
        _entered += 1
        if _entered == 1:
            _before = gc.get_threshold()
            if 0 < _before[0] < THRESHOLD:
                gc.set_threshold(THRESHOLD, *_before[1:])


def _leave() -> None:
    global _entered  # noqa: PLW0603 (one count for all threads)
    with _lock:
        _entered -= 1
        if _entered == 0 and gc.get_threshold() == (THRESHOLD, *_before[1:]):
            gc.set_threshold(*_before)
