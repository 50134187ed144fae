"""A worker process that plays one job at a time, so that its death names the job."""

import os
import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from desim.engine.run.signals import interrupts_deferred, workers_started
from desim.errors import DesimError

if TYPE_CHECKING:  # `import desim` must not load the pools
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing.process import BaseProcess


#: Seconds in which a process that has ended must report its exit code.
_SECONDS_TO_REPORT = 5.0

T = TypeVar("T")


class ProcessEnded(DesimError):
    """The process ended during a call; the text says how."""


class LoneWorker:
    """Runs calls in one process.

    Args:
        pool: A pool of one process, which is started here and closed by `close`.

    Raises:
        ProcessEnded: The process ended before it could take a call.
    """

    def __init__(self, pool: "ProcessPoolExecutor") -> None:
        self._pool = pool
        self.call(os.getpid)

    def call(self, function: Callable[..., T], *arguments: object) -> T:
        """Return the result of a function in the process.

        Raises:
            ProcessEnded: The process ended before it returned.
        """
        from concurrent.futures import BrokenExecutor

        processes = children(self._pool)
        try:
            with interrupts_deferred(), workers_started():
                future = self._pool.submit(function, *arguments)
            processes = children(self._pool) or processes
            return future.result()
        except BrokenExecutor:
            raise ProcessEnded(", ".join(map(_ending, processes))) from None

    def close(self) -> None:
        """Kill the process."""
        with interrupts_deferred():
            kill(self._pool)
            self._pool.shutdown(wait=True, cancel_futures=True)


def children(pool: "ProcessPoolExecutor") -> "list[BaseProcess]":
    """Return the processes of a pool; empty once it has noticed that one of them ended."""
    return list((pool._processes or {}).values())  # noqa: SLF001 (3.14: kill_workers)


def kill(pool: "ProcessPoolExecutor") -> None:
    """Kill the processes of a pool, idle ones too, which would take long to shut Python down."""
    for child in children(pool):
        child.kill()


def _ending(process: "BaseProcess") -> str:
    """Return how a process ended; the pool's own thread may be the one that waits for it."""
    end = time.monotonic() + _SECONDS_TO_REPORT
    while (code := process.exitcode) is None and time.monotonic() < end:
        time.sleep(0.01)
    if code is not None and code < 0:
        return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"
