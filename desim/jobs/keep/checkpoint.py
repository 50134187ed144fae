"""Finished rows by number in one file, all of one command, by which it can be continued.

Rows are checked against their checksums when the file is opened: damaged ones are dropped, so that
they are played again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import msgspec

from desim.errors import UsageError
from desim.jobs.keep import row_file
from desim.jobs.keep.fingerprint import difference
from desim.jobs.keep.locked_file import WAYS, LockedFile

#: Whether a row is that of a number.
Owns = Callable[[int, bytes], bool]


class Checkpoint(LockedFile):
    """Keeps the finished rows of one command; a context manager that holds the file's lock.

    Args:
        folder: The folder of the file; both are created if needed.
        identity: Everything that determines the rows, by topic; None opens any existing file for
            reading.
        owns: Whether a row is that of a number; rows for which it returns False count as damaged.
        restart: Discard the rows of an existing file, of this command or another.

    Raises:
        UsageError: See `LockedFile`, or the file holds rows of another identity, or its identity is
            damaged.
    """

    form: ClassVar[int] = 2

    def __init__(
        self,
        folder: str | Path,
        identity: Mapping[str, str] | None = None,
        owns: Owns = lambda _job, _row: True,
        *,
        restart: bool = False,
    ) -> None:
        self._jobs: set[int] = set()
        self._identity, self._owns_row, self._restart = identity or {}, owns, restart
        entries = {row_file.IDENTITY: msgspec.json.encode(identity)} if identity else {}
        super().__init__(folder, entries, read=identity is None)

    def __len__(self) -> int:
        return len(self._jobs)

    def jobs(self) -> set[int]:
        """Return the numbers of the rows."""
        return set(self._jobs)

    def add(self, jobs: Sequence[int], rows: Sequence[bytes]) -> None:
        """Commit rows with some numbers in one transaction.

        Raises:
            UsageError: The rows cannot be written, for instance because the disk is full.
        """
        with self._usage_errors(), self._transaction():
            row_file.insert(self._file, zip(jobs, rows, strict=True))
        self._jobs.update(jobs)

    def remove(self, jobs: Iterable[int]) -> None:
        """Remove the rows of some numbers in one transaction.

        Raises:
            UsageError: The file cannot be written.
        """
        jobs = list(jobs)
        with self._usage_errors(), self._transaction():
            self._file.executemany("DELETE FROM rows WHERE job = ?", ((job,) for job in jobs))
        self._jobs.difference_update(jobs)

    def rows(self) -> Iterator[bytes]:
        """Yield the rows in the order of their numbers.

        Raises:
            BadRecord: A row is damaged.
        """
        with self._usage_errors():
            query = "SELECT job, row, checksum FROM rows ORDER BY job"
            for job, row, stored in self._file.execute(query):
                if not row_file.matches(job, row, stored):
                    raise self._damaged_row(job)
                yield row

    def _begin_reading(self) -> None:
        self._check_format()
        self._jobs = {number for (number,) in self._file.execute("SELECT job FROM rows")}

    def _begin_writing(self) -> None:
        if self._restart:
            self._discard()
        else:
            self._check_format()
            self._check_identity(self._identity)
            self._keep_sound_rows()

    def _check_identity(self, identity: Mapping[str, str]) -> None:
        """Check that the rows belong to an identity.

        Raises:
            UsageError: They belong to another one, or theirs is damaged.
        """
        stored = row_file.read_identity(self._file)
        if stored is None:
            raise UsageError(f"{self.path} is damaged: its {self.command} cannot be read; {WAYS}")
        if stored != identity:
            differs = difference(self.command, stored, identity)
            raise UsageError(f"{self.path} holds {differs}; {WAYS}")

    def _keep_sound_rows(self) -> None:
        """Find the finished rows; if anything is damaged, write the sound ones to a new file."""
        found = row_file.scan(self._file)
        fits = {number: row is not None and self._owns_row(number, row) for number, row in found}
        self._jobs = {number for number, sound in fits.items() if sound}
        self.damaged = len(self._jobs) < len(fits) or not row_file.is_sound(self._file)
        if self.damaged:
            self._replace(row_file.sound_rows(self._file, self._jobs.__contains__))
