"""Pools of worker processes: how they start, what an idle one waits for, how they end.

The processes are those of loky. They do not import the script that starts them, so that it needs no
`if __name__ == "__main__":`.
"""

import contextlib
import os
import signal
import sys
import sysconfig
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from desim.engine.opened_files import opened
from desim.engine.run.job_messages import import_path, unpickle_and_play
from desim.engine.run.signals import allow_exit, interrupts_blocked, interrupts_deferred
from desim.episodes.child import WAITS_FOR_PARENT
from desim.errors import DesimError

if TYPE_CHECKING:  # `import desim` must not load the pools
    from concurrent.futures import Future
    from multiprocessing.process import BaseProcess

#: Seconds after which an idle worker ends.
IDLE_SECONDS = 60

#: Seconds after which a worker finds that its parent has ended.
_LEFT_BEHIND = 1.0

#: Seconds in which a process that has ended must report its exit code.
_SECONDS_TO_REPORT = 5.0

#: The variable by which Python does not import from the current folder while it starts, and the
#: value that stands for none in the parent.
_SAFE, _SAFE_HERE = "PYTHONSAFEPATH", "while a worker starts"


class WorkerDied(DesimError):
    """A worker process ended before it returned its chunk."""


class FilesChanged(WorkerDied):
    """Files that a worker has loaded were edited; new workers load them anew."""


class ProcessEnded(DesimError):
    """The process of a pool of one ended during a call; the text says how."""


# -- in the parent ---------------------------------------------------------------------------------


def worker_pool(workers: int) -> Any:
    """Return a loky pool whose processes use this one's import path, and end with it."""
    import multiprocessing.resource_tracker

    from loky import ProcessPoolExecutor
    from loky.backend import resource_tracker

    # It warns of workers that end while idle, and where no tool lists the processes to kill.
    warnings.filterwarnings("ignore", category=UserWarning, module=r"loky\.")
    env = {} if os.environ.get(_SAFE) else {_SAFE: _SAFE_HERE}
    with interrupts_blocked():
        os.environ.update(env)
        try:  # the process that frees what workers leave has this one's environment
            resource_tracker.ensure_running()
            if os.name == "posix":  # the only system on which loky needs it
                multiprocessing.resource_tracker.ensure_running()
        finally:
            for name in env:
                del os.environ[name]
        return ProcessPoolExecutor(
            workers,
            timeout=IDLE_SECONDS,
            initializer=_begin_worker,
            initargs=(import_path(), os.getpid()),
            env=env,
        )


def submitted(pool: Any, function: Callable[..., Any], *arguments: object) -> "Future[Any]":
    """Submit a call to a pool, which may start its processes.

    Ctrl-C in a terminal reaches the whole process group. The parent alone handles it, so a worker
    starts with SIGINT blocked, until `_begin_worker` ignores it.
    """
    with interrupts_deferred(), interrupts_blocked():
        future: Future[Any] = pool.submit(function, *arguments)
    return future


def call_alone(pool: Any, function: Callable[..., Any], *arguments: object) -> Any:
    """Return the result of a function in the process of a pool of one.

    Raises:
        ProcessEnded: The process ended before it returned; the text says how.
    """
    from concurrent.futures import BrokenExecutor

    processes = children(pool)
    try:
        if not processes:  # started first, as a pool forgets the processes that have ended
            submitted(pool, os.getpid).result()
            processes = children(pool)
        return submitted(pool, function, *arguments).result()
    except BrokenExecutor:
        raise ProcessEnded(", ".join(map(_ending, processes))) from None


def end_pool(pool: Any) -> None:
    """Kill the processes of a pool, idle ones too, which would take long to shut Python down."""
    with interrupts_deferred():
        pool.shutdown(wait=False, kill_workers=True)


def children(pool: Any) -> "list[BaseProcess]":
    """Return the processes of a pool; empty before its first call, and once one of them ended."""
    return [*pool._processes.values()]  # noqa: SLF001 (it tells exit codes nowhere else)


def _ending(process: "BaseProcess") -> str:
    """Return how a process ended; the pool's own thread may be the one that waits for it."""
    end = time.monotonic() + _SECONDS_TO_REPORT
    while (code := process.exitcode) is None and time.monotonic() < end:
        time.sleep(0.01)
    if code is not None and code < 0:
        return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"


# -- pools between two sweeps ----------------------------------------------------------------------

#: Pools that play nothing, each behind what its processes have inherited.
_idle: list[tuple[Any, Any]] = []


def take_pool(workers: int) -> Any:
    """Return an idle pool whose workers are as new ones, or a new pool; ends other idle pools."""
    from concurrent.futures import BrokenExecutor

    while _idle:
        inherited, pool = _idle.pop()
        if inherited == _inherited(workers):
            with contextlib.suppress(BrokenExecutor):
                submitted(pool, os.getpid).result()
                return pool
        end_pool(pool)
    return worker_pool(workers)


def keep_pool(pool: Any, workers: int) -> None:
    """Keep a pool for the next sweep."""
    _idle.append((_inherited(workers), pool))


def end_idle_pools() -> None:
    """End the workers that wait for a sweep."""
    while _idle:
        end_pool(_idle.pop()[1])


def _inherited(workers: int) -> Any:
    """Return the settings of this process that make a pool; a forked process has others."""
    folder = os.getcwd()  # noqa: PTH109 (compared as texts)
    return os.getpid(), workers, folder, import_path(), dict(os.environ)


# -- in a worker -----------------------------------------------------------------------------------

#: When a file was last modified, in nanoseconds, and its size in bytes.
_Stamp = tuple[int, int]

#: The stamp of a file that was modified while it was being loaded; differs from all real stamps.
_UNKNOWN: _Stamp = (-1, -1)

#: The folders of Python and installed packages, whose files are not edited between two sweeps.
_INSTALLED = tuple(
    os.path.join(sysconfig.get_path(name), "")  # noqa: PTH118 (compared as texts)
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
)

#: The files that this worker has loaded.
_loaded: dict[str, _Stamp] = {}

#: The sweep that this worker plays: a time, in nanoseconds.
_sweep = 0


def play_if_current(message: bytes, path: Sequence[str], sweep: int) -> list[bytes]:
    """Play a chunk in a worker.

    Args:
        message: The chunk.
        path: Where the parent finds modules.
        sweep: When the sweep began, in nanoseconds.

    Raises:
        FilesChanged: A file that the worker has loaded has changed before the sweep.
    """
    global _sweep  # noqa: PLW0603 (one worker plays one sweep)
    if _sweep != sweep and any(_stamp(file) != known for file, known in _loaded.items()):
        raise FilesChanged("the files of a model or a policy are edited again and again")
    _sweep = sweep
    rows = unpickle_and_play(message, path)
    for file in _files() - _loaded.keys():
        stamp = _stamp(file)
        # If the file was modified since the sweep began, other content may have been loaded.
        _loaded[file] = stamp if stamp[0] < sweep else _UNKNOWN
    return rows


def _files() -> set[str]:
    """Return the files of loaded modules and of their data that somebody may edit."""
    # Not by `getattr`, which would run the `__getattr__` of modules that import lazily.
    files = {module.__dict__.get("__file__") for module in [*sys.modules.values()]} | opened()
    return {one for one in files if isinstance(one, str) and not one.startswith(_INSTALLED)}


def _stamp(file: str) -> _Stamp:
    """Return the stamp of a file; zeros if it does not exist, like a module inside an archive."""
    try:
        found = os.stat(file)  # noqa: PTH116 (hundreds of files before a sweep)
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def _begin_worker(path: list[str], parent: int) -> None:
    """Prepare a worker: set the parent's import path, ignore SIGINT, end when the parent ends."""
    from multiprocessing.util import Finalize

    if os.environ.get(_SAFE) == _SAFE_HERE:
        del os.environ[_SAFE]
    sys.path[:] = path
    allow_exit()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    waits = threading.Thread(
        target=_end_with_parent, args=(parent,), name=WAITS_FOR_PARENT, daemon=True
    )
    waits.start()
    # The parent waits for its workers when it exits; freeing their modules takes a while.
    Finalize(None, os._exit, args=(0,), exitpriority=-100)


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LEFT_BEHIND)
    os._exit(1)
