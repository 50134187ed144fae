"""Writes a record line by line, so that the record of a killed run holds all its decisions."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Self

import msgspec

from desim.core.result import Result
from desim.core.world import Decision
from desim.errors import UsageError, WriteFailed
from desim.records.lines import (
    FailureLine,
    Header,
    ResultLine,
    ResumedLine,
    Step,
    TranscriptEntry,
)
from desim.records.record_file import RecordFile, lines_of, write_failed
from desim.records.record_lock import RecordLock
from desim.schema import tagged

_encode = msgspec.json.Encoder().encode


class Recorder:
    """Writes a record line by line; a context manager that closes the file.

    Args:
        path: A file that does not exist yet.
        form: ".gz" to gzip it; by default where its name ends so.

    Raises:
        UsageError: The file exists or cannot be made.
    """

    def __init__(self, path: str | Path, form: str = "") -> None:
        self.path = Path(path)
        self._digest = hashlib.sha256()
        self._raw = RecordFile(self.path)
        self._flush = (form or self.path.suffix) == ".gz"
        self._file: Any = _zipped(self._raw) if self._flush else self._raw
        self._fault: WriteFailed | None = None
        self._decisions = 0
        self._resumes, self._begun = False, -1

    @classmethod
    def again(
        cls,
        path: str | Path,
        kept: Iterable[bytes] | None = None,
    ) -> Self:
        """Continue a record behind the lines that are kept.

        The old file stays until a copy of these lines is on disk, which then replaces it. A partial
        copy left by a killed process, `PATH.part`, is overwritten. The first line that is written
        behind them states that the record was resumed. A branch that begins here is not resumed.

        Args:
            path: The record.
            kept: Lines with their ends; by default all that are whole, the last line of a failed
                run apart.

        Raises:
            UsageError: The copy cannot be made.
            WriteFailed: The copy cannot be written; the record is as it was.
        """
        path = Path(path)
        part = path.with_name(path.name + ".part")
        try:
            part.unlink(missing_ok=True)
        except OSError as fault:
            raise UsageError(f"cannot write {part}: {fault.strerror}") from None
        recorder = cls(part, path.suffix)
        try:
            for line in _lines_before_end(path) if kept is None else kept:
                recorder.copy(line)
            recorder.become(path)
        except BaseException as fault:
            recorder.__exit__(type(fault))
            part.unlink(missing_ok=True)
            raise
        return recorder

    def become(self, path: Path) -> None:
        """Take another name, and replace the file of that name.

        Raises:
            WriteFailed: The written lines are not on disk, or the file cannot be replaced.
        """
        self._raw.sync()
        try:
            self.path.replace(path)
        except OSError as fault:
            raise write_failed(path, fault) from None
        self.path = path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None = None, *_: object) -> None:
        for file in (self._file, self._raw):
            try:
                file.close()
            except WriteFailed as fault:
                # The error that ends the episode, or the first failed write, says more.
                if kind is None and self._fault is None:
                    self._fault = fault
                    raise

    def line(self, line: bytes) -> None:
        """Write one line and flush it.

        Raises:
            WriteFailed: The system does not take it, or did not take one before; a record has no
                line behind one that is cut.
        """
        self._put(line + b"\n")

    def copy(self, line: bytes) -> None:
        """Write a line of the record that is continued as it is, with its end, and flush it.

        Args:
            line: With its end.

        Raises:
            WriteFailed: See `line`.
        """
        self._write(line)
        kind = _decode_tag(line)
        if kind.line == "header":
            self._resumes, self._begun = True, kind.begun
        self._decisions += kind.line == "decision"
        self._digest.update(line)

    def _put(self, line: bytes) -> None:
        """Write a line with its end, and add it to the digest, which counts up to the last line."""
        if self._resumes:
            self._state_resumed()
        self._write(line)
        self._digest.update(line)

    def _state_resumed(self) -> None:
        """Write where the record was resumed, unless a branch begins there."""
        self._resumes = False
        if self._decisions > self._begun:
            self._put(_encode(ResumedLine(self._decisions)) + b"\n")

    def _end(self, line: bytes) -> None:
        """Write the last line, with the digest of all before it."""
        if self._resumes:
            self._state_resumed()
        self._digest.update(line[:-1])
        ended = b'%b,"record_digest":"%b"}\n' % (line[:-1], self._digest.hexdigest().encode())
        self._write(ended)

    def _write(self, line: bytes) -> None:
        if self._fault is not None:
            raise self._fault
        try:
            self._file.write(line)
            if self._flush:
                self._file.flush()
        except WriteFailed as fault:
            self._fault = fault
            raise

    def head(self, header: Header) -> None:
        """Write the first line."""
        self.line(_encode(header))

    def decision(
        self, t: int, decision: Decision, observed: bytes, notes: Mapping[str, Any] | None
    ) -> None:
        """Write an answered decision, whose observation is given as JSON."""
        asked = (t, decision.role, observed)
        self._put(_decision_line(asked, decision.wire, notes, decision.possible, decision.delay))

    def step(self, s: Step) -> None:
        """Write a decision that was played before."""
        asked = (s.t, s.role, s.observed)
        self._put(_decision_line(asked, tagged(s.action), s.notes, s.possible, s.delay))

    def transcript(self, entry: TranscriptEntry) -> None:
        """Write what a policy received."""
        self.line(_encode(entry))

    def result(self, result: Result) -> None:
        """Write the last line."""
        self._end(_encode(ResultLine.of(result)))

    def failure(self, failure: FailureLine) -> None:
        """Write the last line of a run whose model failed."""
        self._end(_encode(failure))


def cut(path: Path, decisions: int) -> None:
    """Shorten a record to its first decisions and the transcript entries before them.

    The old file stays until the shorter one is on disk, which then replaces it.

    Args:
        path: A record, whole or not.
        decisions: The number of decisions to keep, from 0 to the number recorded.

    Raises:
        UsageError: The new file, `PATH.part`, cannot be made, or another process writes the record.
    """
    with RecordLock(path), Recorder.again(path, lines_up_to(path, decisions)):
        pass


def lines_up_to(path: Path, decisions: int) -> Iterator[bytes]:
    """Yield the header and the lines up to a decision, with their ends."""
    left = decisions
    for line in _whole_lines(path):
        kind = line_kind(line)
        if not left and kind != "header":
            return
        yield line
        left -= kind == "decision"


def line_kind(line: bytes) -> str:
    """Return the tag of a line that was read before: "decision", "transcript", "result"."""
    return _decode_tag(line).line


def _lines_before_end(path: Path) -> Iterator[bytes]:
    return (line for line in _whole_lines(path) if line_kind(line) not in ("result", "failure"))


class _Tag(msgspec.Struct):
    """The key for the kind of a line, and what a header says of branches."""

    line: str
    starts: dict[str, int] = {}
    futures: list[tuple[int, int]] = []

    @property
    def begun(self) -> int:
        """The number of decisions that the last branch has copied; -1 for a record of no branch."""
        return max([*self.starts.values(), *(at for at, _ in self.futures)], default=-1)


_decode_tag = msgspec.json.Decoder(_Tag).decode


def _decision_line(
    asked: tuple[int, str, bytes],
    wire: bytes,
    notes: Mapping[str, Any] | None,
    possible: tuple[str, ...],
    delay: int,
) -> bytes:
    """Return the line of a decision with its end; its tick, role and observation are *asked*."""
    # Both are JSON already, so the line is joined instead of encoded as a whole.
    tail = b',"notes":' + _encode(notes) if notes else b""
    tail += b',"possible":' + _encode(possible) if possible else b""
    tail += b',"delay":%d' % delay if delay else b""
    t, role, observed = asked
    parts = (t, _role(role), observed, wire, tail)
    return b'{"line":"decision","t":%d,"role":%b,"observation":%b,"action":%b%b}\n' % parts


@cache
def _role(role: str) -> bytes:
    return _encode(role)


def _whole_lines(path: Path) -> Iterator[bytes]:
    return (line for line in lines_of(path) if line.endswith(b"\n"))


def _zipped(raw: RecordFile) -> Any:
    import gzip

    # Neither name nor time of day in the file: the same episode is the same bytes.
    return gzip.GzipFile("", "wb", fileobj=raw, mtime=0)
