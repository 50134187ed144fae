"""Executors of sweeps on a pool with the interface of `concurrent.futures`, or an event loop."""

import contextlib
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from itertools import islice
from queue import Empty, SimpleQueue
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from desim.engine.keep.budget import command_budget, spending
from desim.engine.plan import Job
from desim.engine.run.executors import ChunkQueue, ChunkResult, Work, WorkerDied
from desim.engine.run.job_messages import import_path, pickled, unpickle_and_play
from desim.engine.run.play_job import play_first_in_loop
from desim.engine.run.signals import interrupts_deferred
from desim.errors import DesimError

if TYPE_CHECKING:  # `import desim` must not load the pools, nor asyncio
    from asyncio import AbstractEventLoop, Event
    from concurrent.futures import Executor as Pool
    from concurrent.futures import Future


#: The number of a chunk, and its jobs.
Numbered = tuple[int, Sequence[Job]]

#: Seconds that submitted chunks are awaited after Ctrl-C; a worker returns its chunk after
#: `SECONDS_PER_CHUNK` (0.25) unless one episode takes longer.
_SECONDS_AFTER_INTERRUPT = 0.6

#: Seconds for which the end of an event loop waits for the coroutines that are cancelled.
_SECONDS_TO_STOP = 2.0


class PoolExecutor:
    """Plays chunks on a pool.

    Args:
        pool: Where chunks are submitted.
        workers: The number of chunks that the pool plays at once.
        losses: The error to raise for each exception by which the pool reports a lost worker.

    Attributes:
        workers: The number of chunks played at once.
    """

    #: Chunks submitted per worker, so that no worker waits while the parent stores a result.
    submitted_per_worker: ClassVar[int] = 2

    def __init__(
        self,
        pool: "Pool",
        workers: int,
        losses: Mapping[type[Exception], WorkerDied] = MappingProxyType({}),
    ) -> None:
        self.workers = workers
        self._pool = pool
        self._losses = losses
        self._submitted: dict[Future[list[bytes]], Numbered] = {}
        self._finished: SimpleQueue[Future[list[bytes]]] = SimpleQueue()

    def run(self, work: Work, chunks: ChunkQueue) -> Iterator[ChunkResult]:
        """Play chunks; on Ctrl-C chunks that finish within a short time are yielded first."""
        numbered = enumerate(chunks)
        try:
            while self._fill(work, numbered):
                try:
                    result = self._result(self._finished.get())
                except WorkerDied as fault:
                    yield from self._after_death(work, fault)
                else:
                    yield result
        except KeyboardInterrupt:
            yield from self._last_results()
            raise

    def close(self) -> None:
        """Shut the pool down; waits for its workers only if none of them is busy."""
        # A worker that is killed while it writes a result may keep the pool waiting forever.
        self._pool.shutdown(wait=not self._submitted, cancel_futures=True)

    def _after_death(self, work: Work, fault: WorkerDied) -> Iterator[ChunkResult]:  # noqa: ARG002
        """Yield the results of the chunks that a dead worker may have had; here raises *fault*."""
        raise fault

    def _fill(self, work: Work, numbered: Iterator[tuple[int, Sequence[Job]]]) -> bool:
        """Submit chunks until every worker has enough; return whether any chunk is submitted."""
        wanted = self.submitted_per_worker * self.workers - len(self._submitted)
        for index, chunk in islice(numbered, wanted):
            message = self._message(work, chunk)
            # An interrupt inside a pool or a future may leave its lock held. `wait` of
            # `concurrent.futures` holds such locks as well, so a queue is used instead.
            with interrupts_deferred():
                future = self._submit_or_fail(message)
                self._submitted[future] = index, chunk
                future.add_done_callback(self._finished.put)
        return bool(self._submitted)

    def _message(self, work: Work, chunk: Sequence[Job]) -> Any:
        """Return a chunk as it is submitted."""
        return pickled(work, chunk)

    def _submit_or_fail(self, message: Any) -> "Future[list[bytes]]":
        """Submit a chunk; if the pool has lost a worker, return a future with that error."""
        from concurrent.futures import Future

        try:
            with self._desim_errors():
                return self._submit(message)
        except WorkerDied as fault:
            future: Future[list[bytes]] = Future()
            future.set_exception(fault)
            return future

    def _submit(self, message: Any) -> "Future[list[bytes]]":
        return self._pool.submit(unpickle_and_play, message, import_path())

    def _result(self, future: "Future[list[bytes]]") -> ChunkResult:
        """Return the result of a finished chunk."""
        with self._desim_errors():
            rows = self._rows(future)
        return self._submitted.pop(future)[0], rows

    def _rows(self, future: "Future[list[bytes]]") -> list[bytes]:
        """Return the rows of a finished chunk, or raise the error that ended it."""
        return future.result()

    def _last_results(self) -> Iterator[ChunkResult]:
        """Cancel the chunks that have not begun, and yield those that finish in time."""
        end = time.monotonic() + _SECONDS_AFTER_INTERRUPT
        with interrupts_deferred():
            self._submitted = {f: each for f, each in self._submitted.items() if not f.cancel()}
        while self._submitted:
            try:
                future = self._finished.get(timeout=max(0, end - time.monotonic()))
            except Empty:
                return
            if future in self._submitted:  # cancelled chunks are in the queue as well
                yield self._result(future)

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


class EventLoopExecutor(PoolExecutor):
    """Plays jobs whose policies wait for a host in one event loop, in a thread of this process.

    The first job of each chunk is played and the others come back unplayed, so that a free place
    takes the next job. All episodes share the budget of the command.

    Args:
        at_once: Episodes under way at once, and so calls at one host; at least 1.
    """

    submitted_per_worker: ClassVar[int] = 1

    def __init__(self, at_once: int) -> None:
        self._loop = LoopThread()
        super().__init__(self._loop, at_once)  # type: ignore[arg-type] # it has the methods in use
        self._budget = command_budget()
        self._budget.calls_at_once = self._budget.calls_at_once or at_once

    def _message(self, work: Work, chunk: Sequence[Job]) -> Any:  # noqa: ARG002 (rows of sweeps)
        return chunk

    def _submit(self, message: Any) -> "Future[list[bytes]]":
        with spending(self._budget):  # a coroutine runs in the context in which it is submitted
            return self._loop.submit(play_first_in_loop, message)


class LoopThread:
    """An event loop in a thread that does not keep the process alive."""

    def __init__(self) -> None:
        self._started = threading.Event()
        self._loop: AbstractEventLoop | None = None
        self._stopped: Event | None = None
        self._thread = threading.Thread(target=self._run, name="desim-waiting", daemon=True)
        self._thread.start()

    def submit(
        self, function: Callable[..., Coroutine[Any, Any, list[bytes]]], *arguments: Any
    ) -> "Future[list[bytes]]":
        """Start a coroutine in the loop, in the present context."""
        import asyncio

        self._started.wait()
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(function(*arguments), self._loop)

    def shutdown(self, *, wait: bool, cancel_futures: bool) -> None:  # noqa: ARG002 (of a pool)
        """Cancel what is under way and stop the loop."""
        self._started.wait()
        assert self._loop is not None
        assert self._stopped is not None
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(_SECONDS_TO_STOP)

    def _run(self) -> None:
        import asyncio

        asyncio.run(self._until_stopped())  # at its end, cancels the coroutines under way

    async def _until_stopped(self) -> None:
        import asyncio

        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        self._started.set()
        await self._stopped.wait()
