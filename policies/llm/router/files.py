"""JSON lines of frozen classes: read within limits with every fault named, written completely."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from desim.errors import BadRecord, SchemaError, sentence
from desim.records.record_file import RecordFile, lines_of
from desim.schema import encode, from_plain

__all__ = ["read_lines", "write_lines"]

T = TypeVar("T")


def read_lines(path: Path, cls: type[T]) -> Iterator[tuple[int, T]]:
    """Yield the number of each line, from 1, and what it holds; empty lines are skipped.

    Args:
        path: A regular file, gzipped or not: at most 1 GiB, a line at most 32 MiB.
        cls: The frozen class of a line.

    Raises:
        BadRecord: The file cannot be read, is beyond a limit, or a line does not fit; the text
            names file, line and field.
    """
    for number, line in enumerate(lines_of(path), 1):
        if not line.strip():
            continue
        try:
            value = from_plain(msgspec.json.decode(line), cls)
        except (SchemaError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
            raise BadRecord(f"{path}, line {number}: {sentence(fault)}") from None
        yield number, value


def write_lines(path: Path, values: Iterable[object]) -> None:
    """Write one line for each value.

    Raises:
        UsageError: The file exists or cannot be made.
        WriteFailed: The system does not take all of it.
    """
    with RecordFile(path) as file:
        for value in values:
            file.write(encode(value) + b"\n")
