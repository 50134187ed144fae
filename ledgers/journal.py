"""What every ledger shares: refusals, a read-only journal, usable names, a fingerprint."""

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import starmap
from operator import itemgetter
from typing import Any, Generic, TypeVar, overload

import msgspec

__all__ = [
    "Journal",
    "LedgerError",
    "WrongChart",
    "WrongTime",
    "chart",
    "fingerprint",
    "listed",
    "unknown",
    "writable",
    "written",
    "wrong_time",
]

Record = TypeVar("Record")

_time = itemgetter(0)  # of a row, whichever ledger wrote it


class LedgerError(ValueError):
    """A ledger refused a call; nothing in it has changed."""


class WrongChart(LedgerError):
    """The names declared for a ledger cannot be used."""


class WrongTime(LedgerError):
    """A time is not an `int`, or lies before the last entry."""


class Journal(Sequence[Record], Generic[Record]):
    """A read-only window on the rows of a ledger, which grows with it.

    Rows become records only when looked at; a record is a copy, which cannot reach the ledger.
    """

    __slots__ = ("_record", "_rows")

    def __init__(self, rows: Sequence[tuple[Any, ...]], record: Callable[..., Record]) -> None:
        """Look at *rows*, each of which holds the arguments of *record*."""
        self._rows = rows
        self._record = record

    def __len__(self) -> int:
        """Rows written so far."""
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Record, ...]: ...
    def __getitem__(self, index: int | slice) -> Record | tuple[Record, ...]:
        """One record, or a tuple of them."""
        if isinstance(index, slice):
            return tuple(starmap(self._record, self._rows[index]))
        return self._record(*self._rows[index])

    def __iter__(self) -> Iterator[Record]:
        """Every record in the order of writing."""
        return starmap(self._record, self._rows)

    def span(self, since: int | None = None, until: int | None = None) -> range:
        """Positions of the records of a period, found without a walk through the others.

        Args:
            since: First tick of the period; from the first record on, where it is not given.
            until: Last tick of the period, all of which counts; to the last record by default.

        Raises:
            WrongTime: A tick is not an `int`, or the period ends before it begins.
        """
        for tick in (since, until):
            if tick is not None and type(tick) is not int:
                raise WrongTime(f"a period is asked for in whole ticks, not with {tick!r}")
        if since is not None and until is not None and until < since:
            raise WrongTime(f"a period must not end before it begins: t={since} to t={until}")
        rows = self._rows
        first = 0 if since is None else bisect_left(rows, since, key=_time)
        return range(first, len(rows) if until is None else bisect_right(rows, until, key=_time))

    def __repr__(self) -> str:
        """Show the records as a list does."""
        return f"Journal({list(self)!r})"


def chart(kind: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return *names* as a tuple once each is known to be usable.

    Raises:
        WrongChart: No names, an empty one, one that is no text, or one declared twice.
    """
    declared = () if isinstance(names, str) else tuple(names)
    if not declared:
        raise WrongChart(f"declare at least one {kind}, in a list of names, not {names!r}")
    for name in declared:
        if type(name) is not str or not name or not writable(name):
            raise WrongChart(f"the name of an {kind} is a text that can be written, not {name!r}")
    if twice := [name for name in dict.fromkeys(declared) if declared.count(name) > 1]:
        raise WrongChart(f"each {kind} is declared once, but {', '.join(twice)} came twice")
    return declared


def listed(names: str | Iterable[str]) -> tuple[str, ...]:
    """Take one name without brackets for a list of one, not for a list of its letters."""
    return (names,) if isinstance(names, str) else tuple(names)


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """Say in a sentence that *name* is none of the *known*, and which one was likely meant."""
    names = list(known)
    near = get_close_matches(name, names, 1) if isinstance(name, str) else []
    hint = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(names)}"
    return f"no {kind} is named {name!r}; {hint}"


def wrong_time(time: object, last: float) -> str:
    """Say in a sentence why *time* cannot follow *last*."""
    if type(time) is not int:
        return f"time must be an int, not {time!r} ({type(time).__name__})"
    return f"time must not run backwards: t={time} comes after t={last}"


def fingerprint(rows: Sequence[tuple[Any, ...]]) -> str:
    """SHA-256 of *rows* in JSON, with the keys of mappings sorted and Fractions as text."""
    # One encoding of the whole: an episode's digest costs little beside the episode.
    written = msgspec.json.encode(rows, order="deterministic", enc_hook=str)
    return hashlib.sha256(written).hexdigest()


def written(units: int, digits: int) -> str:
    """Write *units* in the currency with all its *digits*, without a detour through floats."""
    whole, rest = divmod(abs(units), 10**digits)
    tail = f".{rest:0{digits}d}" if digits else ""
    return f"{'-' if units < 0 else ''}{whole:,}{tail}"


def writable(text: str) -> bool:
    """Tell whether *text* has a UTF-8 form, which a lone surrogate has not."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
