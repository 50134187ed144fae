"""Calls in worker processes, for work that is no sweep."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from desim.errors import UsageError
from desim.sweeps.executors import DIED, WorkerDied
from desim.sweeps.interrupts import interrupts_deferred
from desim.sweeps.lone_worker import kill
from desim.sweeps.process_executor import spawned_pool

__all__ = ["in_workers"]

T = TypeVar("T")
R = TypeVar("R")


def in_workers(call: Callable[[T], R], tasks: Sequence[T], jobs: int) -> Iterator[tuple[int, R]]:
    """Yield the number of each task and its result, as they finish.

    Args:
        call: A function or a callable object that can be pickled.
        tasks: What it is called with.
        jobs: How many processes; with 1, and for a single task, this process calls.

    Raises:
        WorkerDied: A process ended before it returned.
        UsageError: A task cannot be pickled.
    """
    if jobs <= 1 or len(tasks) <= 1:
        yield from ((number, call(task)) for number, task in enumerate(tasks))
        return
    from concurrent.futures import BrokenExecutor, as_completed

    _check_picklable(call, tasks[0])
    pool = spawned_pool(min(jobs, len(tasks)))
    try:
        numbers = {pool.submit(call, task): number for number, task in enumerate(tasks)}
        for done in as_completed(numbers):
            yield numbers[done], done.result()
    except BrokenExecutor:
        raise WorkerDied(DIED) from None
    finally:
        with interrupts_deferred():
            kill(pool)
            pool.shutdown(wait=True, cancel_futures=True)


def _check_picklable(call: object, task: object) -> None:
    import pickle

    try:
        pickle.dumps((call, task), pickle.HIGHEST_PROTOCOL)
    except Exception as fault:  # noqa: BLE001 (pickling runs users' code)
        raise UsageError(
            f"the work cannot be sent to a worker ({fault}); define the model and the policies at "
            "the top of a module, or use jobs=1"
        ) from None
