"""The journal of a suite: the outcome of each job with a checksum, in one SQLite file.

It is a `desim.sweeps.checkpoint.Checkpoint` whose rows are outcomes. Unlike a sweep's it may be
read while a suite is played, which can take days; the lock of the folder keeps other writers out.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import msgspec

from desim.errors import BadRecord, UsageError
from desim.suites.outcome import Outcome
from desim.suites.plan import Job
from desim.sweeps import row_file
from desim.sweeps.checkpoint import Checkpoint

__all__ = ["RESULTS", "Journal"]

#: The files of results that a command writes at its end.
RESULTS = ("results.csv", "table.csv", "results.json")

#: Seconds that a reader waits for a transaction of the writer, and the writer for a reader.
_PATIENCE = 10.0

#: The tables of the file as SQLite lists them: name and type.
_TABLES = [(b"identity", b"table"), (b"rows", b"table")]

_decode, _encode = msgspec.json.Decoder(Outcome).decode, msgspec.json.Encoder().encode


class Journal(Checkpoint):
    """Keeps the last outcome of each job by its place in the plan; a context manager.

    Args:
        folder: The folder of the suite.
        identity: What determines the episodes (`desim.suites.identity`); None opens an existing
            journal for reading.
        jobs: All jobs of the plan, to which outcomes belong; empty for reading.
        restart: Discard the outcomes of an existing journal, of this suite or another.

    Raises:
        UsageError: As of `Checkpoint`.
    """

    file_name: ClassVar[str] = "suite.sqlite"
    results: ClassVar[tuple[str, ...]] = ()
    command: ClassVar[str] = "suite"
    row_of: ClassVar[str] = "job"

    def __init__(
        self,
        folder: Path,
        identity: Mapping[str, str] | None = None,
        jobs: Sequence[Job] = (),
        *,
        restart: bool = False,
    ) -> None:
        self._places = {job.name: place for place, job in enumerate(jobs)}
        super().__init__(folder, identity, self._owns, restart=restart)

    def put(self, outcome: Outcome) -> None:
        """Keep the outcome of a job; an earlier one is replaced.

        Raises:
            UsageError: It cannot be written, for instance because the disk is full.
        """
        place = self._places[outcome.job]
        if place in self.jobs():
            # A kill in between loses an outcome that was not final; its job is played again anyhow.
            self.remove([place])
        self.add([place], [_encode(outcome)])

    def outcomes(self) -> dict[str, Outcome]:
        """Return the outcomes by the names of their jobs.

        Raises:
            BadRecord: One is damaged.
        """
        try:
            found = [_decode(row) for row in self.rows()]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
            raise BadRecord(f"{self.path} holds a row that is no outcome: {fault}") from None
        return {outcome.job: outcome for outcome in found}

    def identity(self) -> dict[str, str]:
        """Return what determines the episodes.

        Raises:
            UsageError: It is damaged.
        """
        with self._usage_errors():
            stored = row_file.read_identity(self._file)
        if stored is None:
            raise UsageError(f"{self.path} is damaged: what was played cannot be read")
        return stored

    def require(self, identity: Mapping[str, str]) -> None:
        """Check that the episodes are those of an identity.

        Raises:
            UsageError: They are not; the text names what differs.
        """
        with self._usage_errors():
            self._check_identity(identity)

    def _owns(self, place: int, row: bytes) -> bool:
        try:
            return self._places.get(_decode(row).job) == place
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return False

    def _connected(self) -> sqlite3.Connection:
        file = super()._connected()
        file.execute(f"PRAGMA busy_timeout = {_PATIENCE * 1000:.0f}")
        return file

    def _check_format(self) -> None:
        super()._check_format()
        # A stranger's file may hold a view under the name, whose query need not end.
        found = self._file.execute("SELECT name, type FROM sqlite_master ORDER BY name").fetchall()
        if found != _TABLES:
            raise UsageError(f"{self.path} is no journal of a suite: it has other tables")

    def _lock(self) -> None:
        """Take no lock that lasts: the folder's keeps other writers out, and readers may read."""
