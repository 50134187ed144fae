"""Where finished rows are kept: a protocol, and memory. A file is in `journal`."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from types import TracebackType
from typing import Protocol, Self

__all__ = ["Memory", "Store"]


class Store(Protocol):
    """Keeps rows by the number of their job; a context manager."""

    def __len__(self) -> int: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        where: TracebackType | None,
        /,
    ) -> None: ...

    def jobs(self) -> AbstractSet[int]:
        """Return the numbers of the finished jobs."""
        ...

    def add(self, jobs: Sequence[int], rows: Sequence[bytes]) -> None:
        """Keep the rows of some jobs, all or none of them."""
        ...

    def rows(self) -> Iterator[bytes]:
        """Yield the rows in the order of jobs."""
        ...


class Memory:
    """Keeps rows for as long as the sweep lasts."""

    def __init__(self) -> None:
        self._rows: dict[int, bytes] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def jobs(self) -> AbstractSet[int]:
        """Return the numbers of the finished jobs."""
        return self._rows.keys()

    def add(self, jobs: Sequence[int], rows: Sequence[bytes]) -> None:
        """Keep the rows of some jobs."""
        self._rows.update(zip(jobs, rows, strict=True))

    def rows(self) -> Iterator[bytes]:
        """Yield the rows in the order of jobs."""
        yield from (self._rows[job] for job in sorted(self._rows))
