"""Work in worker processes that is no sweep: the first process that dies ends it."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, cast

from desim.errors import UsageError
from desim.jobs.run.executors import ChunkQueue, ChunkResult, SerialExecutor, Work, WorkerDied
from desim.jobs.run.process_executor import ProcessExecutor
from desim.short_repr import short_repr

__all__ = ["check_jobs", "in_workers"]


class _Workers(ProcessExecutor):
    """Worker processes of which none is started anew: what is no episode has no failed row."""

    def _after_death(self, work: Work, fault: WorkerDied) -> NoReturn:  # noqa: ARG002
        raise fault


def in_workers(
    work: Callable[[Sequence[Any]], Iterator[bytes]], chunks: Sequence[Sequence[Any]], jobs: int
) -> Iterator[ChunkResult]:
    """Yield the number of each chunk and its rows, as they finish.

    What cannot be imported by name, such as classes of a notebook, is sent to the workers by value.
    On Ctrl-C chunks that finish within a short time are yielded first.

    Args:
        work: Yields a row for each item of a chunk.
        chunks: The items.
        jobs: How many processes; with 1, and for a single chunk, this process works.

    Raises:
        WorkerDied: A process ended before it returned.
        UsageError: Something cannot be sent to a worker.
    """
    workers = min(jobs, len(chunks))
    with contextlib.closing(SerialExecutor() if workers <= 1 else _Workers(workers)) as executor:
        # Executors look into jobs only after a death, which `_Workers` does not do.
        yield from executor.run(cast("Work", work), cast("ChunkQueue", iter(chunks)))


def check_jobs(jobs: object) -> None:
    """Check a number of worker processes.

    Raises:
        UsageError: It is no whole number of at least 1.
    """
    if type(jobs) is not int or jobs < 1:
        raise UsageError(f"jobs={short_repr(jobs)} was given; it is a whole number of at least 1")
