"""The jobs that are left to play, cut into chunks."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from desim.sweeps.grid import Grid
from desim.sweeps.jobs import Job

__all__ = ["Chunks"]

#: Most jobs of one chunk.
_MAX_JOBS = 1_000

#: A chunk is the share of one worker in the jobs left, divided by this, so that all workers finish
#: at about the same time.
_CHUNKS_PER_WORKER = 2


class Chunks:
    """An iterator of chunks of unfinished jobs.

    A worker returns its chunk after a while, finished or not (`SECONDS_PER_CHUNK` in `worker`), so
    the size of a chunk does not depend on how long an episode takes. Jobs that come back unplayed
    are put into a later chunk: an exhausted iterator may yield again after `finish`.

    Args:
        plan: All jobs.
        left: Indices of the jobs to play, ascending.
        workers: How many chunks are played at once.

    Attributes:
        count: How many chunks were yielded so far.
    """

    def __init__(self, plan: Grid, left: Iterable[int], workers: int) -> None:
        self._plan = plan
        self._workers = workers
        self._left = deque(_spans(left))
        self._jobs_left = sum(map(len, self._left))
        self._out: dict[int, range] = {}
        self.count = 0

    def __bool__(self) -> bool:
        return bool(self._left)

    def __iter__(self) -> Iterator[Sequence[Job]]:
        return self

    def __next__(self) -> Sequence[Job]:
        if not self._left:
            raise StopIteration
        size = min(_MAX_JOBS, -(-self._jobs_left // (_CHUNKS_PER_WORKER * self._workers)))
        span = self._left.popleft()
        chunk = span[:size]
        self._put_back(span[size:])
        self._jobs_left -= len(chunk)
        self._out[self.count] = chunk
        self.count += 1
        return [self._plan.job(index) for index in chunk]

    def finish(self, chunk: int, rows: int) -> range:
        """Put the unplayed jobs of a chunk back and return the indices of those that were played.

        Args:
            chunk: The number of the chunk, counted from 0.
            rows: How many of its first jobs were played.
        """
        span = self._out.pop(chunk)
        self._put_back(span[rows:])
        self._jobs_left += len(span[rows:])
        return span[:rows]

    def _put_back(self, span: range) -> None:
        if span:
            self._left.appendleft(span)


def _spans(indices: Iterable[int]) -> Iterator[range]:
    """Yield ascending indices as ranges."""
    span = range(0)
    for index in indices:
        if not span or index != span.stop:
            if span:
                yield span
            span = range(index, index)
        span = range(span.start, index + 1)
    if span:
        yield span
