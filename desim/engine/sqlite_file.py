"""A SQLite file of plain tables with JSON: locked by one writer, refused when it is damaged."""

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from desim.errors import BadRecord, UsageError

#: Exceptions that the decoding of a stranger's JSON raises.
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError)

#: Marks a file of ours ("desm" in ASCII).
_APPLICATION = 0x6465736D


def opened(
    path: Path | None, tables: Sequence[str], form: int, *, read: bool, restart: bool
) -> sqlite3.Connection:
    """Open a file, or tables in memory; a writer makes the file, and locks it until it is closed.

    With *restart* a file of another version, or a damaged one, is emptied.

    Raises:
        sqlite3.Error, OSError: See `sentences`.
        UsageError: The file is a foreign one, a damaged one or one of another version.
    """
    if path is not None and not read:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()  # SQLite takes an empty file for a new one
    # For writing, even to read: SQLite may have to roll back a cut commit.
    uri = "file::memory:" if path is None else f"{path.resolve().as_uri()}?mode=rw"
    file = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0)
    try:
        if read:
            file.execute("BEGIN")
        else:
            file.execute("PRAGMA locking_mode = EXCLUSIVE")
            with transaction(file):  # takes the lock, which is then kept
                if not file.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    marks = f"application_id = {_APPLICATION}", f"user_version = {form:d}"
                    for statement in (*tables, *(f"PRAGMA {mark}" for mark in marks)):
                        file.execute(statement)
        fault = _fault(file, tables, form)
        is_ours = _pragma(file, "application_id") == _APPLICATION
        if path is not None and fault and restart and is_ours:
            os.truncate(path, 0)  # under the lock
    except BaseException:
        file.close()
        raise
    if not fault:
        return file
    file.close()
    if restart and is_ours:
        return opened(path, tables, form, read=read, restart=False)
    ways = ", or discard its rows (--restart)" if is_ours else ""
    raise UsageError(f"{path} {fault}; choose another folder (--out){ways}")


def _fault(file: sqlite3.Connection, tables: Sequence[str], form: int) -> str:
    """Return why a file cannot be used; empty if it can."""
    if _pragma(file, "application_id") != _APPLICATION:
        return "is no checkpoint of a sweep"
    if (version := _pragma(file, "user_version")) != form:
        return f"has format {version} and this desim writes format {form}"
    try:
        # An untrusted file may hold a view under the name, whose query need not end.
        found = file.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        if {sql for (sql,) in found} != {*tables}:
            return "is no checkpoint of a sweep: it has other tables"
        return "" if _pragma(file, "quick_check(1)") == "ok" else "is damaged"
    except sqlite3.DatabaseError:
        return "is damaged"


def _pragma(file: sqlite3.Connection, name: str) -> object:
    return file.execute(f"PRAGMA {name}").fetchone()[0]


@contextlib.contextmanager
def transaction(file: sqlite3.Connection) -> Iterator[None]:
    """Commit what is written in the block, all of it or nothing."""
    file.execute("BEGIN EXCLUSIVE")
    try:
        yield
        file.execute("COMMIT")
    except BaseException:
        # On a full disk SQLite has rolled back itself, and a second time is an error.
        if file.in_transaction:
            file.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def sentences(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the file system into a `UsageError`, of JSON in `BadRecord`."""
    try:
        yield
    except UNREADABLE as fault:
        raise BadRecord(f"{path} is not as a sweep wrote it: {fault}") from None
    except OSError as fault:
        text = f"{path} cannot be made: {fault.strerror}"
        raise UsageError(f"{text}; choose another folder") from None
    except sqlite3.Error as fault:
        code = getattr(fault, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            text = f"{path} is being written by another process; wait, or choose another folder"
        elif code == sqlite3.SQLITE_FULL:
            text = (
                f"the disk of {path.parent} is full; the rows before are kept, and the same "
                "command goes on from there once there is room"
            )
        else:
            text = f"{path} cannot be used: {fault}; choose another folder"
        raise UsageError(text) from None
