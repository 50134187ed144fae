"""Where finished results are kept while jobs are played: the protocols, and a store in memory."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Protocol, Self

from desim.jobs.plan.job import Frame, JobPlan


class SweepWarning(UserWarning):
    """Rows of a store that were damaged or discarded."""


class KeptResults(Protocol):
    """The results of a plan's jobs that are kept; jobs are given by their indices."""

    @property
    def firsts(self) -> Sequence[int]:
        """For each cell of the plan the first one that plays the same; all jobs are of these."""
        ...

    def __contains__(self, job: int, /) -> bool: ...

    def __iter__(self) -> Iterator[int]: ...

    def add(
        self, jobs: Sequence[int], results: Sequence[bytes], files: Sequence[Mapping[str, str]]
    ) -> None:
        """Add the results of some jobs, all of them or none.

        Args:
            jobs: Jobs without results so far.
            results: The result of each.
            files: For each the digests of the files that were opened to play it, by path.

        Raises:
            UsageError: A file has changed since kept results were played.
        """
        ...

    def results(self, jobs: Iterable[int]) -> Iterator[bytes]:
        """Yield the results of some jobs, in their order."""
        ...


class Store(Protocol):
    """Keeps results by cell and seed; a context manager. See also `cell_store`."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...

    def of(self, plan: JobPlan, frames: Sequence[Frame] = ()) -> KeptResults:
        """Return what is kept of a plan.

        Args:
            plan: The jobs.
            frames: The frame of each cell, with which `Rows.read` reads the rows of an unfinished
                command; empty for a command without rows.

        Raises:
            UsageError: Code or files of kept results have changed.
        """
        ...


class MemoryStore:
    """Keeps the results of each plan in memory, for itself."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def of(self, plan: JobPlan, frames: Sequence[Frame] = ()) -> KeptResults:  # noqa: ARG002 (a store's)
        """Return the results of a plan, none so far."""
        return _Results(range(len(plan) // len(plan.seeds)))


class _Results:
    """The results of a plan in memory."""

    def __init__(self, firsts: Sequence[int]) -> None:
        self.firsts = firsts
        self._kept: dict[int, bytes] = {}

    def __contains__(self, job: int) -> bool:
        return job in self._kept

    def __iter__(self) -> Iterator[int]:
        return iter(self._kept)

    def add(
        self,
        jobs: Sequence[int],
        results: Sequence[bytes],
        files: Sequence[Mapping[str, str]],  # noqa: ARG002 (results in memory belong to one call)
    ) -> None:
        """Add the results of some jobs."""
        self._kept.update(zip(jobs, results, strict=True))

    def results(self, jobs: Iterable[int]) -> Iterator[bytes]:
        """Yield the results of some jobs."""
        return map(self._kept.__getitem__, jobs)
