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
#: Game end with 46 MB, with the usual threshold of 700 as well, without any collection with 103.
THRESHOLD = 50_000

#: New containers up to which the end of an episode starts no collection. With more of them the
#: memory of the next episodes is no longer in the processor's cache, which costs what is saved.
LEFT = 4_000

_lock = threading.Lock()

#: The number of entered blocks, in all threads.
_entered = 0

#: The thresholds of the program while they are raised; empty while they are its own.
_before: tuple[int, ...] = ()


@contextlib.contextmanager
def rare_collections() -> Iterator[None]:
    """Collect cycles less often inside the block, in the whole process.

    Blocks may be nested, and entered by several threads or coroutines: the first one that is
    entered raises the threshold. The last one that is left restores it, unless that would start a
    collection of few containers: then the next collection restores it, so that a loop of short
    episodes has one collection for several. A program that has switched
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
        usual = gc.get_threshold()
        if 0 < usual[0] < THRESHOLD:
            _before = usual
            gc.set_threshold(THRESHOLD, *usual[1:])
            if _restore not in gc.callbacks:
                gc.callbacks.append(_restore)


def _leave() -> None:
    global _entered  # noqa: PLW0603 (one count for all threads)
    with _lock:
        _entered -= 1
        # Restored now, a threshold that is exceeded starts a collection, which visits the state of
        # an episode that its caller is about to drop, for up to a tenth of the episode's time.
        if not _before or not _before[0] < gc.get_count()[0] <= LEFT:
            _restore("start")


def _restore(phase: str, _info: object = None) -> None:
    """Restore the threshold, at the start of a collection in which no block is entered."""
    # Takes no lock: a collection may start while this thread holds it. At worst a block that is
    # entered meanwhile is played with the usual threshold.
    global _before
    if phase == "start" and not _entered:
        usual, _before = _before, ()
        if usual and gc.get_threshold() == (THRESHOLD, *usual[1:]):
            gc.set_threshold(*usual)
