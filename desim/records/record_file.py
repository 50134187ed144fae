"""Files of records: read within limits, and written completely or with an error.

A file may come from a stranger: only a regular file is opened, nothing is unzipped beyond the
limits, and a line is in memory only until the next one is read.
"""

import codecs
import io
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from desim.errors import BadRecord, UsageError, WriteFailed
from desim.show.files import open_regular

#: Limit of a record, unzipped: 1 GiB, some million decisions.
MAX_RECORD_BYTES = 1 << 30

#: Limit of one line of a record: 32 MiB.
MAX_LINE_BYTES = 32 << 20

_CHUNK_BYTES = 1 << 16

_GZIP_MAGIC = b"\x1f\x8b"


def record_stem(path: Path) -> str:
    """Return the name of a record's file without its suffixes.

    >>> record_stem(Path("games/a.1.jsonl.gz")), record_stem(Path("notes.txt"))
    ('a.1', 'notes.txt')
    """
    return path.name.removesuffix(".gz").removesuffix(".jsonl")


def is_record_name(name: str) -> bool:
    """Return whether a file of a folder may be a record, by its name.

    >>> [is_record_name(name) for name in ("a.jsonl", "a.jsonl.gz", "a.csv")]
    [True, True, False]
    """
    return name.endswith((".jsonl", ".jsonl.gz"))


def lines_of(path: Path) -> Iterator[bytes]:
    r"""Yield the lines of a file with their ends; a cut gzip file yields what can be unzipped.

    A byte order mark is left out and a line ends with `\n`, so that a copy that an editor or a
    version control of Windows has made is the same record.

    Raises:
        BadRecord: The file cannot be read, is not a regular file, or is beyond a limit.
    """
    try:
        with _opened(path) as file:
            total, mark = 0, codecs.BOM_UTF8
            while line := file.readline(MAX_LINE_BYTES + 1):
                total += len(line)
                _check_limits(path, len(line), total)
                yield _with_line_feed(line.removeprefix(mark))
                mark = b""
    except OSError as fault:
        raise BadRecord(f"cannot read {path}: {fault.strerror}") from None


def _with_line_feed(line: bytes) -> bytes:
    return line[:-2] + b"\n" if line.endswith(b"\r\n") else line


def _opened(path: Path) -> Any:
    """Open a regular file, unzipped if it is gzipped."""
    file = open_regular(path)
    try:
        if file.peek(2)[:2] == _GZIP_MAGIC:
            return io.BufferedReader(_Unzipped(file, path), _CHUNK_BYTES)
    except BaseException:
        file.close()
        raise
    return file


def _check_limits(path: Path, line: int, total: int) -> None:
    if line > MAX_LINE_BYTES:
        raise BadRecord(f"{path} has a line of more than {MAX_LINE_BYTES >> 20} MiB, the limit")
    if total > MAX_RECORD_BYTES:
        raise BadRecord(f"{path} holds more than {MAX_RECORD_BYTES >> 20} MiB, the limit")


class _Unzipped(io.RawIOBase):
    """The bytes inside a gzip file, as far as they can be unzipped.

    Args:
        file: Open at its start; closed with this one.
        path: Its name, for errors.
    """

    def __init__(self, file: Any, path: Path) -> None:
        self._file, self._path = file, path
        self._unzip = zlib.decompressobj(wbits=31)
        self._damaged = False

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Unzip no more than fits into a buffer."""
        data = b"" if self._damaged else self._unzipped(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the gzip file."""
        self._file.close()
        super().close()

    def _unzipped(self, most: int) -> bytes:
        while not self._unzip.eof:
            raw = self._unzip.unconsumed_tail or self._file.read(_CHUNK_BYTES)
            try:
                data = self._unzip.decompress(raw, most)
            except zlib.error:  # a cut or damaged tail: the reader of lines reports what is missing
                self._damaged = True
                return b""
            if data or not raw:
                return data
        if self._unzip.unused_data or self._file.read(1):
            raise BadRecord(f"{self._path} has further bytes behind the end of its gzip data")
        return b""


class RecordFile(io.RawIOBase):
    """A new file that takes every write as a whole.

    Args:
        path: A file that does not exist yet.

    Raises:
        UsageError: The file exists or cannot be made.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._raw = path.open("xb", buffering=0)
        except OSError as fault:
            super().close()  # otherwise the garbage collector closes a file that was never opened
            if isinstance(fault, FileExistsError):
                text = f"{path} exists and is kept; choose another name or remove it"
            else:
                text = f"cannot write {path}: {fault.strerror}"
            raise UsageError(text) from None
        self._path = path

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any, /) -> int:
        """Write all bytes.

        Raises:
            WriteFailed: The system does not take all of them.
        """
        try:
            done = self._raw.write(data)
            # The system may take a part only, such as the last bytes that a disk has left.
            while done < len(data):
                done += self._raw.write(memoryview(data)[done:])
        except OSError as fault:
            raise write_failed(self._path, fault) from None
        return done

    def sync(self) -> None:
        """Return when the disk has what was written.

        Raises:
            WriteFailed: The disk refuses it.
        """
        try:
            os.fsync(self._raw.fileno())
        except OSError as fault:
            raise write_failed(self._path, fault) from None

    def close(self) -> None:
        """Close the file.

        Raises:
            WriteFailed: The system refuses what was written.
        """
        try:
            self._raw.close()
        except OSError as fault:
            raise write_failed(self._path, fault) from None
        super().close()


def write_failed(path: Path, fault: OSError) -> WriteFailed:
    """Return the error for a file that the system does not write."""
    return WriteFailed(
        f"cannot write {path}: {fault.strerror}; every line that was written before is kept"
    )


def begun(record: Path) -> bool:
    """Return whether a record holds at least its first line; remove one that does not.

    Raises:
        BadRecord: The file cannot be read.
    """
    try:
        with record.open("rb") as file:
            if file.readline().endswith(b"\n"):
                return True
        record.unlink()
    except FileNotFoundError:
        pass
    except OSError as fault:
        raise BadRecord(f"{record} cannot be read: {fault.strerror}") from None
    return False
