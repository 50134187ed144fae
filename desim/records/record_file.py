"""The files of records: names, and lines that are read within limits.

A file may come from a stranger: only a regular file is opened, nothing is unzipped beyond the
limits, and a line is in memory only until the next one is read.
"""

import codecs
import gzip
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from desim.errors import BadRecord
from desim.show.files import open_regular

#: Limit of a record, unzipped: 1 GiB, some million decisions.
MAX_RECORD_BYTES = 1 << 30

#: Limit of one line of a record: 32 MiB.
MAX_LINE_BYTES = 32 << 20

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


def lines_of(path: Path) -> Iterator[bytes]:
    r"""Yield the lines of a file with their ends; a cut gzip file yields its whole lines.

    A byte order mark is left out and a line ends with `\n`, so that a copy that an editor or a
    version control of Windows has made is the same record.

    Raises:
        BadRecord: The file cannot be read, is not a regular file, or is beyond a limit.
    """
    total, mark = 0, codecs.BOM_UTF8
    try:
        with open_regular(path) as file:
            is_zipped = file.peek(2)[:2] == _GZIP_MAGIC
            for line in _unzipped_lines(file, path) if is_zipped else _plain_lines(file):
                total += len(line)
                _check_limits(path, len(line), total)
                unmarked = line.removeprefix(mark)
                yield unmarked[:-2] + b"\n" if unmarked.endswith(b"\r\n") else unmarked
                mark = b""
    except OSError as fault:
        raise BadRecord(f"cannot read {path}: {fault.strerror}") from None


def _plain_lines(file: Any) -> Iterator[bytes]:
    return iter(partial(file.readline, MAX_LINE_BYTES + 1), b"")


def _unzipped_lines(file: Any, path: Path) -> Iterator[bytes]:
    """Yield the lines of a gzip file up to where it is cut or damaged."""
    try:
        yield from _plain_lines(gzip.GzipFile(fileobj=file))
    except (EOFError, zlib.error):
        return
    except gzip.BadGzipFile as fault:
        # The file begins as gzip does, so these bytes follow the end of the gzip data.
        if "Not a gzipped file" in str(fault):
            raise BadRecord(f"{path} has further bytes behind the end of its gzip data") from None


def _check_limits(path: Path, line: int, total: int) -> None:
    if line > MAX_LINE_BYTES:
        raise BadRecord(f"{path} has a line of more than {MAX_LINE_BYTES >> 20} MiB, the limit")
    if total > MAX_RECORD_BYTES:
        raise BadRecord(f"{path} holds more than {MAX_RECORD_BYTES >> 20} MiB, the limit")
