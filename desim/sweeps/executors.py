"""Where jobs are played: in this process, in spawned workers, or on a Dask cluster.

An executor has two methods. `run(work, chunks)` yields what became of each chunk as it completes;
`close()` gives the workers back. It may return fewer rows than a chunk has jobs: the rest is then
put back and comes again in another chunk.
"""

import contextlib
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from desim.errors import DesimError, UsageError
from desim.sweeps.jobs import Job

if TYPE_CHECKING:
    from concurrent.futures import Executor as Pool
    from concurrent.futures import Future

__all__ = ["Executor", "Here", "Played", "Pooled", "Queue", "Work", "WorkerDied", "processes"]

#: Plays jobs one after the other and yields their rows as JSON; it may stop before the last.
Work = Callable[[Sequence[Job]], Iterator[bytes]]
Queue = Iterator[Sequence[Job]]
Played = tuple[int, list[bytes]]

#: Chunks given out for each worker, so that none waits while a result is taken in.
AHEAD = 2

#: Seconds that chunks in flight are waited for after Ctrl-C.
GRACE = 0.6


class WorkerDied(DesimError):
    """A worker process ended without giving back its chunk."""


@runtime_checkable
class Executor(Protocol):
    """Plays chunks of jobs somewhere."""

    def run(self, work: Work, chunks: Queue) -> Iterator[Played]:
        """Play chunks.

        Args:
            work: What plays jobs; picklable.
            chunks: Taken as workers come free. It may run dry while chunks are in flight and have
                more to give when one of them came back unfinished.

        Yields:
            A chunk's place in `chunks`, from 0, and the rows of its first jobs, in any order of
            chunks.
        """
        ...

    def close(self) -> None:
        """Give the workers back, at once even where they are busy."""
        ...


class Here:
    """Plays in this process, one job after the other."""

    def run(self, work: Work, chunks: Queue) -> Iterator[Played]:
        """Play chunks; on Ctrl-C the jobs that are finished are handed over before it goes on."""
        for index, chunk in enumerate(chunks):
            rows: list[bytes] = []
            try:
                rows.extend(work(chunk))
            except KeyboardInterrupt:
                yield index, rows
                raise
            yield index, rows

    def close(self) -> None:
        """There is nothing to give back."""


class Pooled:
    """Plays on a pool with the interface of `concurrent.futures`.

    Args:
        pool: Where chunks are submitted.
        workers: How many chunks it plays at once.
        stop: Ends the pool at once; told whether it is busy.
        deaths: What the pool raises when a worker is gone.
    """

    def __init__(
        self,
        pool: "Pool",
        workers: int,
        stop: Callable[[bool], None],
        deaths: tuple[type[Exception], ...],
    ) -> None:
        self.workers = workers
        self._pool = pool
        self._stop = stop
        self._deaths = deaths
        self._flying: dict[Future[list[bytes]], int] = {}

    def run(self, work: Work, chunks: Queue) -> Iterator[Played]:
        """Play chunks; on Ctrl-C those about to be finished are waited for."""
        numbered = enumerate(chunks)
        try:
            while self._fill(work, numbered):
                yield from self._landed(None)
        except KeyboardInterrupt:
            self._flying = {f: index for f, index in self._flying.items() if not f.cancel()}
            yield from self._landed(GRACE)
            raise

    def close(self) -> None:
        """End the pool."""
        self._stop(bool(self._flying))

    def _fill(self, work: Work, numbered: Iterator[tuple[int, Sequence[Job]]]) -> bool:
        """Submit until enough is in flight; say whether anything is."""
        for index, chunk in islice(numbered, AHEAD * self.workers - len(self._flying)):
            message = packed(work, chunk)
            with self._told(), _interrupts_kept_from_children():
                future = self._pool.submit(unpack_and_play, message, _path())
            self._flying[future] = index
        return bool(self._flying)

    def _landed(self, seconds: float | None) -> Iterator[Played]:
        """Wait for one chunk, or so many seconds for all, and yield what came back."""
        from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, wait

        until = FIRST_COMPLETED if seconds is None else ALL_COMPLETED
        done = wait(self._flying, seconds, until).done
        # Where a worker died, what others finished counts nevertheless.
        for future in sorted(done, key=_failed):
            with self._told():
                rows = future.result()
            yield self._flying.pop(future), rows

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what a pool raises into one sentence."""
        try:
            yield
        except DesimError:
            raise
        except self._deaths:
            raise WorkerDied(
                "a worker process died: it ran out of memory, was killed, was ended by a policy, "
                "or could not import the script that started the sweep; try fewer jobs, or jobs=1 "
                "to see which episode it is"
            ) from None
        except Exception as fault:
            what = f"{type(fault).__name__}: {fault}"
            raise DesimError(f"a worker failed outside of any episode ({what})") from fault


def _failed(future: "Future[list[bytes]]") -> bool:
    return future.cancelled() or future.exception() is not None


def processes(workers: int) -> Pooled:
    """Spawn worker processes that import what this process can import.

    Args:
        workers: How many; at least 1.

    Raises:
        UsageError: This process is a worker that imports the script of its parent.
    """
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
    from multiprocessing import current_process, get_context

    if getattr(current_process(), "_inheriting", False):
        raise UsageError(
            "a worker came upon the sweep that started it; in the script put what it does under "
            '`if __name__ == "__main__":`'
        )
    pool = ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=_begin_worker, initargs=(_path(),)
    )

    def stop(busy: bool) -> None:  # noqa: FBT001 (the one thing it is told)
        # Idle or not: to leave Python in good order would take a worker longer than to start.
        for child in list((pool._processes or {}).values()):  # noqa: SLF001 (3.14: kill_workers)
            child.kill()
        # One that was killed while it wrote would be waited for in vain.
        pool.shutdown(wait=not busy, cancel_futures=True)

    return Pooled(pool, workers, stop, (BrokenExecutor,))


def packed(work: Work, chunk: Sequence[Job]) -> bytes:
    """Pickle a chunk.

    Raises:
        UsageError: Its model or a policy cannot be sent to another process.
    """
    try:
        return pickle.dumps((work, chunk), pickle.HIGHEST_PROTOCOL)
    except Exception as fault:  # noqa: BLE001 (pickling runs code of others)
        raise UsageError(
            f"a job cannot be sent to a worker ({fault}); define its model and policies at the "
            "top of a module, or use jobs=1"
        ) from None


def unpack_and_play(message: bytes, path: Sequence[str]) -> list[bytes]:
    """Play a chunk in a worker, which may be on another machine."""
    sys.path.extend(each for each in path if each not in sys.path)
    try:
        work, chunk = pickle.loads(message)  # noqa: S301 (it comes from our own parent)
    except Exception as fault:  # noqa: BLE001 (as above)
        raise UsageError(
            f"a worker cannot make a job again ({type(fault).__name__}: {fault}); define its model "
            "and policies in a file that can be imported, or use jobs=1"
        ) from None
    return list(work(chunk))


def _path() -> list[str]:
    """Return where modules are looked for; an empty entry stands for the present folder."""
    return [each or os.getcwd() for each in sys.path]  # noqa: PTH109 (entries are texts)


def _begin_worker(path: list[str]) -> None:
    """Prepare a worker: same modules, deaf to Ctrl-C, gone when its parent is gone."""
    sys.path[:] = path
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    from multiprocessing import parent_process

    if parent := parent_process():
        parent.join()
        # A worker holds both ends of its queue, so it would never learn that nobody reads.
        os._exit(1)


@contextlib.contextmanager
def _interrupts_kept_from_children() -> Iterator[None]:
    """Start children with Ctrl-C blocked, so that they are deaf before they run any code."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
