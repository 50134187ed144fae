"""The executor of jobs whose policies wait for a host: a thread and an event loop for each."""

import contextlib
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError, wait
from contextvars import copy_context
from typing import Any, ClassVar

from desim.core.limits import time_text
from desim.engine.budget import command_budget, spending
from desim.engine.plan import Job
from desim.engine.run.executors import PoolExecutor
from desim.engine.run.job_messages import Work
from desim.engine.run.play_job import failed_to_json, loop_player, play_with_files

#: Seconds for which the end of an executor waits for episodes that it stops.
_SECONDS_TO_STOP = 2.0


class WaitingExecutor(PoolExecutor):
    """Plays jobs whose policies wait for a host, each in a thread of this process.

    All episodes share the budget of the command.

    Args:
        at_once: Episodes under way at once, and so calls at one host; at least 1.
    """

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

    def _submit(self, work: Work, chunk: Sequence[Job]) -> "Future[list[bytes]]":  # noqa: ARG002 (rows of sweeps)
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


def _end_late(job: Job, seconds: float, future: "Future[list[bytes]]", loop: Any) -> None:
    with contextlib.suppress(InvalidStateError):  # it has just ended
        future.set_result([failed_to_json(job, f"LimitReached: {time_text(seconds)}")])
    _stop(loop)


def _stop(loop: Any) -> None:
    with contextlib.suppress(RuntimeError):  # it has been closed
        loop.call_soon_threadsafe(loop.stop)


def in_thread(call: Callable[..., Any], *arguments: Any) -> "Future[Any]":
    """Start a call in a thread that does not keep a stopped process from ending."""
    done: Future[Any] = Future()
    done.set_running_or_notify_cancel()

    def work() -> None:
        with contextlib.suppress(InvalidStateError):  # somebody else has set the result
            try:
                done.set_result(call(*arguments))
            except BaseException as error:  # noqa: BLE001 (raised where the result is read)
                done.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return done
