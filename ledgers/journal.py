"""The journal of a ledger: a read-only view of its rows, and the digest of them."""

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any, Generic, TypeVar, overload

import msgspec

from ledgers.errors import WrongTime

__all__ = ["Journal", "fingerprint"]

Record = TypeVar("Record")

_time = itemgetter(0)  # the first field of a row, in every ledger


class Journal(Sequence[Record], Generic[Record]):
    """A read-only view of the rows of a ledger; it shows rows that are added later.

    A row becomes a record when it is read. A record is a copy: changing it does not change the
    ledger.

    Args:
        record: Makes a record of one element of each column.
        rows: The first column: tuples whose first field is the time.
        *columns: Further columns of the same length.
    """

    __slots__ = ("_columns", "_record", "_rows")

    def __init__(
        self,
        record: Callable[..., Record],
        rows: Sequence[tuple[Any, ...]],
        *columns: Sequence[Any],
    ) -> None:
        self._record = record
        self._rows = rows
        self._columns = (rows, *columns)

    def __len__(self) -> int:
        """Return the number of rows so far."""
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Record, ...]: ...
    def __getitem__(self, index: int | slice) -> Record | tuple[Record, ...]:
        """Return one record, or a tuple of them."""
        cells = [column[index] for column in self._columns]
        if isinstance(index, slice):
            return tuple(map(self._record, *cells))
        return self._record(*cells)

    def __iter__(self) -> Iterator[Record]:
        """Iterate over the records in the order of writing."""
        return map(self._record, *self._columns)

    def span(self, since: int | None = None, until: int | None = None) -> range:
        """Return the positions of the records of a period, by binary search.

        Args:
            since: First tick of the period; None means from the first record on.
            until: Last tick of the period, included whole; None means to the last record.

        Raises:
            WrongTime: A tick is not an `int`, or the period ends before it begins.
        """
        for tick in (since, until):
            if tick is not None and type(tick) is not int:
                raise WrongTime(f"the ends of a period are whole ticks, not {tick!r}")
        if since is not None and until is not None and until < since:
            raise WrongTime(f"a period must not end before it begins: t={since} to t={until}")
        rows = self._rows
        first = 0 if since is None else bisect_left(rows, since, key=_time)
        return range(first, len(rows) if until is None else bisect_right(rows, until, key=_time))

    def cells(
        self, since: int | None = None, until: int | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """Iterate over the rows of a period without making records, for sums over many rows.

        Args:
            since: First tick, as for `span`.
            until: Last tick.

        Returns:
            A tuple for each row, with one element of each column. They are those of the ledger, so
            nobody may change them.

        Raises:
            WrongTime: As `span` does.
        """
        span = self.span(since, until)
        return zip(*(column[span.start : span.stop] for column in self._columns), strict=True)

    def __repr__(self) -> str:
        """Show the records as a list does."""
        return f"Journal({list(self)!r})"


def fingerprint(rows: Sequence[tuple[Any, ...]]) -> str:
    """Return the SHA-256 of *rows* in JSON, with sorted keys and Fractions as text."""
    # One encoding of all rows: the digest must cost little beside the episode.
    encoded = msgspec.json.encode(rows, order="deterministic", enc_hook=str)
    return hashlib.sha256(encoded).hexdigest()
