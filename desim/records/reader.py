"""Reads the lines of a record, and checks their order and their digest."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from desim.core.run import check_futures
from desim.errors import BadRecord, NoRecord, UsageError
from desim.records.lines import FORMAT, FailureLine, Header, Line, ResultLine, Step
from desim.records.record_file import is_damaged, lines_of
from desim.schema.untrusted import check_keys
from desim.short_repr import short_repr, shortened
from desim.version import __version__

_decode, _encode = msgspec.json.Decoder(Line).decode, msgspec.json.Encoder().encode

#: Errors of decoding a line: not JSON, another type, invalid UTF-8, too deep, too large a number.
_FAULTS = (msgspec.MsgspecError, ValueError, RecursionError, OverflowError)


def lines_up_to(path: Path, last: int | None = None) -> Iterator[Line]:
    """Yield the header of a record and its lines up to a decision; those behind it are checked.

    The whole lines of a record that was cut are read.

    Raises:
        NoRecord: See `lines_of`.
        BadRecord: The record is empty, altered, or of another format.
    """
    try:
        yield from _checked(path, last)
    except NoRecord:
        raise
    except BadRecord:
        if is_damaged(path):
            damage = "the file is damaged, as its gzip checksum shows; use another copy"
            raise BadRecord(damage) from None
        raise


def _checked(path: Path, last: int | None) -> Iterator[Line]:
    numbered = enumerate(lines_of(path), 1)
    _, first = next(numbered, (1, b""))
    if not first:
        raise BadRecord("the file is empty or damaged; a record starts with a header")
    yield _header(first)
    decisions, digest = 0, hashlib.sha256(first)
    for number, raw in numbered:
        if not raw.endswith(b"\n"):
            return  # the process was killed while it wrote
        line = _decoded(raw, f"decision {decisions + 1} (line {number})")
        if isinstance(line, Header):
            raise BadRecord(f"line {number} is a second header")
        if isinstance(line, ResultLine | FailureLine):
            if next(numbered, None) is not None:
                raise BadRecord(f"line {number} is a result, but the file has further lines")
            _check_digest(digest, raw)
        digest.update(raw)
        if last is None or decisions < last:
            yield line
        decisions += isinstance(line, Step)


class RecordedSteps(Sequence[Step]):
    """The decisions of a record, read from its file whenever they are used.

    To get one by its number reads the whole file, so iterate.
    """

    def __init__(self, path: Path, count: int) -> None:
        self._path, self._count = path, count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Step]:
        return (line for line in lines_up_to(self._path, self._count) if isinstance(line, Step))

    def __getitem__(self, at: int | slice) -> Any:
        return tuple(self)[at]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]


def _header(line: bytes) -> Header:
    try:
        form = msgspec.json.decode(line).get("format")
    except (*_FAULTS, AttributeError):
        form = None
    if form is not None and form != FORMAT:
        reads = f"this desim {__version__} reads {FORMAT!r}"
        raise BadRecord(f"the record has format {short_repr(form)}; {reads}")
    header = _decoded(line, "line 1") if form else None
    if not isinstance(header, Header):
        raise BadRecord("the file is no episode record: its first line is no header")
    try:
        check_futures(header.futures)
    except UsageError as fault:
        raise BadRecord(f"line 1 is not readable: {fault}") from None
    return header


def _decoded(line: bytes, what: str) -> Line:
    try:
        decoded: Line = _decode(line)
        # A line that desim wrote is the same when it is written again, which is faster to find out
        # than whether a key is repeated.
        if _encode(decoded) != line[:-1]:
            check_keys(line)
    except _FAULTS as fault:
        raise BadRecord(f"{what} is not readable: {shortened(str(fault))}") from None
    return decoded


def _check_digest(digest: "hashlib._Hash", line: bytes) -> None:
    before, key, end = line.rpartition(b',"record_digest":"')
    digest.update(before)
    if not key or end != b'%b"}\n' % digest.hexdigest().encode():
        raise BadRecord("the record was altered: its last line has not the digest of its lines")
