"""The SQLite file of a checkpoint: its layout, its checksums, and the reading of damaged files.

A file holds rows by their numbers, and entries that say to what the rows belong. Each is stored
with a checksum over its number and its text; SQLite itself does not detect changed bits.
"""

import contextlib
import os
import sqlite3
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

#: Marks a file of ours ("desm" in ASCII).
APPLICATION = 0x6465736D

#: The number of the entry in a file whose rows all belong to one.
IDENTITY = 1

_SCHEMA = f"""
PRAGMA application_id = {APPLICATION};
CREATE TABLE identity (topics BLOB NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE rows (job INTEGER PRIMARY KEY, row BLOB NOT NULL, checksum INTEGER NOT NULL);
"""

#: Begins the names of folders in which a file is written before it gets its own name.
PARTIAL = ".sweep-"

#: The number of a row, and the row.
Numbered = tuple[int, bytes]

#: The texts of entries as JSON, by their numbers from 1.
Entries = Mapping[int, bytes]


def _checksum(job: int, row: bytes) -> int:
    """Return the checksum of a row; negative numbers stand for entries."""
    return zlib.crc32(row, zlib.crc32(b"%d " % job))


def create(path: Path, form: int, entries: Entries) -> None:
    """Create the file under another name and link it to *path*, so that it is never incomplete.

    Args:
        path: The file.
        form: The version of what its entries and rows hold.
        entries: Its first entries.

    Raises:
        OSError: The file cannot be created.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix=PARTIAL, dir=path.parent, ignore_cleanup_errors=True
    ) as folder:
        try:
            # Unlike renaming, linking never replaces a file that another process has created.
            os.link(_write(Path(folder) / path.name, form, entries, ()), path)
        except (OSError, sqlite3.Error):
            # That process may also have removed our folder, as one that was left behind.
            if not path.exists():
                raise


def replace(path: Path, form: int, entries: Entries, rows: Iterable[Numbered]) -> None:
    """Replace the file by a new one, completely or not at all; the caller holds the old one's lock.

    Raises:
        OSError: The file cannot be created.
    """
    with tempfile.TemporaryDirectory(prefix=PARTIAL, dir=path.parent) as folder:
        _write(Path(folder) / path.name, form, entries, rows).replace(path)


def _write(path: Path, form: int, entries: Entries, rows: Iterable[Numbered]) -> Path:
    with contextlib.closing(sqlite3.connect(path)) as file:
        file.executescript(_SCHEMA)
        file.execute(f"PRAGMA user_version = {form:d}")
        write_entries(file, entries)
        insert(file, rows)
        file.commit()
    return path


def insert(file: sqlite3.Connection, rows: Iterable[Numbered]) -> None:
    """Insert rows with their checksums."""
    stored = ((job, row, _checksum(job, row)) for job, row in rows)
    file.executemany("INSERT INTO rows VALUES (?, ?, ?)", stored)


def write_entries(file: sqlite3.Connection, entries: Entries) -> None:
    """Write entries; those of the same numbers are replaced."""
    stored = ((number, text, _checksum(-number, text)) for number, text in entries.items())
    query = "INSERT OR REPLACE INTO identity (rowid, topics, checksum) VALUES (?, ?, ?)"
    file.executemany(query, stored)


def read_entries(file: sqlite3.Connection) -> dict[int, bytes] | None:
    """Return all entries; None if one is damaged."""
    stored = file.execute("SELECT rowid, topics, checksum FROM identity").fetchall()
    if not all(matches(-number, text, checksum) for number, text, checksum in stored):
        return None
    return {number: text for number, text, _ in stored}


def read_identity(file: sqlite3.Connection) -> dict[str, str] | None:
    """Return the topics to which all rows of a file belong; None if they are damaged."""
    entries = read_entries(file)
    if not entries or [*entries] != [IDENTITY]:
        return None
    topics: dict[str, str] = msgspec.json.decode(entries[IDENTITY])
    return topics


def scan(
    file: sqlite3.Connection, first: int = -(2**63), last: int = 2**63 - 1
) -> Iterator[tuple[Any, bytes | None]]:
    """Yield each number from *first* to *last* with its row, in order; None for a damaged row.

    If SQLite cannot read on, the remaining rows follow from the last one backwards; some numbers
    may then occur twice. Those of damaged rows may be anything.
    """
    for order in ("ASC", "DESC"):
        with contextlib.suppress(sqlite3.DatabaseError):
            query = f"SELECT job, row, checksum FROM rows WHERE job BETWEEN ? AND ? ORDER BY job {order}"  # noqa: S608, E501
            for job, row, stored in file.execute(query, (first, last)):
                yield job, row if matches(job, row, stored) else None
            return


def sound_rows(
    file: sqlite3.Connection, wanted: Callable[[int], bool] = lambda _: True
) -> Iterator[Numbered]:
    """Yield each sound row of a wanted number once."""
    seen: set[int] = set()
    for number, row in scan(file):
        if row is not None and number not in seen and wanted(number):
            seen.add(number)
            yield number, row


def is_sound(file: sqlite3.Connection) -> bool:
    """Return whether the structure of the file is as SQLite wrote it."""
    try:
        verdict = file.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.DatabaseError:
        return False
    return verdict in {"ok", b"ok"}


def matches(job: object, row: object, stored: object) -> bool:
    """Return whether a row fits its checksum; a damaged cell may be of any type."""
    return isinstance(job, int) and isinstance(row, bytes) and _checksum(job, row) == stored


def busy_text(path: Path) -> str:
    """Return the sentence for a file that another process has locked."""
    return f"{path} is being written by another process; wait, or choose another folder"


def error_text(fault: sqlite3.Error, path: Path, advice: str) -> str:
    """Return an error of SQLite as a sentence."""
    match getattr(fault, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return busy_text(path)
        case sqlite3.SQLITE_FULL:
            return (
                f"the disk of {path.parent} is full; the rows before are kept, and the same "
                "command goes on from there once there is room"
            )
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_ERROR:
            says = f"is no SQLite file, or a damaged one; {advice}"
        case sqlite3.SQLITE_CANTOPEN:
            says = "cannot be opened; choose another folder"
        case sqlite3.SQLITE_READONLY:
            says = "cannot be written: it is read-only; choose another folder"
        case sqlite3.SQLITE_IOERR:
            says = f"cannot be written: {fault}; the rows before are kept"
        case _:
            says = f"cannot be used: {fault}"
    return f"{path} {says}"
