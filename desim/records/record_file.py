"""Files of records, which strangers may send: lines are read one by one, within limits."""

import codecs
import gzip
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from desim.errors import NoRecord
from desim.show.files import open_regular

#: Limit of a record, unzipped: 1 GiB, some million decisions.
MAX_RECORD_BYTES = 1 << 30

#: Limit of one line of a record: 32 MiB.
MAX_LINE_BYTES = 32 << 20

#: The beginning of every record, as far as a killed process has written it.
_BEGINNING = b'{"line":"header"'

_GZIP_MAGIC = b"\x1f\x8b"


def record_stem(path: Path) -> str:
    """Return the name of a record's file without `.jsonl` and `.gz`."""
    return path.name.removesuffix(".gz").removesuffix(".jsonl")


def begun(record: Path) -> bool:
    """Return whether there is a record; remove one whose process was killed in its first line."""
    if not record.exists():
        return False
    first = next(lines_of(record), b"")
    is_cut = first.startswith(_BEGINNING) or _BEGINNING.startswith(first)
    if is_cut and not first.endswith(b"\n"):
        record.unlink()
        return False
    return True


def lines_of(path: Path) -> Iterator[bytes]:
    r"""Yield the lines of a file with their ends; of a cut gzip file those that can be unzipped.

    A byte order mark is left out and a line ends with `\n`, so that a copy that an editor or a
    version control of Windows has made is the same record.

    Raises:
        NoRecord: The file is missing, no regular file, damaged behind its last line, or beyond a
            limit.
    """
    total, mark = 0, codecs.BOM_UTF8
    try:
        with open_regular(path) as raw:
            file: Any = gzip.GzipFile(fileobj=raw) if raw.peek(2)[:2] == _GZIP_MAGIC else raw
            for line in iter(partial(file.readline, MAX_LINE_BYTES + 1), b""):
                total += len(line)
                if len(line) > MAX_LINE_BYTES:
                    raise _beyond(path, "has a line of", MAX_LINE_BYTES)
                if total > MAX_RECORD_BYTES:
                    raise _beyond(path, "holds", MAX_RECORD_BYTES)
                unmarked = line.removeprefix(mark)
                yield unmarked[:-2] + b"\n" if unmarked.endswith(b"\r\n") else unmarked
                mark = b""
    except (EOFError, zlib.error):  # the process was killed while it wrote
        return
    except OSError as fault:
        raise NoRecord(f"cannot read {path}: {fault.strerror or fault}") from None


def is_damaged(path: Path) -> bool:
    """Return whether a gzip file holds other bytes than were zipped."""
    with open_regular(path) as raw:
        if raw.peek(2)[:2] != _GZIP_MAGIC:
            return False
        unzipped = gzip.GzipFile(fileobj=raw)
        try:
            while unzipped.read(MAX_LINE_BYTES):
                pass
        except (zlib.error, gzip.BadGzipFile):
            return True
        except EOFError:  # the process was killed while it wrote
            return False
    return False


def _beyond(path: Path, has: str, limit: int) -> NoRecord:
    return NoRecord(f"{path} {has} more than {limit >> 20} MiB, the limit")
