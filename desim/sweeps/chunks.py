"""Which jobs are left, dealt out a chunk at a time."""

from collections import deque
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from desim.sweeps.grid import Grid
from desim.sweeps.jobs import Job

__all__ = ["Chunks"]

#: No more jobs than this travel in one message.
LARGEST = 1_000

#: Chunks left for each worker whenever one is cut, so that all of them end at about the same time.
SHARE = 2


class Chunks:
    """Deals out jobs that are not done; what comes back unfinished is dealt out again.

    A worker hands its chunk back after a while, finished or not (`BUDGET` in `jobs.py`), so chunks
    need not be cut to the length of episodes: they are a share of what is left. An iterator that
    ran dry has more to give once a chunk came back unfinished.

    Args:
        plan: All jobs.
        done: Those that need not be played.
        workers: How many play at once.

    Attributes:
        dealt: How many chunks were dealt out so far.
    """

    def __init__(self, plan: Grid, done: AbstractSet[int], workers: int) -> None:
        self._plan = plan
        self._workers = workers
        self._left = deque(_gaps(done, len(plan)))
        self._waiting = len(plan) - len(done)
        self._out: dict[int, range] = {}
        self.dealt = 0

    def __bool__(self) -> bool:
        return bool(self._left)

    def __iter__(self) -> Iterator[Sequence[Job]]:
        return self

    def __next__(self) -> Sequence[Job]:
        if not self._left:
            raise StopIteration
        size = min(LARGEST, -(-self._waiting // (SHARE * self._workers)))
        span = self._left.popleft()
        chunk = span[:size]
        self._put_back(span[size:])
        self._waiting -= len(chunk)
        self._out[self.dealt] = chunk
        self.dealt += 1
        return [self._plan.job(index) for index in chunk]

    def finish(self, chunk: int, rows: int) -> range:
        """Return the jobs of a chunk to which its first rows belong, and take back the others."""
        span = self._out.pop(chunk)
        self._put_back(span[rows:])
        self._waiting += len(span[rows:])
        return span[:rows]

    def _put_back(self, span: range) -> None:
        if span:
            self._left.appendleft(span)


def _gaps(done: AbstractSet[int], total: int) -> Iterator[range]:
    """Yield the runs of jobs that are not done."""
    start = 0
    for job in [*sorted(done), total]:
        if job > start:
            yield range(start, job)
        start = job + 1
