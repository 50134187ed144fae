"""Writes a record line by line, so that the record of a killed run holds all its decisions."""

import contextlib
import gzip
import hashlib
import os
from collections.abc import Iterable
from io import BufferedWriter
from pathlib import Path
from typing import Any, Self

import msgspec

from desim.core.result import Result
from desim.errors import UsageError, WriteFailed
from desim.records.lines import FailureLine, Header, Line, ResultLine, ResumedLine, Step
from desim.records.reader import lines_up_to
from desim.records.record_lock import RecordLock

_encode = msgspec.json.Encoder().encode

#: Ends the name of a copy that replaces a record once it is whole.
_PART = ".part"


class Recorder:
    """Writes a record; a context manager that closes the file.

    Each line is with the system when the method that writes it returns. After a write that fails
    nothing more is written, so that a record has no line behind one that is cut.

    Raises:
        UsageError: The file exists or cannot be made.
        WriteFailed: From each method that writes.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._raw = new_record(self.path)
        # Not through the buffer, which takes twice as long for a line that is written at once.
        self._file: Any = self._raw.raw
        if self.path.name.removesuffix(_PART).endswith(".gz"):
            # Neither name nor time of day in the file: the same episode is the same bytes.
            self._file = gzip.GzipFile("", "wb", fileobj=self._raw, mtime=0)
        self._digest = hashlib.sha256()
        self._fault: WriteFailed | None = None
        self._resumed: ResumedLine | None = None

    @classmethod
    def again(cls, path: str | Path, decisions: int | None = None) -> Self:
        """Continue a record behind its first decisions; None continues behind its last line.

        The old file stays until a copy of these lines, `PATH.part`, is on disk and replaces it. The
        first line that is written behind them states that the record was resumed, unless a branch
        begins there.
        """
        path = Path(path)
        part = path.with_name(path.name + _PART)
        with contextlib.suppress(OSError):  # the next line says why it cannot be replaced
            part.unlink()
        recorder = cls(part)
        try:
            recorder._copy(lines_up_to(path, decisions))
            os.fsync(recorder._raw.fileno())
            part.replace(path)
        except BaseException as fault:
            recorder.__exit__(type(fault))
            part.unlink(missing_ok=True)
            if isinstance(fault, OSError):
                raise write_failed(path, fault) from None
            raise
        recorder.path = path
        return recorder

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object = None, *_: object) -> None:
        for file in (self._file, self._raw):
            try:
                file.close()
            except OSError as fault:
                # The error that ends the episode, or the first failed write, says more.
                if kind is None and self._fault is None:
                    self._fault = write_failed(self.path, fault)
                    raise self._fault from None

    def write(self, line: Line) -> None:
        """Write any line but the last; a decision has its observation and action as JSON."""
        if self._resumed:
            self._state_resumed()
        self._put(_encode(line))

    def end(self, end: Result | FailureLine) -> None:
        """Write the last line, with the digest of all before it."""
        if self._resumed:
            self._state_resumed()
        line = _encode(ResultLine.of(end) if isinstance(end, Result) else end)
        self._digest.update(line[:-1])
        self._put(b'%b,"record_digest":"%b"}' % (line[:-1], self._digest.hexdigest().encode()))

    def _copy(self, lines: Iterable[Line]) -> None:
        """Write the lines of another record without its end."""
        begun, decisions = -1, 0
        for line in lines:
            if isinstance(line, Header):
                begun = max([*line.starts.values(), *(at for at, _ in line.futures)], default=-1)
            if not isinstance(line, ResultLine | FailureLine):
                decisions += isinstance(line, Step)
                self._put(_encode(line))
        if decisions > begun:
            self._resumed = ResumedLine(decisions)

    def _state_resumed(self) -> None:
        resumed, self._resumed = self._resumed, None
        self._put(_encode(resumed))

    def _put(self, line: bytes) -> None:
        if self._fault is not None:
            raise self._fault
        line += b"\n"
        try:
            rest = line
            while rest:  # the system may take a part of a line
                rest = rest[self._file.write(rest) :]
            self._file.flush()
        except OSError as fault:
            self._fault = write_failed(self.path, fault)
            raise self._fault from None
        self._digest.update(line)


def new_record(path: Path) -> BufferedWriter:
    """Open a file that does not exist yet; a `UsageError` if it exists or cannot be made."""
    try:
        return path.open("xb")
    except FileExistsError:
        text = f"{path} exists and is kept; choose another name or remove it"
        raise UsageError(text) from None
    except OSError as fault:
        raise UsageError(f"cannot write {path}: {fault.strerror}") from None


def write_failed(path: Path, fault: OSError) -> WriteFailed:
    """Return the error for a file that the system does not write."""
    kept = "every line that was written before is kept"
    return WriteFailed(f"cannot write {path}: {fault.strerror}; {kept}")


def cut(path: Path, decisions: int) -> None:
    """Shorten a record, whole or not, to its first decisions and what was written before them."""
    with RecordLock(path), Recorder.again(path, decisions):
        pass
