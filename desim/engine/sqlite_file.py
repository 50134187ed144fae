"""A SQLite file of desim in a folder: locked by one writer, refused when it is damaged."""

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Self

from desim.errors import UsageError

#: Marks a file of ours ("desm" in ASCII).
_APPLICATION = 0x6465736D

#: The advice for a file of desim that does not fit.
WAYS = "choose another folder (--out), or discard its rows (--restart)"


class SqliteFile:
    """A file of plain tables; a context manager that holds its lock. Nothing in it is repaired.

    Args:
        folder: The folder of the file; both are created if needed. None keeps the tables in memory.
        read: Open an existing file for reading only.
        restart: Discard a file of another format, or a damaged one.

    Attributes:
        file_name: The name of the file.
        form: The version of its tables.
        tables: The statements that create the tables.
        command: The name of the command in error texts.
        path: The file.

    Raises:
        UsageError: The folder cannot be used, it holds a foreign file of our name, a damaged one or
            one of another format, or another process is writing the file.
    """

    file_name: ClassVar[str]
    form: ClassVar[int]
    tables: ClassVar[str]
    command: ClassVar[str]

    def __init__(
        self, folder: str | Path | None, *, read: bool = False, restart: bool = False
    ) -> None:
        self.path = Path(folder or "") / self.file_name
        if folder is None:
            self._file = sqlite3.connect(":memory:", isolation_level=None)
            self._file.executescript(self.tables)
            return
        with self._usage_errors():
            if not read:
                self._make()
            self._file = self._connected()
        try:
            with self._usage_errors():
                self._open(read=read, restart=restart)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the file."""
        self._file.close()

    def _make(self) -> None:
        """Make an empty file, which SQLite takes for a new one."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not os.path.lexists(self.path):
            self.path.touch()

    def _connected(self) -> sqlite3.Connection:
        """Open the file for writing, even to read: SQLite may have to roll back a cut commit."""
        uri = f"{self.path.resolve().as_uri()}?mode=rw"
        return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0)

    def _open(self, *, read: bool, restart: bool) -> None:
        if not read:
            self._lock()
            if not self._integer("SELECT count(*) FROM sqlite_master"):
                self._create()
        try:
            self._check()
        except (UsageError, sqlite3.DatabaseError) as fault:
            code = getattr(fault, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
            is_damaged = code & 0xFF == sqlite3.SQLITE_CORRUPT
            if not (restart and is_damaged and self._is_ours()):
                raise
            self._file.close()
            self.path.unlink()
            self._make()
            self._file = self._connected()
            self._lock()
            self._create()

    def _lock(self) -> None:
        """Take the lock, which is kept until the file is closed."""
        self._file.execute("PRAGMA locking_mode = EXCLUSIVE")
        inode = self.path.stat().st_ino
        with self._transaction():
            pass
        if not self.path.exists() or self.path.stat().st_ino != inode:
            raise UsageError(_busy_text(self.path))  # another process has replaced it

    def _create(self) -> None:
        with self._transaction():
            for statement in self.tables.split(";"):
                self._file.execute(statement)
            self._file.execute(f"PRAGMA application_id = {_APPLICATION}")
            self._file.execute(f"PRAGMA user_version = {self.form:d}")

    def _is_ours(self) -> bool:
        return self._integer("PRAGMA application_id") == _APPLICATION

    def _check(self) -> None:
        """Refuse a foreign file, another format, and pages that are not as SQLite wrote them."""
        if not self._is_ours():
            raise UsageError(f"{self.path} is no checkpoint of a {self.command}; {self._removal}")
        if (version := self._integer("PRAGMA user_version")) != self.form:
            raise UsageError(
                f"{self.path} has format {version} and this desim writes format {self.form}; {WAYS}"
            )
        # An untrusted file may hold a view under the name, whose query need not end.
        query = "SELECT type, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"
        wanted = sorted(one.strip() for one in self.tables.split(";"))
        if self._file.execute(query).fetchall() != [("table", sql) for sql in wanted]:
            raise UsageError(
                f"{self.path} is no checkpoint of a {self.command}: it has other tables; {WAYS}"
            )
        if self._file.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise UsageError(f"{self.path} is damaged; {WAYS}")

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._file.execute("BEGIN EXCLUSIVE")
        try:
            yield
            self._file.execute("COMMIT")
        except BaseException:
            # On a full disk SQLite has rolled back itself, and a second time is an error.
            if self._file.in_transaction:
                self._file.execute("ROLLBACK")
            raise

    def _integer(self, query: str) -> int:
        value: int = self._file.execute(query).fetchone()[0]
        return value

    @property
    def _removal(self) -> str:
        return f"choose another folder, or remove {self.path.name} to start anew"

    @contextlib.contextmanager
    def _usage_errors(self) -> Iterator[None]:
        """Turn errors of SQLite and of the file system into a `UsageError`."""
        try:
            yield
        except sqlite3.Error as fault:
            raise UsageError(self._error_text(fault)) from None
        except OSError as fault:
            text = f"{self.path} cannot be made: {fault.strerror}"
            raise UsageError(f"{text}; choose another folder") from None

    def _error_text(self, fault: sqlite3.Error) -> str:
        path = self.path
        match getattr(fault, "sqlite_errorcode", 0) & 0xFF:
            case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
                return _busy_text(path)
            case sqlite3.SQLITE_FULL:
                return (
                    f"the disk of {path.parent} is full; the rows before are kept, and the same "
                    "command goes on from there once there is room"
                )
            case sqlite3.SQLITE_NOTADB:
                says = f"is no SQLite file, or a damaged one; {self._removal}"
            case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_ERROR:
                says = f"is damaged; {self._removal}"  # SQLite may not even lock it
            case sqlite3.SQLITE_CANTOPEN:
                says = "cannot be opened; choose another folder"
            case sqlite3.SQLITE_READONLY:
                says = "cannot be written: it is read-only; choose another folder"
            case sqlite3.SQLITE_IOERR:
                says = f"cannot be written: {fault}; the rows before are kept"
            case _:
                says = f"cannot be used: {fault}"
        return f"{path} {says}"


def _busy_text(path: Path) -> str:
    return f"{path} is being written by another process; wait, or choose another folder"
