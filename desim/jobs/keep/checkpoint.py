"""The checkpoint of a sweep: its finished rows in one SQLite file, from which it can be continued.

A command whose rows are not episodes has a subclass that names its file and its rows.

Each finished chunk is one transaction. The file is locked for as long as a sweep writes it. Rows
are checked against their checksums when it is opened: damaged ones are dropped, so that they are
played again.
"""

import contextlib
import itertools
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Self

from desim.errors import BadRecord, UsageError
from desim.jobs.keep import row_file
from desim.jobs.keep.fingerprint import CODE, differing_topics, is_digest
from desim.jobs.keep.noted_files import GONE, noted_now, noted_topics

#: The file's name in the folder of a sweep.
FILE_NAME = "sweep.sqlite"

#: The files that a finished sweep writes beside it.
_RESULTS = ("rows.csv", "rows.jsonl")

#: Patterns of the partial files and folders that a killed process leaves.
_PARTIAL = (*(f".{name}.*" for name in _RESULTS), f"{row_file.PARTIAL}*")

#: Most topics of a fingerprint that an error text lists, and most characters of one.
_MAX_TOPICS, _MAX_TEXT = 4, 60

#: A topic of fingerprints that counted whole source files.
_EARLIER = "the source of desim"

#: The advice for a checkpoint of desim that does not fit.
_WAYS = "choose another folder (--out), or discard its rows (--restart)"

#: Whether a row is that of a job.
Owns = Callable[[int, bytes], bool]


class Checkpoint:
    """Keeps the finished rows of one sweep; a context manager that holds the file's lock.

    Args:
        folder: The folder of the file; both are created if needed.
        identity: Everything that determines the rows, by topic (`fingerprint`); None opens any
            existing checkpoint for reading.
        owns: Whether a row is that of a job; rows for which it returns False count as damaged.
        restart: Discard the rows of an existing checkpoint, of this sweep or another.

    Attributes:
        file_name: The name of the file.
        results: The files that a finished command writes beside it.
        command: The name of the command in error texts.
        row_of: The name of what a row describes in error texts.
        path: The file.
        discarded: The number of rows that *restart* discarded.
        damaged: Whether the file was damaged; it now holds the sound rows only.
        lost: Jobs whose rows were damaged, as far as they are known.

    Raises:
        UsageError: The folder cannot be used, it holds another sweep or a foreign file of our
            name, its identity is damaged, or another process is writing the file.
    """

    file_name: ClassVar[str] = FILE_NAME
    results: ClassVar[tuple[str, ...]] = _RESULTS
    command: ClassVar[str] = "sweep"
    row_of: ClassVar[str] = "episode"

    def __init__(
        self,
        folder: str | Path,
        identity: Mapping[str, str] | None = None,
        owns: Owns = lambda _job, _row: True,
        *,
        restart: bool = False,
    ) -> None:
        self.path = Path(folder) / self.file_name
        self.discarded = 0
        self.damaged = False
        self.lost: list[int] = []
        self._jobs: set[int] = set()
        self._identity = dict(identity or {})
        if identity is not None and not os.path.lexists(self.path):
            self._create(identity)
        self._file = self._connected()
        try:
            with self._usage_errors():
                self._open(identity, owns, restart=restart)
        except BaseException:
            self._file.close()
            raise

    def __len__(self) -> int:
        return len(self._jobs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the file."""
        self._file.close()

    def jobs(self) -> set[int]:
        """Return the indices of the finished jobs."""
        return set(self._jobs)

    def add(self, jobs: Sequence[int], rows: Sequence[bytes]) -> None:
        """Commit the rows of some jobs in one transaction.

        Raises:
            UsageError: The rows cannot be written, for instance because the disk is full.
        """
        with self._usage_errors(), self._transaction():
            row_file.insert(self._file, zip(jobs, rows, strict=True))
        self._jobs.update(jobs)

    def note_files(self, files: Mapping[str, str]) -> None:
        """Add files that were opened to play rows to the fingerprint of the rows.

        Files that the sweep itself writes beside its rows do not count.

        Args:
            files: Their digests by path.

        Raises:
            UsageError: A file has changed since kept rows were played, or the checkpoint cannot be
                written.
        """
        known = noted_topics(files, self._identity, self.path.parent)
        if not known.items() <= self._identity.items():
            again = {topic: known[topic] for topic in known if topic in self._identity}
            self._check_same({**self._identity, **again})
            self._identity |= known
            with self._usage_errors(), self._transaction():
                row_file.write_identity(self._file, self._identity)

    def remove(self, jobs: Iterable[int]) -> None:
        """Remove the rows of some jobs in one transaction, so that these are played again.

        Raises:
            UsageError: The file cannot be written.
        """
        jobs = list(jobs)
        with self._usage_errors(), self._transaction():
            self._file.executemany("DELETE FROM rows WHERE job = ?", ((job,) for job in jobs))
        self._jobs.difference_update(jobs)

    def rows(self) -> Iterator[bytes]:
        """Yield the rows in the order of their jobs.

        Raises:
            BadRecord: A row is damaged.
        """
        with self._usage_errors():
            query = "SELECT job, row, checksum FROM rows ORDER BY job"
            for job, row, stored in self._file.execute(query):
                if not row_file.matches(job, row, stored):
                    raise BadRecord(
                        f"{self.path}: the row of {self.row_of} {job} is damaged; the command of "
                        f"the {self.command} plays it again"
                    )
                yield row

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

    def _remove_partial_files(self) -> None:
        """Remove the partial files of killed processes; the lock excludes living ones."""
        for partial in itertools.chain(*map(self.path.parent.glob, _PARTIAL)):
            shutil.rmtree(partial, ignore_errors=True)
            with contextlib.suppress(OSError):  # a folder is gone by now; the disk may be read-only
                partial.unlink()

    def _create(self, identity: Mapping[str, str]) -> None:
        with self._usage_errors():
            for name in self.results:
                if (rows := self.path.with_name(name)).exists():
                    raise UsageError(
                        f"{rows} is there without its {self.file_name}; {_removal(rows)}"
                    )
            row_file.create(self.path, identity)

    def _connected(self) -> sqlite3.Connection:
        """Open the file for writing, even to read: SQLite may have to roll back a cut commit."""
        with self._usage_errors():
            self._inode = self._present_inode()
            uri = f"{self.path.resolve().as_uri()}?mode=rw"
            file = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0)
        file.text_factory = bytes  # a damaged text may be invalid UTF-8
        return file

    def _open(self, identity: Mapping[str, str] | None, owns: Owns, *, restart: bool) -> None:
        if self._integer("PRAGMA application_id") != row_file.APPLICATION:
            raise UsageError(
                f"{self.path} is no checkpoint of a {self.command}; {_removal(self.path)}"
            )
        if identity is None:
            self._check_format()
            self._jobs = {job for (job,) in self._file.execute("SELECT job FROM rows")}
            return
        self._lock()
        self._remove_partial_files()
        if restart:
            self._discard(identity)
        else:
            self._check_format()
            self._check_identity(identity)
            self._keep_sound_rows(owns)

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
        if (version := self._integer("PRAGMA user_version")) != row_file.FORMAT:
            raise UsageError(
                f"{self.path} has format {version} and this desim writes format "
                f"{row_file.FORMAT}; {_WAYS}"
            )

    def _check_identity(self, identity: Mapping[str, str]) -> None:
        stored = row_file.read_identity(self._file)
        if stored is None:
            raise UsageError(f"{self.path} is damaged: its {self.command} cannot be read; {_WAYS}")
        self._identity = stored
        self._check_same({**identity, **noted_now(stored)})

    def _check_same(self, identity: Mapping[str, str]) -> None:
        """Check that the kept rows have the present fingerprint.

        Raises:
            UsageError: The fingerprints differ.
        """
        stored = self._identity
        if any(stored.get(topic) != identity.get(topic) for topic in {**stored, **identity}):
            differs = _difference(self.command, stored, identity)
            raise UsageError(f"{self.path} holds {differs}; {_WAYS}")

    def _keep_sound_rows(self, owns: Owns) -> None:
        """Find the finished jobs; if anything is damaged, write the sound rows to a new file."""
        for job, row in row_file.scan(self._file):
            if row is not None and owns(job, row):
                self._jobs.add(job)
            else:
                self.lost.append(job)
        self.damaged = bool(self.lost) or not row_file.is_sound(self._file)
        self.lost = [job for job in self.lost if job not in self._jobs]
        if self.damaged:
            self._replace(self._identity, self._sound_rows(owns))

    def _sound_rows(self, owns: Owns) -> Iterator[tuple[int, bytes]]:
        self._jobs.clear()
        for job, row in row_file.scan(self._file):
            if row is not None and job not in self._jobs and owns(job, row):
                self._jobs.add(job)
                yield job, row

    def _discard(self, identity: Mapping[str, str]) -> None:
        with contextlib.suppress(sqlite3.DatabaseError):  # it may be damaged
            self.discarded = self._integer("SELECT count(*) FROM rows")
        self._replace(identity, ())

    def _replace(self, identity: Mapping[str, str], rows: Iterable[tuple[int, bytes]]) -> None:
        row_file.replace(self.path, identity, rows)
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


def _difference(command: str, stored: Mapping[str, str], identity: Mapping[str, str]) -> str:
    """Return what a checkpoint holds instead, and the topics in which it differs."""
    if CODE in identity and _EARLIER in stored:
        return f"a {command} of an earlier desim, whose fingerprint counts whole source files"
    stored, identity = differing_topics(stored, identity)
    topics = list({**stored, **identity})
    values = [t for t in topics if not is_digest(stored.get(t) or identity[t])]
    # Topics that only one side has follow from the others, such as the source files of a policy.
    changed = [t for t in topics if t not in values and t in stored and t in identity]
    named = values + changed or topics
    texts = [_topic_text(topic, stored, identity) for topic in named[:_MAX_TOPICS]]
    more = f" and {len(named) - _MAX_TOPICS} more" if len(named) > _MAX_TOPICS else ""
    kind = f"another {command}" if values else "rows of other code or data"
    return f"{kind} ({', '.join(texts)}{more})"


def _topic_text(topic: str, stored: Mapping[str, str], identity: Mapping[str, str]) -> str:
    if topic not in identity:
        return f"{topic} is not used any more"
    if identity[topic] == GONE:
        return f"{topic} is gone"
    if is_digest(identity[topic]):
        return f"{topic} has changed" if topic in stored else f"{topic} is new"
    before, now = stored.get(topic, ""), identity[topic]
    same = _first_difference(before, now)
    return f"{topic} {_short(before, same)}, now {_short(now, same)}"


def _first_difference(before: str, now: str) -> int:
    pairs = enumerate(zip(before, now, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(before), len(now)))


def _short(text: str, start: int) -> str:
    """Return a text in quotes; a long one is cut to the characters around a place."""
    start = max(0, start - _MAX_TEXT // 3) if len(text) > _MAX_TEXT else 0
    end = start + _MAX_TEXT
    return repr("…" * (start > 0) + text[start:end] + "…" * (end < len(text)))
