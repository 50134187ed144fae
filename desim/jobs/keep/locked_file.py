"""A file of rows in a folder: created whole, locked by one writer, replaced when damaged.

Each finished chunk is one transaction. The file is locked for as long as a command writes it.
"""

import contextlib
import itertools
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar, Self

from desim.errors import BadRecord, UsageError
from desim.jobs.keep import row_file

#: The advice for a file of desim that does not fit.
WAYS = "choose another folder (--out), or discard its rows (--restart)"


class LockedFile:
    """A file of rows; a context manager that holds its lock.

    Args:
        folder: The folder of the file; both are created if needed.
        entries: The entries of a new file, as JSON by their numbers.
        read: Open an existing file for reading only.

    Attributes:
        file_name: The name of the file.
        form: The version of what its entries and rows hold.
        results: The files that a finished command writes beside it.
        command: The name of the command in error texts.
        row_of: The name of what a row describes in error texts.
        path: The file.
        discarded: The number of rows that were discarded on purpose.
        damaged: Whether the file was damaged; it now holds the sound rows only.

    Raises:
        UsageError: The folder cannot be used, it holds a foreign file of our name, or another
            process is writing the file.
    """

    file_name: ClassVar[str]
    form: ClassVar[int]
    results: ClassVar[tuple[str, ...]] = ()
    command: ClassVar[str]
    row_of: ClassVar[str]

    def __init__(
        self, folder: str | Path, entries: row_file.Entries, *, read: bool = False
    ) -> None:
        self.path = Path(folder) / self.file_name
        self.discarded = 0
        self.damaged = False
        self._entries = dict(entries)
        if not read and not os.path.lexists(self.path):
            self._create()
        self._file = self._connected()
        try:
            with self._usage_errors():
                self._open(read=read)
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

    def remove_results(self) -> None:
        """Remove the files of a finished sweep, which do not fit an unfinished one.

        Raises:
            UsageError: The files cannot be removed.
        """
        for file in map(self.path.with_name, self.results):
            try:
                if file.exists():  # on a read-only disk not even a missing file can be removed
                    file.unlink()
            except OSError as fault:
                raise UsageError(f"{file} cannot be removed: {fault.strerror}") from None

    def _begin_reading(self) -> None:
        """Check the file and read what is needed, without a lock that lasts."""
        raise NotImplementedError

    def _begin_writing(self) -> None:
        """Check the file, which is locked, and repair it if it is damaged."""
        raise NotImplementedError

    def _damaged_row(self, name: object) -> BadRecord:
        return BadRecord(
            f"{self.path}: the row of {self.row_of} {name} is damaged; the command of the "
            f"{self.command} plays it again"
        )

    def _remove_partial_files(self) -> None:
        """Remove the partial files of killed processes; the lock excludes living ones."""
        for partial in itertools.chain(*map(self.path.parent.glob, self._partial)):
            shutil.rmtree(partial, ignore_errors=True)
            with contextlib.suppress(OSError):  # a folder is gone by now; the disk may be read-only
                partial.unlink()

    @property
    def _partial(self) -> list[str]:
        """The patterns of the partial files and folders that a killed process leaves."""
        return [*(f".{name}.*" for name in self.results), f"{row_file.PARTIAL}*"]

    def _create(self) -> None:
        with self._usage_errors():
            for name in self.results:
                if (rows := self.path.with_name(name)).exists():
                    raise UsageError(
                        f"{rows} is there without its {self.file_name}; {_removal(rows)}"
                    )
            row_file.create(self.path, self.form, self._entries)

    def _connected(self) -> sqlite3.Connection:
        """Open the file for writing, even to read: SQLite may have to roll back a cut commit."""
        with self._usage_errors():
            self._inode = self._present_inode()
            uri = f"{self.path.resolve().as_uri()}?mode=rw"
            file = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0)
        file.text_factory = bytes  # a damaged text may be invalid UTF-8
        return file

    def _open(self, *, read: bool) -> None:
        if self._integer("PRAGMA application_id") != row_file.APPLICATION:
            raise UsageError(
                f"{self.path} is no checkpoint of a {self.command}; {_removal(self.path)}"
            )
        if read:
            self._begin_reading()
            return
        self._lock()
        self._remove_partial_files()
        self._begin_writing()

    def _lock(self) -> None:
        """Take the lock, which is kept until the file is closed."""
        self._file.execute("PRAGMA locking_mode = EXCLUSIVE")
        with self._transaction():
            pass
        if self._present_inode() != self._inode:
            raise UsageError(row_file.busy_text(self.path))  # another process has replaced it

    def _present_inode(self) -> int:
        return self.path.stat().st_ino if self.path.exists() else 0

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

    def _check_format(self) -> None:
        if (version := self._integer("PRAGMA user_version")) != self.form:
            raise UsageError(
                f"{self.path} has format {version} and this desim writes format {self.form}; {WAYS}"
            )

    def _discard(self) -> None:
        with contextlib.suppress(sqlite3.DatabaseError):  # it may be damaged
            self.discarded = self._integer("SELECT count(*) FROM rows")
        self._replace(())

    def _replace(self, rows: Iterable[tuple[int, bytes]]) -> None:
        row_file.replace(self.path, self.form, self._entries, rows)
        self._file.close()
        self._file = self._connected()
        self._lock()

    def _integer(self, query: str) -> int:
        value: int = self._file.execute(query).fetchone()[0]
        return value

    @contextlib.contextmanager
    def _usage_errors(self) -> Iterator[None]:
        """Turn errors of SQLite and of the file system into a `UsageError`."""
        try:
            yield
        except sqlite3.Error as fault:
            raise UsageError(row_file.error_text(fault, self.path, _removal(self.path))) from None
        except OSError as fault:
            text = f"{self.path} cannot be made: {fault.strerror}"
            raise UsageError(f"{text}; choose another folder") from None


def _removal(path: Path) -> str:
    return f"choose another folder, or remove {path.name} to start anew"
