"""Where finished rows are kept during a sweep: the protocol, and a store in memory."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import TracebackType
from typing import Protocol, Self


class SweepWarning(UserWarning):
    """Rows of a checkpoint that were damaged or discarded."""


class Store(Protocol):
    """Keeps rows by the index of their job; a context manager. See also `checkpoint`."""

    def __len__(self) -> int: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...

    def jobs(self) -> AbstractSet[int]:
        """Return the indices of the finished jobs."""
        ...

    def add(self, jobs: Sequence[int], rows: Sequence[bytes]) -> None:
        """Add the rows of some jobs, all of them or none."""
        ...

    def note_files(self, files: Mapping[str, str]) -> None:
        """Note files that were opened to play rows, before these are added.

        Args:
            files: Their digests by path.

        Raises:
            UsageError: A file has changed since kept rows were played.
        """
        ...

    def remove(self, jobs: Iterable[int]) -> None:
        """Remove the rows of some jobs."""
        ...

    def rows(self) -> Iterator[bytes]:
        """Yield the rows in the order of their jobs."""
        ...


class MemoryStore:
    """Keeps rows in memory."""

    def __init__(self) -> None:
        self._rows: dict[int, bytes] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def jobs(self) -> AbstractSet[int]:
        """Return the indices of the finished jobs."""
        return self._rows.keys()

    def add(self, jobs: Sequence[int], rows: Sequence[bytes]) -> None:
        """Add the rows of some jobs."""
        self._rows.update(zip(jobs, rows, strict=True))

    def note_files(self, files: Mapping[str, str]) -> None:
        """Do nothing: rows in memory belong to one call."""

    def remove(self, jobs: Iterable[int]) -> None:
        """Remove the rows of some jobs."""
        for job in jobs:
            self._rows.pop(job, None)

    def rows(self) -> Iterator[bytes]:
        """Yield the rows in the order of their jobs."""
        yield from (self._rows[job] for job in sorted(self._rows))
