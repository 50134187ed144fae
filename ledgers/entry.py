"""One entry of a book with its memo, and the journal of a ledger with its digest."""

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar, overload

import msgspec
from attrs import field, frozen

from ledgers.errors import LedgerError, WrongTime, writable


class WrongEntry(LedgerError):
    """An entry has no lines, a text without a UTF-8 form, or names an account twice."""


def checked_text(text: object) -> str:
    """Return *text* as a plain `str`, or raise `WrongEntry` if it cannot be written."""
    if not writable(text):
        raise WrongEntry(f"the text of an entry is a text that can be written, not {text!r}")
    return str(text)


@frozen
class Memo:
    """The description of an entry: a text for people, and a kind and references as data.

    One memo may serve many entries. Statements and views select entries by `kind`, such as "J3",
    never by their text; the digest of a book covers the text, not kind or references. A book checks
    the text when it posts an entry.
    """

    text: str
    kind: str = ""
    references: Mapping[str, str | int] = field(factory=dict, hash=False)


class Entry(NamedTuple):
    """One entry of the journal, as it was posted.

    Time is in ticks of the world's clock; amounts are integer units of currency by account, which
    sum to zero. Kind and references are those of the memo, empty for a text alone.
    """

    time: int
    text: str
    amounts: Mapping[str, int]
    kind: str = ""
    references: Mapping[str, str | int] = MappingProxyType({})


Record = TypeVar("Record")
_time = itemgetter(0)  # the first field of a row, in every ledger


class Journal(Sequence[Record], Generic[Record]):
    """A read-only view of the rows of a ledger; it shows rows that are added later.

    `record` makes a record of one element of each column when it is read; changing the record does
    not change the ledger. The first column has tuples whose first field is the time.
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
        return map(self._record, *self._columns)

    def span(self, since: int | None = None, until: int | None = None) -> range:
        """Return the positions of the records from tick *since* to tick *until*, both included."""
        for tick in (since, until):
            if tick is not None and type(tick) is not int:
                raise WrongTime(f"the ends of a period are whole ticks, not {tick!r}")
        if since is not None and until is not None and until < since:
            raise WrongTime(f"a period must not end before it begins: t={since} to t={until}")
        rows = self._rows
        first = 0 if since is None else bisect_left(rows, since, key=_time)
        return range(first, len(rows) if until is None else bisect_right(rows, until, key=_time))


def fingerprint(rows: Sequence[tuple[Any, ...]]) -> str:
    """Return the SHA-256 of *rows* in JSON, with sorted keys and Fractions as text."""
    # One encoding of all rows: the digest must cost little beside the episode.
    encoded = msgspec.json.encode(rows, order="deterministic", enc_hook=str)
    return hashlib.sha256(encoded).hexdigest()
