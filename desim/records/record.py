"""Reading and writing the lines of a record."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, overload

import msgspec

from desim.core.roles import Role
from desim.core.run import check_futures
from desim.errors import BadRecord, UsageError
from desim.records.lines import (
    FORMAT,
    FailureLine,
    Header,
    Lines,
    ResultLine,
    ResumedLine,
    Step,
    TranscriptEntry,
)
from desim.records.record_file import lines_of
from desim.schema import encode_tagged, has_tags
from desim.schema.untrusted import check_keys
from desim.short_repr import cut, shown
from desim.version import __version__

_ENDED = re.compile(rb'(.*),"record_digest":"([0-9a-f]{64})"\}\n', re.DOTALL)


#: The policy in a header for a role that a person plays.
PERSON = "person"


class TaggedStep(Step, frozen=True, omit_defaults=True, gc=False):
    """A decision just made of a role that observes several classes.

    Read from a file it is a `Step`, whose observation has its tag already.
    """

    @staticmethod
    def encoded(observation: Any) -> bytes:
        """Return an observation as JSON with its tag, as a record holds it."""
        return encode_tagged(observation)


def step_class(role: Role) -> type[Step]:
    """Return the class of a role's decisions."""
    return TaggedStep if has_tags(role.observation) else Step


Line = Header | Step | TranscriptEntry | ResumedLine | ResultLine | FailureLine


_decode, _decode_lines = (
    msgspec.json.Decoder(Line).decode,
    msgspec.json.Decoder(Line).decode_lines,
)


_encode, _encode_lines = msgspec.json.Encoder().encode, msgspec.json.Encoder().encode_lines


#: Bytes of lines that are decoded together.
_BLOCK_BYTES = 1 << 16


#: Errors of decoding a line: not JSON, another type, invalid UTF-8, too deep, too large a number.
_FAULTS = (msgspec.MsgspecError, ValueError, RecursionError, OverflowError)


def parse(
    lines: Iterable[bytes],
    *,
    whole: bool,
    kept: int | None = None,
    decisions: int | None = None,
) -> Lines:
    """Read the lines of a record.

    Args:
        lines: With their ends.
        whole: Refuse a record without a result. Otherwise a cut record is read up to the last
            whole line, and its result is None.
        kept: The number of decisions to keep; None keeps all.
        decisions: Return the record as if it had been cut after this many decisions. The lines
            behind them are checked as the others are, and not kept.

    Raises:
        BadRecord: The record is empty, cut, altered, or of another format.
    """
    whole_lines = iter(lines)
    first = next(whole_lines, None)
    if first is None:
        raise BadRecord("the file is empty; a record starts with a header")
    record = Lines(_header(first), [], [])
    found, digest = 0, hashlib.sha256(first)
    decoded = _decoded(whole_lines)
    for number, (raw, known) in enumerate(decoded, 2):
        if not raw.endswith(b"\n"):
            break  # the process was killed while it wrote
        line = known or _decoded_line(raw, f"decision {found + 1} (line {number})")
        if not isinstance(line, Step | TranscriptEntry | ResumedLine):
            _end(record, line, number, decoded)
            _check_digest(digest, raw)
            break
        digest.update(raw)
        # Lines after the last decision of interest are read for the digest alone.
        if decisions is None or found < decisions:
            _take(record, line, kept)
        found += isinstance(line, Step)
    if whole and record.result is None:
        raise BadRecord(_no_result(record))
    if decisions is not None and found >= decisions:
        record.result = record.failure = None
    return record


class RecordedSteps(Sequence[Step]):
    """The decisions of a record, read from its file whenever they are used.

    In memory is one at a time. To get one by its number reads the file up to it, so iterate.

    Args:
        path: A record that stays where it is.
        count: The number of its decisions.
    """

    def __init__(self, path: Path, count: int) -> None:
        self._path, self._count = path, count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Step]:
        lines = decoded_lines(lines_of(self._path))
        return islice((line for line in lines if isinstance(line, Step)), self._count)

    @overload
    def __getitem__(self, at: int) -> Step: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Step, ...]: ...

    def __getitem__(self, at: int | slice) -> Any:
        numbers = range(self._count)[at]
        if isinstance(numbers, int):
            return next(islice(self, numbers, None))
        if numbers.step < 0:
            return tuple(self)[at]
        return tuple(islice(self, numbers.start, numbers.stop, numbers.step))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RecordedSteps | tuple) or len(self) != len(other):
            return NotImplemented
        return all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self._count} decisions in {self._path}>"


def decoded_lines(lines: Iterable[bytes]) -> Iterator[Line]:
    """Yield what the whole lines of a record hold, one in memory at a time.

    Their digest is not checked, as `parse` does.

    Raises:
        BadRecord: A line is not readable.
    """
    for number, (raw, known) in enumerate(_decoded(lines), 1):
        if raw.endswith(b"\n"):
            yield known or _decoded_line(raw, f"line {number}")


def _take(record: Lines, line: Step | TranscriptEntry | ResumedLine, kept: int | None) -> None:
    if isinstance(line, TranscriptEntry):
        record.transcript.append(line)
        record.transcript_after.append(record.decisions)
        return
    if isinstance(line, ResumedLine):
        record.resumed.append(line.decisions)
        return
    record.decisions += 1
    if kept is None or record.decisions <= kept:
        record.steps.append(line)


def _end(record: Lines, line: Line, number: int, following: Iterator[object]) -> None:
    """Take a last line.

    Raises:
        BadRecord: The line is a second header, or the file has further lines.
    """
    if isinstance(line, Header):
        raise BadRecord(f"line {number} is a second header")
    if next(following, None) is not None:
        raise BadRecord(f"line {number} is a result, but the file has further lines")
    if isinstance(line, FailureLine):
        record.failure = line
    elif isinstance(line, ResultLine):
        record.result = line.result()


def _no_result(record: Lines) -> str:
    failure = record.failure
    if failure is None:
        return f"the record was cut after {record.decisions} decisions: it has no result"
    return (
        f"the run failed at t={failure.t} after decision {failure.decisions}: {failure.error}; "
        f"desim branch FILE --at {failure.before + 1} plays on from before it"
    )


def _check_digest(digest: "hashlib._Hash", line: bytes) -> None:
    """Check the end of the last line: the digest of all bytes before it, which finds damage.

    Raises:
        BadRecord: The line has no digest, or a wrong one.
    """
    found = _ENDED.fullmatch(line)
    if found is None:
        raise BadRecord("the record was altered: its last line does not end with a digest")
    digest.update(found[1])
    if found[2].decode() != digest.hexdigest():
        raise BadRecord("the record was altered: its lines do not have the digest of its last line")


def _header(line: bytes) -> Header:
    try:
        form = msgspec.json.decode(line).get("format")
    except (*_FAULTS, AttributeError):
        form = None
    if form is None:
        raise BadRecord("the file is no episode record: its first line is no header")
    if form != FORMAT:
        reads = f"this desim {__version__} reads {FORMAT!r}"
        raise BadRecord(f"the record has format {shown(form)}; {reads}")
    header = _decoded_line(line, "line 1")
    if not isinstance(header, Header):
        raise BadRecord("the file is no episode record: its first line is no header")
    try:
        check_futures(header.futures)
    except UsageError as fault:
        raise BadRecord(f"line 1 is not readable: {fault}") from None
    return header


def _decoded(lines: Iterable[bytes]) -> Iterator[tuple[bytes, Line | None]]:
    """Yield each line with what it holds, decoded together with its neighbours, which is faster.

    None means a line that must be decoded alone, because it or a neighbour is not as desim
    writes it: cut, altered, or with an end that no type of a line has.
    """
    block: list[bytes] = []
    size = 0
    for line in lines:
        block.append(line)
        size += len(line)
        if size > _BLOCK_BYTES:
            yield from _decoded_block(block)
            block, size = [], 0
    yield from _decoded_block(block)


def _decoded_block(block: list[bytes]) -> Iterable[tuple[bytes, Line | None]]:
    whole = b"".join(block)
    try:
        found: list[Line] = _decode_lines(whole)
        # Lines that are the same when they are written again repeat no key; see `_line`.
        if len(found) == len(block) and _encode_lines(found) == whole:
            return zip(block, found, strict=True)
    except _FAULTS:
        pass
    return ((line, None) for line in block)


def _decoded_line(line: bytes, what: str) -> Line:
    try:
        decoded: Line = _decode(line)
        # A line that desim wrote is the same when it is written again, which is faster to find out
        # than whether a key is repeated.
        if _encode(decoded) != line[:-1]:
            check_keys(line)
    except _FAULTS as fault:
        raise BadRecord(f"{what} is not readable: {cut(str(fault))}") from None
    return decoded
