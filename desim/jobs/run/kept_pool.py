"""The worker processes that a call with `jobs` leaves for the next call of this process."""

import os
import threading
from collections.abc import Iterator

from attrs import define, field

from desim.jobs.run.executors import ChunkQueue, ChunkResult, Executor, Work
from desim.jobs.run.process_executor import ProcessExecutor
from desim.jobs.run.warm_pool import WarmPool

#: Seconds without a sweep after which the workers end.
IDLE_SECONDS = 60.0


@define(eq=False)
class KeptPool:
    """A pool of workers that is lent to one call at a time, and ends after a while without calls.

    Attributes:
        idle_seconds: Seconds without a call after which the workers end.
        pool: The workers; None before the first call and after their end.
    """

    idle_seconds: float = IDLE_SECONDS
    pool: WarmPool | None = None
    _is_lent: bool = False
    _timer: threading.Timer | None = None
    _lock: threading.Lock = field(factory=threading.Lock)

    def lent(self, workers: int) -> Executor:
        """Return an executor: the kept workers, or new ones while these are lent.

        Raises:
            UsageError: This process is itself a worker.
        """
        with self._lock:
            if self._is_lent:
                return ProcessExecutor(workers)
            self._cancel()
            if self.pool is not None and self.pool.workers != workers:
                self._close()
            self.pool = self.pool or WarmPool(workers)
            self._is_lent = True
            return _LentPool(self.pool, self)

    def take_back(self) -> None:
        """Keep the workers for the next call; a timer ends them if none comes."""
        with self._lock:
            self._is_lent = False
            self._timer = threading.Timer(self.idle_seconds, self.end_idle)
            self._timer.daemon = True
            self._timer.start()

    def end_idle(self) -> None:
        """End the workers, unless they are lent."""
        with self._lock:
            if not self._is_lent:
                self._cancel()
                self._close()

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close(self) -> None:
        if self.pool is not None:
            self.pool.close()
            self.pool = None


class _LentPool:
    """The executor of one call on kept workers."""

    def __init__(self, pool: WarmPool, owner: KeptPool) -> None:
        self.workers = pool.workers
        self._pool = pool
        self._owner: KeptPool | None = owner

    def run(self, work: Work, chunks: ChunkQueue) -> Iterator[ChunkResult]:
        """Play chunks."""
        return self._pool.run(work, chunks)

    def close(self) -> None:
        """Give the workers back."""
        if self._owner is not None:
            self._owner.take_back()
            self._owner = None


#: The pool of this process, with the pools of processes that this one was forked from: their
#: workers belong to these, and closing them would end them there.
_pools = [KeptPool()]


def kept_workers(workers: int) -> Executor:
    """Return an executor whose workers stay for the next call; close it to give them back.

    Raises:
        UsageError: This process is itself a worker.
    """
    return _pools[-1].lent(workers)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _pools.append(KeptPool()))
