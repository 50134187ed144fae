"""One entry of a book, and the memo that describes it.

The journal of a ledger: a read-only view of its rows, and the digest of them.
"""

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
    """Return *text* as a plain `str`.

    Raises:
        WrongEntry: It is not text, or has no UTF-8 form.
    """
    if not isinstance(text, str) or not writable(text):
        raise WrongEntry(f"the text of an entry is a text that can be written, not {text!r}")
    return str(text)


def _plain(text: str) -> str:
    return checked_text(text)


def _copied(references: Mapping[str, str | int]) -> Mapping[str, str | int]:
    return dict(references)


@frozen
class Memo:
    """The description of an entry: a text for people, and a kind and references as data.

    One memo may serve many entries. Statements and views select entries by `kind`, never by their
    text; the digest of a book covers the text, not kind or references.

    Attributes:
        text: What happened, for people.
        kind: The model's own name for entries of this sort: "J3", "payroll".
        references: What the entry refers to, by name: `{"employee": "ann"}`.

    Raises:
        WrongEntry: *text* or *kind* is not text, or has no UTF-8 form.
    """

    text: str = field(converter=_plain)
    kind: str = field(default="", converter=_plain)
    references: Mapping[str, str | int] = field(factory=dict, converter=_copied, hash=False)


def text_of(text: str | Memo) -> str:
    """Return the text of a memo, and a plain text as it is."""
    return text.text if isinstance(text, Memo) else text


class Entry(NamedTuple):
    """One entry of the journal, as it was posted.

    Attributes:
        time: Ticks of the world's clock.
        text: What happened, for people.
        amounts: Integer units of currency by account; they sum to zero.
        kind: The memo's kind; "" for an entry posted with a text alone.
        references: The memo's references; empty for an entry posted with a text alone.
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
            A tuple for each row, with one element of each column. The elements are the ledger's
            own objects and must not be changed.
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
