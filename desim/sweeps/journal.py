"""The rows of a sweep in one SQLite file, so that a sweep that was killed goes on where it was.

Each finished chunk is one transaction. The file is locked for as long as a sweep writes it.
"""

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from desim.errors import UsageError

__all__ = ["NAME", "Journal"]

#: The file's name in the folder of a sweep.
NAME = "sweep.sqlite"

#: Marks the file as ours ("desm"), and says how it is laid out.
APPLICATION, FORMAT = 0x6465736D, 1

_TABLES = f"""
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FORMAT};
CREATE TABLE identity (topic TEXT PRIMARY KEY, told TEXT NOT NULL);
CREATE TABLE rows (job INTEGER PRIMARY KEY, row TEXT NOT NULL);
"""


class Journal:
    """Keeps the finished rows of one sweep; a context manager that holds the file's lock.

    Args:
        folder: Where the file is, or will be made.
        identity: What the sweep plays, by topic; None reads whatever is there and changes nothing.

    Raises:
        UsageError: The folder cannot be used, holds another sweep or something else under our
            name, or is being written by another process.
    """

    def __init__(self, folder: str | Path, identity: Mapping[str, str] | None = None) -> None:
        self.path = Path(folder) / NAME
        if identity is not None and not self.path.exists():
            _create(self.path, identity)
        with self._told():
            # For writing even where it is only read: a commit that was cut must be undone first.
            uri = f"{self.path.resolve().as_uri()}?mode=rw"
            self._file = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0)
        try:
            self._open(identity)
        except BaseException:
            self._file.close()
            raise

    def __len__(self) -> int:
        with self._told():
            return self._one("SELECT count(*) FROM rows")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def jobs(self) -> set[int]:
        """Return the numbers of the finished jobs."""
        with self._told():
            return {job for (job,) in self._file.execute("SELECT job FROM rows")}

    def add(self, jobs: Sequence[int], rows: Sequence[bytes]) -> None:
        """Commit the rows of some jobs together.

        Raises:
            UsageError: They cannot be written, for instance because the disk is full.
        """
        texts = [row.decode() for row in rows]
        with self._told(), self._transaction():
            self._file.executemany("INSERT INTO rows VALUES (?, ?)", zip(jobs, texts, strict=True))

    def rows(self) -> Iterator[bytes]:
        """Yield the rows in the order of jobs."""
        with self._told():
            for (row,) in self._file.execute("SELECT row FROM rows ORDER BY job"):
                yield row.encode()

    def _open(self, identity: Mapping[str, str] | None) -> None:
        with self._told():
            self._check_format()
            if identity is not None:
                # From its first transaction on, the lock is kept until the file is closed.
                self._file.execute("PRAGMA locking_mode = EXCLUSIVE")
                with self._transaction():
                    pass
                self._check_identity(identity)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._file.execute("BEGIN EXCLUSIVE")
        try:
            yield
        except BaseException:
            self._file.execute("ROLLBACK")
            raise
        self._file.execute("COMMIT")

    def _check_format(self) -> None:
        if self._one("PRAGMA application_id") != APPLICATION:
            raise UsageError(f"{self.path} is no journal of a sweep; {_elsewhere(self.path)}")
        if (told := self._one("PRAGMA user_version")) != FORMAT:
            raise UsageError(
                f"{self.path} has format {told} and this desim writes format {FORMAT}; "
                f"{_elsewhere(self.path)}"
            )

    def _check_identity(self, identity: Mapping[str, str]) -> None:
        there = dict(self._file.execute("SELECT topic, told FROM identity"))
        for topic, told in identity.items():
            if there.get(topic) != told:
                raise UsageError(
                    f"{self.path} holds another sweep ({topic} {_short(there.get(topic, ''))}, now "
                    f"{_short(told)}); {_elsewhere(self.path)}"
                )

    def _one(self, query: str) -> int:
        found: int = self._file.execute(query).fetchone()[0]
        return found

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what SQLite raises into one sentence."""
        try:
            yield
        except sqlite3.Error as fault:
            why = _why(getattr(fault, "sqlite_errorcode", 0) & 0xFF, self.path)
            raise UsageError(why or f"{self.path} cannot be used: {fault}") from None


def _create(path: Path, identity: Mapping[str, str]) -> None:
    """Make the file beside its place and put it there whole, so that none is ever half made."""
    for name in ("rows.csv", "rows.jsonl"):
        if (rows := path.with_name(name)).exists():
            raise UsageError(f"{rows} is there without its {NAME}; {_elsewhere(rows)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".sweep-", dir=path.parent) as beside:
            _write(Path(beside) / NAME, identity)
            # A link, unlike a renaming, never replaces what another process has put there.
            with contextlib.suppress(FileExistsError):
                os.link(Path(beside) / NAME, path)
    except OSError as fault:
        why = f"{path} cannot be made: {fault.strerror}"
        raise UsageError(f"{why}; choose another folder") from None


def _write(path: Path, identity: Mapping[str, str]) -> None:
    with contextlib.closing(sqlite3.connect(path)) as made:
        made.executescript(_TABLES)
        made.executemany("INSERT INTO identity VALUES (?, ?)", identity.items())
        made.commit()


def _why(code: int, path: Path) -> str:
    match code:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"{path} is being written by another process; wait, or choose another folder"
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            return f"{path} is no SQLite file, or a damaged one; {_elsewhere(path)}"
        case sqlite3.SQLITE_CANTOPEN:
            return f"{path} cannot be opened; choose another folder"
        case _:
            return ""


def _elsewhere(path: Path) -> str:
    return f"choose another folder, or remove {path.name} to start anew"


def _short(text: str, width: int = 60) -> str:
    return repr(text if len(text) <= width else text[:width] + "…")
