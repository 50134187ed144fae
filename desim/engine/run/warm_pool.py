"""Worker processes that stay between sweeps, so that the next one starts at once.

Those of `workers` stay for a block, those of a call with `jobs` until no further call comes.

Workers report the files that they have loaded or read, so that the parent notices edited ones.
"""

import os
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from attrs import define, field

from desim.engine.run.executors import ChunkQueue, ChunkResult, Executor, Work
from desim.engine.run.job_messages import import_path, unpickle_and_play
from desim.engine.run.pool_executor import Numbered
from desim.engine.run.process_executor import ProcessExecutor
from desim.engine.run.signals import interrupts_deferred, workers_started
from desim.errors import DesimError, UsageError
from desim.opened_files import opened
from desim.short_repr import short_repr

if TYPE_CHECKING:
    from concurrent.futures import Future


#: When a file was last modified, in nanoseconds, and its size in bytes.
Stamp = tuple[int, int]


#: The stamp of a file that was modified while it was being loaded; differs from all real stamps.
CHANGED: Stamp = (-1, -1)


#: The folders of Python and installed packages, whose files are not edited between two sweeps.
_INSTALLED = tuple(
    os.path.join(sysconfig.get_path(name), "")  # noqa: PTH118 (compared as texts)
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
)


#: In a worker: the files that were reported to its parent.
_told: set[str] = set()


def play_and_tell(
    message: bytes, path: Sequence[str], started: int
) -> tuple[list[bytes], dict[str, Stamp]]:
    """Play a chunk in a worker; return its rows, and the files loaded since the last chunk.

    Args:
        message: The chunk.
        path: Where the parent finds modules.
        started: A time before the worker was started, in nanoseconds.
    """
    since = time.time_ns() if _told else started
    rows = unpickle_and_play(message, path)
    loaded = {file: stamp(file) for file in _new_files()}
    _told.update(loaded)
    # If a file was modified since then, its content may differ from the loaded one.
    return rows, {f: now if now[0] < since else CHANGED for f, now in loaded.items()}


def _new_files() -> set[str]:
    """Return the files of loaded modules and of their data that are not known to the parent."""
    # Not by `getattr`, which would run the `__getattr__` of modules that import lazily.
    files = {module.__dict__.get("__file__") for module in [*sys.modules.values()]} | opened()
    return {
        file
        for file in files
        if isinstance(file, str) and file not in _told and not file.startswith(_INSTALLED)
    }


def stamp(file: str) -> Stamp:
    """Return the stamp of a file; zeros if it does not exist, like a module inside an archive."""
    try:
        found = os.stat(file)  # noqa: PTH116 (hundreds of files before a sweep)
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def surroundings() -> Any:
    """Return the settings that a worker inherits from this process when it starts."""
    return os.getcwd(), import_path(), dict(os.environ)  # noqa: PTH109 (compared as texts)


#: Most worker processes of a pool.
_MAX_WORKERS = 1_000


def workers(count: int) -> "WarmPool":
    """Return worker processes that stay between sweeps: `with desim.workers(2) as pool`.

    Args:
        count: The number of processes, from 1 to 1,000.

    Raises:
        UsageError: The number is outside this range, or this process is itself a worker.
    """
    if type(count) is not int or not 1 <= count <= _MAX_WORKERS:
        raise UsageError(
            f"workers({short_repr(count)}) was called; give a whole number from 1 to "
            f"{_MAX_WORKERS:,}"
        )
    return WarmPool(count)


class WarmPool(ProcessExecutor):
    """Plays chunks of several sweeps, one sweep after the other, in the same worker processes.

    Rows are the same as with a new pool: if a source file that a worker has loaded, the
    environment, the current folder or `sys.path` has changed since the workers started, the next
    sweep restarts them. Killed workers are replaced, and so are workers that are still busy after
    an exception or Ctrl-C.

    Use it as a context manager, and as the *executor* of `sweep`, `compare`, `select` and `tune`.
    """

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self._in_use = threading.Lock()
        self._is_closed = False
        #: The settings with which the workers were started; None before the first sweep.
        self._started_in: Any = None
        #: A time before that, in nanoseconds.
        self._started = 0
        self._loaded: dict[str, Stamp] = {}

    def __enter__(self) -> Self:
        self._refuse_closed()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<WarmPool of {self.workers} workers{', closed' if self._is_closed else ''}>"

    def run(self, work: Work, chunks: ChunkQueue) -> Iterator[ChunkResult]:
        """Play chunks.

        Raises:
            UsageError: The pool is closed, or is playing another sweep.
        """
        if not self._in_use.acquire(blocking=False):
            raise UsageError(
                "these workers are playing another sweep; let one end before the next starts, or "
                "give each its own workers"
            )
        try:
            self._begin()
            yield from super().run(work, chunks)
        except DesimError:
            self._refuse_closed()
            raise
        finally:
            self._end()
            self._in_use.release()

    def close(self) -> None:
        """Kill the workers; the pool cannot be used afterwards."""
        if not self._is_closed:
            self._is_closed = True
            super().close()

    def _refuse_closed(self) -> None:
        if self._is_closed:
            raise UsageError(
                "these workers are closed; make the sweep inside `with desim.workers(...) as pool`"
            )

    def _begin(self) -> None:
        """Restart the workers if they differ from new ones."""
        self._refuse_closed()
        self._restarts = 0
        now = surroundings()
        if self._started_in is None:
            self._started = time.time_ns()
        elif now != self._started_in or not self._is_current():
            self._restart()
        self._started_in = now

    def _is_current(self) -> bool:
        """Return whether all workers live, and have loaded the present contents of files."""
        from concurrent.futures import BrokenExecutor

        if any(stamp(file) != loaded for file, loaded in self._loaded.items()):
            return False
        try:
            # Deferred, as an interrupt inside a future may leave its lock held.
            with interrupts_deferred(), workers_started():
                self._processes.submit(import_path).result()
        except BrokenExecutor:
            return False
        return True

    def _end(self) -> None:
        """Restart the workers if chunks of this sweep are left, which the next must not receive."""
        if self._submitted and not self._is_closed:
            self._restart()

    def _restart(self) -> "dict[Future[list[bytes]], Numbered]":
        self._refuse_closed()
        self._loaded, self._started = {}, time.time_ns()
        return super()._restart()

    def _submit(self, message: Any) -> "Future[list[bytes]]":
        with workers_started():
            return self._processes.submit(play_and_tell, message, import_path(), self._started)  # type: ignore[arg-type] # see `_rows`

    def _rows(self, future: "Future[Any]") -> list[bytes]:
        rows: list[bytes]
        rows, loaded = future.result()
        for file, known in loaded.items():
            # Workers that have loaded different contents are not all current.
            same = self._loaded.setdefault(file, known) == known
            self._loaded[file] = known if same else CHANGED
        return rows


# -- workers of `jobs=N` ---------------------------------------------------------------------------

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
