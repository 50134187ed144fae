"""An executor of sweeps on worker processes of this machine."""

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from desim.engine.keep.code_without_file import forget_standard_input
from desim.engine.plan import Job
from desim.engine.run.executors import DIED, ChunkResult, Work, WorkerDied
from desim.engine.run.job_messages import import_path, pickled, unpickle_and_play
from desim.engine.run.lone_worker import LoneWorker, ProcessEnded, kill
from desim.engine.run.play_job import failed_to_json
from desim.engine.run.pool_executor import Numbered, PoolExecutor
from desim.engine.run.signals import allow_exit, interrupts_deferred, start_ended, workers_started
from desim.episodes.child import WAITS_FOR_PARENT
from desim.errors import UsageError

if TYPE_CHECKING:  # `import desim` must not load the pools
    from concurrent.futures import Future, ProcessPoolExecutor


#: Most restarts of the workers before the sweep fails.
_MAX_RESTARTS = 100

#: Seconds for which the jobs of a dead worker's chunk are played one at a time; normally a chunk
#: takes `SECONDS_PER_CHUNK` (0.25).
_SECONDS_ALONE = 2.0


class ProcessExecutor(PoolExecutor):
    """Plays chunks in spawned worker processes, which use the import path of this process.

    If a worker dies, the chunks under way are played again one job at a time: the job that ends its
    worker becomes a failed row, and the others go on. A single worker is therefore useful, too: no
    policy can end the sweep, and a limit of time stops every policy (see `hard_limit`).

    Args:
        workers: The number of processes; at least 1.

    Raises:
        UsageError: This process is itself a worker, which imports its parent's script.
    """

    def __init__(self, workers: int) -> None:
        from concurrent.futures import BrokenExecutor
        from multiprocessing import current_process

        if getattr(current_process(), "_inheriting", False):
            raise UsageError(
                "a worker imported the script and came upon its sweep; in the script put what it "
                'does under `if __name__ == "__main__":`'
            )
        self._restarts = 0
        self._processes = spawned_pool(workers)
        super().__init__(self._processes, workers, {BrokenExecutor: WorkerDied(DIED)})

    def close(self) -> None:
        """Kill the workers."""
        with interrupts_deferred():
            kill(self._processes)
            super().close()

    def _after_death(self, work: Work, fault: WorkerDied) -> Iterator[ChunkResult]:
        """Start the workers anew, and find the jobs that end them in the chunks under way."""
        self._restarts += 1
        if self._restarts > _MAX_RESTARTS:
            raise WorkerDied(f"workers were started anew {_MAX_RESTARTS} times; {fault}") from None
        suspects = self._restart()
        found = False
        for future, (index, chunk) in suspects.items():
            if future.done() and not future.exception():
                yield index, self._rows(future)
            elif found:
                yield index, []  # the cause is found, so this chunk is put back as it is
            else:
                rows, found = _played_alone(work, chunk, fault)
                yield index, rows

    def _restart(self) -> "dict[Future[list[bytes]], Numbered]":
        """Replace the workers, and return the chunks that were under way."""
        with interrupts_deferred():
            kill(self._processes)
            self._processes.shutdown(wait=False, cancel_futures=True)
            self._pool = self._processes = spawned_pool(self.workers)
            suspects, self._submitted, self._finished = self._submitted, {}, SimpleQueue()
        return suspects

    def _submit(self, message: Any) -> "Future[list[bytes]]":
        # Ctrl-C in a terminal reaches the whole process group. This process alone handles it, so a
        # worker starts with SIGINT blocked, until `_begin_worker` ignores it.
        with workers_started():
            return super()._submit(message)


def _played_alone(work: Work, chunk: Sequence[Job], fault: WorkerDied) -> tuple[list[bytes], bool]:
    """Play jobs one at a time for some seconds; a job that ends its worker is a failed row.

    Returns:
        The rows, and whether any job has ended its worker.

    Raises:
        WorkerDied: A worker ends without a job.
    """
    end = time.monotonic() + _SECONDS_ALONE
    rows: list[bytes] = []
    found = False
    with contextlib.ExitStack() as stack:
        worker: LoneWorker | None = None
        for job in chunk:
            worker = worker or _lone_worker(stack, fault)
            message, start = pickled(work, [job]), time.monotonic()
            try:
                rows += worker.call(unpickle_and_play, message, import_path())
            except ProcessEnded as death:
                rows.append(failed_to_json(job, _death_text(job, death, time.monotonic() - start)))
                found, worker = True, None
            if time.monotonic() > end:
                break
    return rows, found


def _lone_worker(stack: contextlib.ExitStack, fault: WorkerDied) -> LoneWorker:
    try:
        return stack.enter_context(contextlib.closing(LoneWorker(spawned_pool(1))))
    except ProcessEnded:
        raise fault from None


def _death_text(job: Job, death: ProcessEnded, seconds: float) -> str:
    limit = job.cell.limits.seconds if job.cell.limits else None
    if limit is None or seconds < limit:
        return f"worker process died ({death})"
    return f"LimitReached: the limit of {limit:g} seconds was reached, and its worker was ended"


def spawned_pool(workers: int) -> "ProcessPoolExecutor":
    """Return a pool whose processes use this one's import path, and end with it."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    forget_standard_input()
    with workers_started():  # Python starts its process that tracks semaphores
        return ProcessPoolExecutor(
            workers,
            mp_context=get_context("spawn"),
            initializer=_begin_worker,
            initargs=(import_path(),),
        )


def _begin_worker(path: list[str]) -> None:
    """Prepare a worker: set the parent's import path, ignore SIGINT, end when the parent ends."""
    from multiprocessing.util import Finalize

    start_ended()
    sys.path[:] = path
    allow_exit()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, name=WAITS_FOR_PARENT, daemon=True).start()
    # The parent waits for its workers when it exits; freeing their modules takes a while.
    Finalize(None, os._exit, args=(0,), exitpriority=-100)


def _end_with_parent() -> None:
    from multiprocessing import parent_process

    if parent := parent_process():
        parent.join()
        # A worker holds both ends of its queue, so reading from it never fails.
        os._exit(1)
