"""Executors of a sweep, which play chunks of jobs: the protocols, and those of this process."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

from desim.errors import DesimError

#: Plays jobs in order and yields their rows as JSON; it may stop before the last job.
Work = Callable[[Sequence[Any]], Iterator[bytes]]

#: The chunks that are left.
ChunkQueue = Iterator[Sequence[Any]]

#: The number of a chunk, counted from 0, and the rows of its first jobs.
ChunkResult = tuple[int, list[bytes]]


class WorkerDied(DesimError):
    """A worker process ended before it returned its chunk."""


class SchedulerLost(WorkerDied):
    """The scheduler of a cluster ended or cannot be reached any more."""


#: The usual reasons of a death.
DIED = (
    "a worker process died: it ran out of memory, was killed, was ended by a policy, or could not "
    "import the script that started the sweep; try fewer jobs"
)


@runtime_checkable
class Executor(Protocol):
    """Plays chunks of jobs."""

    def run(self, work: Work, chunks: ChunkQueue) -> Iterator[ChunkResult]:
        """Play chunks.

        Args:
            work: Plays the jobs of a chunk; picklable.
            chunks: Taken as workers become free. It may be exhausted while chunks are being played
                and yield again when one of them comes back incomplete.

        Yields:
            The number of a chunk in *chunks*, counted from 0, and the rows of its first jobs; in
            any order of chunks. Jobs without a row are put into a later chunk.
        """
        ...

    def close(self) -> None:
        """Release the workers at once, even if they are busy."""
        ...


#: Episodes that wait for a host under way at once, where no number is given.
AT_ONCE = 8


@runtime_checkable
class HasWorkers(Protocol):
    """An executor that plays several chunks at once."""

    @property
    def workers(self) -> int:
        """The number of chunks played at once; 1 without this member. Sets the size of chunks."""
        ...


def worker_count(executor: Executor) -> int:
    """Return the number of chunks that an executor plays at once."""
    return executor.workers if isinstance(executor, HasWorkers) else 1


class SerialExecutor:
    """Plays one job after the other in this process."""

    def run(self, work: Work, chunks: ChunkQueue) -> Iterator[ChunkResult]:
        """Play chunks; on Ctrl-C or an error the finished rows are yielded first."""
        for index, chunk in enumerate(chunks):
            rows: list[bytes] = []
            try:
                rows.extend(work(chunk))
            except BaseException:
                yield index, rows
                raise
            yield index, rows

    def close(self) -> None:
        """Do nothing, as this executor has no workers."""


class LocalExecutor:
    """Plays jobs that compute with one executor, and those that wait for a host with another.

    Args:
        computing: Plays chunks of jobs that compute; closed with this executor.
        make_waiting: Makes the executor of the jobs that wait, once there are any.
    """

    def __init__(self, computing: Executor, make_waiting: Callable[[], Executor]) -> None:
        self._computing = computing
        self._make_waiting = make_waiting
        self._waiting: Executor | None = None

    @property
    def workers(self) -> int:
        """The number of chunks of jobs that compute played at once."""
        return worker_count(self._computing)

    @property
    def waiting(self) -> Executor:
        """Plays the jobs whose policies wait for a host."""
        self._waiting = self._waiting or self._make_waiting()
        return self._waiting

    def run(self, work: Work, chunks: ChunkQueue) -> Iterator[ChunkResult]:
        """Play chunks of jobs that compute."""
        return self._computing.run(work, chunks)

    def close(self) -> None:
        """Close both executors."""
        self._computing.close()
        if self._waiting is not None:
            self._waiting.close()
