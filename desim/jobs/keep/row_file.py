"""The SQLite file of a checkpoint: its layout, its checksums, and the reading of damaged files.

Every row is stored with a checksum over its job and its text, and so is the identity of the sweep;
SQLite itself does not detect changed bits.
"""

import contextlib
import os
import sqlite3
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

#: Marks a file of ours ("desm" in ASCII), and the version of its layout.
APPLICATION, FORMAT = 0x6465736D, 2

_SCHEMA = f"""
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FORMAT};
CREATE TABLE identity (topics BLOB NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE rows (job INTEGER PRIMARY KEY, row BLOB NOT NULL, checksum INTEGER NOT NULL);
"""

#: Begins the names of folders in which a file is written before it gets its own name.
PARTIAL = ".sweep-"

#: A job and its row.
Numbered = tuple[int, bytes]


def _checksum(job: int, row: bytes) -> int:
    """Return the checksum of a row; the job -1 stands for the identity."""
    return zlib.crc32(row, zlib.crc32(b"%d " % job))


def create(path: Path, identity: Mapping[str, str]) -> None:
    """Create the file under another name and link it to *path*, so that it is never incomplete.

    Raises:
        OSError: The file cannot be created.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix=PARTIAL, dir=path.parent, ignore_cleanup_errors=True
    ) as folder:
        try:
            # Unlike renaming, linking never replaces a file that another process has created.
            os.link(_write(Path(folder) / path.name, identity, ()), path)
        except (OSError, sqlite3.Error):
            # That process may also have removed our folder, as one that was left behind.
            if not path.exists():
                raise


def replace(path: Path, identity: Mapping[str, str], rows: Iterable[Numbered]) -> None:
    """Replace the file by a new one, completely or not at all; the caller holds the old one's lock.

    Raises:
        OSError: The file cannot be created.
    """
    with tempfile.TemporaryDirectory(prefix=PARTIAL, dir=path.parent) as folder:
        _write(Path(folder) / path.name, identity, rows).replace(path)


def _write(path: Path, identity: Mapping[str, str], rows: Iterable[Numbered]) -> Path:
    with contextlib.closing(sqlite3.connect(path)) as file:
        file.executescript(_SCHEMA)
        write_identity(file, identity)
        insert(file, rows)
        file.commit()
    return path


def insert(file: sqlite3.Connection, rows: Iterable[Numbered]) -> None:
    """Insert rows with their checksums."""
    stored = ((job, row, _checksum(job, row)) for job, row in rows)
    file.executemany("INSERT INTO rows VALUES (?, ?, ?)", stored)


def write_identity(file: sqlite3.Connection, identity: Mapping[str, str]) -> None:
    """Write the identity of the sweep in place of the one before."""
    topics = msgspec.json.encode(identity)
    file.execute("DELETE FROM identity")
    file.execute("INSERT INTO identity VALUES (?, ?)", (topics, _checksum(-1, topics)))


def read_identity(file: sqlite3.Connection) -> dict[str, str] | None:
    """Return the identity of the sweep; None if it is damaged."""
    stored = file.execute("SELECT topics, checksum FROM identity").fetchall()
    if len(stored) != 1 or not matches(-1, *stored[0]):
        return None
    topics: dict[str, str] = msgspec.json.decode(stored[0][0])
    return topics


def scan(file: sqlite3.Connection) -> Iterator[tuple[Any, bytes | None]]:
    """Yield every job with its row, in order, or with None if the row is damaged.

    If SQLite cannot read on, the remaining rows follow from the last one backwards; some jobs may
    then occur twice. Jobs of damaged rows may be anything.
    """
    for order in ("ASC", "DESC"):
        with contextlib.suppress(sqlite3.DatabaseError):
            query = f"SELECT job, row, checksum FROM rows ORDER BY job {order}"  # noqa: S608 (ours)
            for job, row, stored in file.execute(query):
                yield job, row if matches(job, row, stored) else None
            return


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
