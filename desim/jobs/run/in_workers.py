"""Work in worker processes outside of sweeps; the first process that dies ends it."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, cast

from desim.errors import UsageError
from desim.jobs.run.executors import ChunkQueue, ChunkResult, SerialExecutor, Work, WorkerDied
from desim.jobs.run.process_executor import ProcessExecutor
from desim.short_repr import short_repr


class _Workers(ProcessExecutor):
    """Worker processes that are not restarted: only an episode can become a failed row."""

    def _after_death(self, work: Work, fault: WorkerDied) -> NoReturn:  # noqa: ARG002
        raise fault


def in_workers(
    work: Callable[[Sequence[Any]], Iterator[bytes]], chunks: Sequence[Sequence[Any]], jobs: int
) -> Iterator[ChunkResult]:
    """Yield the number of each chunk and its rows, as they finish.

    Objects that cannot be imported by name, such as classes of a notebook, are sent to the workers
    by value. On Ctrl-C chunks that finish within a short time are yielded first.

    Args:
        work: Yields a row for each item of a chunk.
        chunks: The items.
        jobs: The number of processes; with 1, and for a single chunk, this process does the work.

    Raises:
        WorkerDied: A process ended before it returned.
        UsageError: Something cannot be sent to a worker.
    """
    workers = min(jobs, len(chunks))
    with contextlib.closing(SerialExecutor() if workers <= 1 else _Workers(workers)) as executor:
        # Executors inspect jobs only after a worker died; `_Workers` then raises.
        yield from executor.run(cast("Work", work), cast("ChunkQueue", iter(chunks)))


def check_jobs(jobs: object) -> None:
    """Check a number of worker processes.

    Raises:
        UsageError: The number is not a whole number of at least 1.
    """
    if type(jobs) is not int or jobs < 1:
        raise UsageError(f"jobs={short_repr(jobs)} was given; it is a whole number of at least 1")
