"""The files of records: names, and lines that are read within limits.

A file may come from a stranger: only a regular file is opened, nothing is unzipped beyond the
limits, and a line is in memory only until the next one is read.
"""

import codecs
import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from desim.errors import BadRecord
from desim.show.files import open_regular

#: Limit of a record, unzipped: 1 GiB, some million decisions.
MAX_RECORD_BYTES = 1 << 30

#: Limit of one line of a record: 32 MiB.
MAX_LINE_BYTES = 32 << 20

#: Bytes of a gzip file that are read, and unzipped, at once.
_PIECE_BYTES = 1 << 16

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
    r"""Yield the lines of a file with their ends; a cut gzip file yields what can be unzipped.

    A byte order mark is left out and a line ends with `\n`, so that a copy that an editor or a
    version control of Windows has made is the same record.

    Raises:
        BadRecord: The file cannot be read, is not a regular file, or is beyond a limit.
    """
    total, mark = 0, codecs.BOM_UTF8
    try:
        with open_regular(path) as file:
            is_zipped = file.peek(2)[:2] == _GZIP_MAGIC
            pieces = partial(file.readline, MAX_LINE_BYTES + 1)
            for line in _lines(_unzipped(file, path)) if is_zipped else iter(pieces, b""):
                total += len(line)
                if len(line) > MAX_LINE_BYTES:
                    raise _beyond(path, "has a line of", MAX_LINE_BYTES)
                if total > MAX_RECORD_BYTES:
                    raise _beyond(path, "holds", MAX_RECORD_BYTES)
                unmarked = line.removeprefix(mark)
                yield unmarked[:-2] + b"\n" if unmarked.endswith(b"\r\n") else unmarked
                mark = b""
    except OSError as fault:
        raise BadRecord(f"cannot read {path}: {fault.strerror}") from None


def _unzipped(file: Any, path: Path) -> Iterator[bytes]:
    """Yield the content of a gzip file in pieces, up to where it is cut or damaged.

    `gzip` of the standard library reads on behind the end of the first content, and reads a header
    byte by byte, however long it is.
    """
    unzip = zlib.decompressobj(wbits=31)
    while not unzip.eof:
        raw = unzip.unconsumed_tail or file.read(_PIECE_BYTES)
        try:
            piece = unzip.decompress(raw, _PIECE_BYTES)
        except zlib.error:
            return
        if not raw and not piece:
            return
        yield piece
    if unzip.unused_data or file.read(1):
        raise BadRecord(f"{path} has further bytes behind the end of its gzip data")


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines with their ends, and the beginning of one beyond the limit."""
    begun = bytearray()
    for piece in pieces:
        begun += piece
        if b"\n" in piece:
            *lines, begun = begun.split(b"\n")
            yield from (bytes(line) + b"\n" for line in lines)
        elif len(begun) > MAX_LINE_BYTES:
            break
    if begun:
        yield bytes(begun)


def _beyond(path: Path, has: str, limit: int) -> BadRecord:
    return BadRecord(f"{path} {has} more than {limit >> 20} MiB, the limit")
