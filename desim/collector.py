"""Python's collector of reference cycles, run less often while episodes are played."""

import contextlib
import gc
from collections.abc import Iterator

#: New containers after which cycles are collected while an episode is played. 400 games of the Beer
#: Game end with 46 MB, with the usual threshold of 700 as well, without any collection with 103.
THRESHOLD = 50_000


@contextlib.contextmanager
def rare_collections() -> Iterator[None]:
    """Collect cycles less often inside the block, in the whole process.

    An episode creates containers all the time, most of which live until its end. A program that has
    switched the collector off, or set a threshold as high, keeps what it has set.
    """
    before = gc.get_threshold()
    if not 0 < before[0] < THRESHOLD:
        yield
        return
    gc.set_threshold(THRESHOLD, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
