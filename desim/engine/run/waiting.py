"""The executor of jobs whose policies wait for a host: one event loop for all of them."""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from desim.engine.budget import command_budget, spending
from desim.engine.plan import Job
from desim.engine.run.executors import PoolExecutor
from desim.engine.run.job_messages import Work
from desim.engine.run.play_job import play_first_in_loop

if TYPE_CHECKING:
    from concurrent.futures import Future

#: Seconds for which the end of an event loop waits for the coroutines that are cancelled.
_SECONDS_TO_STOP = 2.0


class EventLoopExecutor(PoolExecutor):
    """Plays jobs whose policies wait for a host in one event loop, in a thread of this process.

    The first job of each chunk is played and the others come back unplayed, so that a free place
    takes the next job. All episodes share the budget of the command.

    Args:
        at_once: Episodes under way at once, and so calls at one host; at least 1.
    """

    submitted_per_worker: ClassVar[int] = 1

    def __init__(self, at_once: int) -> None:
        import asyncio

        super().__init__(None, at_once)
        self._budget = command_budget()
        self._budget.calls_at_once = self._budget.calls_at_once or at_once
        self._loop, self._stopped = asyncio.new_event_loop(), asyncio.Event()
        # A daemon, so that it does not keep the process alive.
        self._thread = threading.Thread(target=self._run_loop, name="desim-waiting", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Cancel the episodes under way and stop the loop."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopped.set)
            self._thread.join(_SECONDS_TO_STOP)

    def _message(self, work: Work, chunk: Sequence[Job]) -> Any:  # noqa: ARG002 (rows of sweeps)
        return chunk

    def _submit(self, message: Any) -> "Future[list[bytes]]":
        import asyncio

        with spending(self._budget):  # a coroutine runs in the context in which it is submitted
            return asyncio.run_coroutine_threadsafe(play_first_in_loop(message), self._loop)

    def _run_loop(self) -> None:
        import asyncio

        # At its end, cancels the coroutines under way.
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._stopped.wait())
