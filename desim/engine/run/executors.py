"""Executors of a sweep, which play chunks of jobs: in this process, in workers, on a cluster.

Jobs whose policies wait for a host have a thread and an event loop each.
"""

import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor, wait
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any, ClassVar

from desim.core.limits import time_text
from desim.engine.budget import command_budget, spending
from desim.engine.plan import Grid, Job
from desim.engine.run.play_job import failed_to_json, loop_player, play_with_files
from desim.engine.run.signals import block_interrupts, interrupts_deferred
from desim.engine.run.workers import (
    ProcessEnded,
    Work,
    Worker,
    WorkerDied,
    idle,
    import_path,
    pickled,
    rows_elsewhere,
    take_worker,
)
from desim.errors import DesimError, UsageError
from desim.short_repr import short_repr

#: Indices of jobs, and their rows.
Played = Generator[tuple[Sequence[int], list[bytes]], None, None]

#: A chunk is the share of one worker in the jobs left, divided by this, so that all workers finish
#: at about the same time.
_CHUNKS_PER_WORKER = 2

#: Episodes that wait for a host under way at once, where no number is given.
AT_ONCE = 8

#: Seconds for which the end of an executor waits for episodes that it stops.
_SECONDS_TO_STOP = 2.0

#: The usual reasons of a death.
_DIED = (
    "a worker process died: it ran out of memory, was killed, or was ended by a policy; try fewer "
    "jobs"
)


class Executor:
    """Plays jobs one after the other in this process; others are its subclasses.

    Attributes:
        workers: How many jobs are played at once.
        at_once: How many jobs whose policies wait for a host are played at once in threads of this
            process, beside its chunks; 0 plays them as all others.
    """

    workers: int = 1
    at_once: int = 0

    def run(self, work: Work, plan: Grid, indices: Sequence[int]) -> Played:
        """Play jobs of a plan by their indices, in any order, and yield indices with their rows.

        *work* plays jobs for a while and yields their rows; it can be pickled. After Ctrl-C or an
        error the jobs under way are lost.
        """
        done, jobs = 0, map(plan.job, indices)
        while rows := list(work(jobs)):
            yield indices[done : done + len(rows)], rows
            done += len(rows)

    def close(self) -> None:
        """Release the workers at once, even if they are busy."""


class PoolExecutor(Executor):
    """Plays chunks of jobs, several at once; subclasses submit them, as futures of their rows."""

    #: Chunks submitted per worker, so that no worker waits while the parent stores a result.
    submitted_per_worker: ClassVar[int] = 2

    #: Most jobs of one chunk.
    most_jobs: ClassVar[int] = 1_000

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._losses: dict[type[Exception], WorkerDied] = {}

    def run(self, work: Work, plan: Grid, indices: Sequence[int]) -> Played:
        """Play jobs in chunks.

        A worker returns its chunk after a while, finished or not (`SECONDS_PER_CHUNK`), so that its
        size need not fit the length of episodes. Jobs that come back unplayed are put into a later
        chunk.
        """
        left = deque(indices)
        submitted: dict[Future[list[bytes]], list[int]] = {}
        finished: SimpleQueue[Future[list[bytes]]] = SimpleQueue()
        while left or submitted:
            while left and len(submitted) < self.submitted_per_worker * self.workers:
                size = min(self.most_jobs, -(-len(left) // (_CHUNKS_PER_WORKER * self.workers)))
                chunk = [left.popleft() for _ in range(size)]
                # An interrupt inside a pool or a future may leave its lock held. `wait` of
                # `concurrent.futures` holds such locks as well, so a queue is used instead.
                with interrupts_deferred(), self._desim_errors():
                    future = self._submit(work, [plan.job(index) for index in chunk])
                    submitted[future] = chunk
                    future.add_done_callback(finished.put)
            future = finished.get()
            with self._desim_errors():
                rows = future.result()
            chunk = submitted.pop(future)
            left.extendleft(reversed(chunk[len(rows) :]))
            yield chunk[: len(rows)], rows

    def _submit(self, work: Work, chunk: Sequence[Job]) -> Future[list[bytes]]:
        raise NotImplementedError

    @contextlib.contextmanager
    def _desim_errors(self) -> Iterator[None]:
        """Turn errors of the pool into a `DesimError`."""
        try:
            yield
        except DesimError:
            raise
        except Exception as fault:
            for kind, error in self._losses.items():
                if isinstance(fault, kind):
                    raise error from None
            what = f"{type(fault).__name__}: {fault}"
            raise DesimError(f"a worker failed outside of any episode ({what})") from fault


class ProcessExecutor(PoolExecutor):
    """Plays chunks in worker processes, which have the import path of this process.

    A job during which its worker dies is played again, alone in a new worker; if that dies as well,
    the job becomes a failed row. A single worker is therefore useful, too: no policy can end the
    sweep, and a limit of time stops every policy (see `hard_limit`).

    Idle workers stay for the next sweep of this process, and end after a minute without one. Rows
    are those of new workers: these replace the old ones if a source file that one of them has
    loaded, the environment, the current folder or `sys.path` has changed. *restarts* is how often
    dead workers are replaced before a sweep fails.
    """

    def __init__(self, workers: int, restarts: int = 100) -> None:
        super().__init__(workers)
        self._pool: ThreadPoolExecutor | None = None
        self._restarts = restarts
        self._free: list[Worker] = []
        self._busy: set[Worker] = set()

    def run(self, work: Work, plan: Grid, indices: Sequence[int]) -> Played:
        """Play jobs, of one sweep at a time."""
        # The workers that the threads start inherit that SIGINT is blocked.
        self._pool = ThreadPoolExecutor(self.workers, initializer=block_interrupts)
        self._restarts_left = self._restarts
        try:
            yield from super().run(work, plan, indices)
        finally:
            self.close()

    def close(self) -> None:
        """Keep the workers for the next sweep, and end those that are busy."""
        with interrupts_deferred():
            pool, self._pool = self._pool, None
            if pool is not None:
                pool.shutdown(wait=False, cancel_futures=True)
                for worker in list(self._busy):
                    worker.process.kill()
                pool.shutdown()
            idle.extend(self._free)
            self._free = []

    def _submit(self, work: Work, chunk: Sequence[Job]) -> Future[list[bytes]]:
        assert self._pool is not None
        return self._pool.submit(self._played, work, chunk)

    def _played(self, work: Work, chunk: Sequence[Job]) -> list[bytes]:
        """Play a chunk in a worker until that stops; called in a thread for each worker."""
        rows: list[bytes] = []
        try:
            self._play(work, chunk, rows)
        except ProcessEnded:
            if len(rows) == len(chunk):
                return rows
            if not self._restarts_left:
                raise WorkerDied(_DIED) from None
            self._restarts_left -= 1
            job, start = chunk[len(rows)], time.monotonic()
            try:
                self._play(work, [job], rows)
            except ProcessEnded as death:
                text = _death_text(job, death, time.monotonic() - start)
                rows.append(failed_to_json(job, text))
        return rows

    def _play(self, work: Work, chunk: Sequence[Job], rows: list[bytes]) -> None:
        """Append the rows of the first jobs of a chunk, each as soon as a worker has played it."""
        message = pickled(work, chunk)
        worker = self._free.pop() if self._free else take_worker()
        self._busy.add(worker)
        if self._pool is None:  # closed, perhaps before this worker was known to be busy
            worker.process.kill()
        try:
            for row in worker.replies(message):
                rows.append(row)  # noqa: PERF402 (those before an exception count)
        except BaseException:
            worker.end()
            raise
        else:
            self._free.append(worker)
        finally:
            self._busy.discard(worker)


def _death_text(job: Job, death: ProcessEnded, seconds: float) -> str:
    limit = job.cell.limits.seconds if job.cell.limits else None
    if limit is None or seconds < limit:
        return f"worker process died ({death})"
    return f"LimitReached: the limit of {limit:g} seconds was reached, and its worker was ended"


def check_jobs(jobs: object) -> None:
    """Raise a `UsageError` unless a number of worker processes is a whole one of at least 1."""
    if type(jobs) is not int or jobs < 1:
        raise UsageError(f"jobs={short_repr(jobs)} was given; it is a whole number of at least 1")


class DaskExecutor(PoolExecutor):
    """Plays chunks on a Dask cluster, whose workers import desim, the model and the policies.

    The address of the scheduler is such as tcp://host:8786; it is waited for *seconds*.
    """

    def __init__(self, address: str, seconds: float = 10) -> None:
        try:
            from distributed import CancelledError, Client, KilledWorker
            from distributed.comm.core import CommClosedError
        except ImportError:
            raise UsageError("executor dask needs distributed: pip install desim[dask]") from None
        connect: Any = Client  # it has no types, whether it is installed or not
        try:
            self._client: Any = connect(address, timeout=seconds, set_as_default=False)
        except (OSError, ValueError, TypeError) as fault:
            raise UsageError(
                f"no Dask scheduler answers at {address!r} ({fault}); start one with dask scheduler"
            ) from None
        super().__init__(sum(self._client.nthreads().values()))
        if not self.workers:
            self.close()
            raise UsageError(
                f"the Dask scheduler {address} has no workers; start one with dask worker"
            )
        # Its client would print a traceback when the scheduler ends; the error below says enough.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        lost = WorkerDied(f"the Dask scheduler {address} ended or cannot be reached any more")
        died = WorkerDied(_DIED)
        self._losses = {KilledWorker: died, CancelledError: lost, CommClosedError: lost}
        self._pool = self._client.get_executor(pure=False)

    def close(self) -> None:
        """Leave the cluster, without waiting for chunks."""
        self._client.close()

    def _submit(self, work: Work, chunk: Sequence[Job]) -> Future[list[bytes]]:
        future: Future[list[bytes]] = self._pool.submit(
            rows_elsewhere, pickled(work, chunk), import_path()
        )
        return future


# -- policies that wait for a host -----------------------------------------------------------------


class WaitingExecutor(PoolExecutor):
    """Plays jobs whose policies wait for a host, each in a thread of this process."""

    submitted_per_worker: ClassVar[int] = 1
    most_jobs: ClassVar[int] = 1

    def __init__(self, at_once: int) -> None:
        super().__init__(at_once)
        self._budget = command_budget()
        self._budget.calls_at_once = self._budget.calls_at_once or at_once
        self._loops: dict[Future[list[bytes]], Any] = {}

    def close(self) -> None:
        """Stop the episodes under way, which release their records; others when they next wait."""
        under_way = dict(self._loops)
        for loop in under_way.values():
            _stop(loop)
        wait(under_way, _SECONDS_TO_STOP)

    def _submit(self, work: Work, chunk: Sequence[Job]) -> Future[list[bytes]]:  # noqa: ARG002 (rows of sweeps)
        import asyncio

        job, loop = chunk[0], asyncio.new_event_loop()
        with spending(self._budget):
            future = in_thread(copy_context().run, _rows, job, loop)
        self._loops[future] = loop
        future.add_done_callback(self._loops.pop)
        if job.cell.limits and job.cell.limits.seconds:
            seconds = job.cell.limits.seconds
            late = threading.Timer(seconds, _end_late, (job, seconds, future, loop))
            late.daemon = True
            future.add_done_callback(lambda _: late.cancel())
            late.start()
        return future


def _rows(job: Job, loop: Any) -> list[bytes]:
    with loop_player(lambda: loop) as play:
        return [play_with_files(job, play)]


def _end_late(job: Job, seconds: float, future: Future[list[bytes]], loop: Any) -> None:
    with contextlib.suppress(InvalidStateError):  # it has just ended
        future.set_result([failed_to_json(job, f"LimitReached: {time_text(seconds)}")])
    _stop(loop)


def _stop(loop: Any) -> None:
    with contextlib.suppress(RuntimeError):  # it has been closed
        loop.call_soon_threadsafe(loop.stop)


def in_thread(call: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """Start a call in a thread that does not keep a stopped process from ending."""
    done: Future[Any] = Future()
    done.set_running_or_notify_cancel()

    def work() -> None:
        with contextlib.suppress(InvalidStateError):  # another thread has set the result
            try:
                done.set_result(call(*arguments))
            except BaseException as error:  # noqa: BLE001 (raised where the result is read)
                done.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return done


# -- the executor of a command ---------------------------------------------------------------------


@contextlib.contextmanager
def opened_executor(
    executor: Executor | str | None, jobs: int, episodes: int
) -> Iterator[Executor]:
    """Provide the executor of a number of episodes; one that is created here is closed here."""
    if isinstance(executor, Executor):
        yield executor
        return
    if executor is not None and not isinstance(executor, str):
        raise UsageError(
            f"{short_repr(executor)} is no executor: give an object of a subclass of Executor"
        )
    with contextlib.closing(_executor(executor, jobs, episodes)) as made:
        yield made


def _executor(text: str | None, jobs: int, episodes: int) -> Executor:
    """Return a cluster, or the executor of this machine; with processes=N it has N, even one."""
    kind, _, address = (text or "").partition("=")
    if kind == "dask" and address:
        return DaskExecutor(address)
    parts = [] if text is None else text.split(",")
    given = dict(part.partition("=")[::2] for part in parts)
    numbers = {name: int(count) for name, count in given.items() if count.isdecimal()}
    if not given.keys() <= {"processes", "concurrent"} or not all(map(numbers.get, given)):
        raise UsageError(
            f"executor {short_repr(text)} was given; possible: processes=N, concurrent=N with N of "
            "at least 1, or both joined by a comma; dask=ADDRESS of a scheduler"
        )
    processes = numbers.get("processes", 0)
    if not processes:
        check_jobs(jobs)
        processes = jobs if min(jobs, episodes) > 1 else 0
    made = ProcessExecutor(processes) if processes else Executor()
    made.at_once = numbers.get("concurrent", AT_ONCE)
    return made
