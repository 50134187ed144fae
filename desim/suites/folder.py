"""The folder of a suite: its manifest, a record for each episode, outcomes, and money spent.

suite.json       the manifest: the suite's file as text, and what printing needs beside it
suite.sqlite     the journal: what determines the episodes, and the last outcome of each job
records/JOB.jsonl  one record an episode; of a series records/JOB/episode-001.jsonl and so on
spent.jsonl      what was spent, a line a call
status.json      what runs now
results.csv      a row an episode
table.csv        a row for each column of each entry; results.json holds the same
"""

import contextlib
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path

import msgspec

from desim.errors import UsageError, WriteFailed
from desim.jobs.keep.row_file import PARTIAL
from desim.jobs.keep.store import SweepWarning
from desim.records.record_lock import RecordLock
from desim.show.files import write_whole
from desim.suites import manifest
from desim.suites.manifest import Manifest, identity, read_manifest
from desim.suites.outcome import RESULTS, Journal, Outcome
from desim.suites.spending import Ledger
from desim.suites.suite_plan import Plan

#: Files that --restart removes; outcomes.jsonl is of the earlier format.
_DISCARDED = ("spent.jsonl", "status.json", "outcomes.jsonl", *RESULTS)


class Folder:
    """A folder that holds one suite's episodes.

    Args:
        path: The folder, which need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._journal: Journal | None = None

    @property
    def status(self) -> Path:
        """The file of the status."""
        return self.path / "status.json"

    def record(self, job: str) -> Path:
        """Return the path of a job's record."""
        return self.path / "records" / f"{job}.jsonl"

    def ledger(self, *, write: bool = False) -> Ledger:
        """Open the ledger of calls and money.

        Warns:
            SweepWarning: Lines were damaged.
        """
        ledger = Ledger(self.path / "spent.jsonl", write=write)
        if ledger.damaged:
            _warn(
                f"{self.path / 'spent.jsonl'}: {ledger.damaged:,} lines are damaged; what the "
                "records say was spent is counted instead where it is more"
            )
        return ledger

    @contextlib.contextmanager
    def opened(self, plan: Plan, *, restart: bool = False) -> Iterator[None]:
        """Lock the folder for a suite, after a check that it holds this one or nothing.

        Args:
            plan: The suite.
            restart: Discard the episodes in the folder, of this suite or another, with their
                records and ledger.

        Raises:
            UsageError: The folder holds another suite, episodes of other code or data, or other
                files, another command plays into it, or it cannot be written.

        Warns:
            SweepWarning: Outcomes were damaged, and are read from their records again, or
                episodes were discarded.
        """
        self._refuse_other_files()
        self._make()
        with RecordLock(self.path / "suite"):
            if restart:
                self._discard()
            else:
                self._refuse_unknown_records()
            with Journal(self.path, identity(plan), plan.jobs, restart=restart) as journal:
                self._warn_of(journal)
                self._write_manifest(plan)
                self._journal = journal
                try:
                    yield
                finally:
                    self._journal = None

    def plan(self) -> Plan:
        """Return the plan of the suite that was played here, to print its results.

        Raises:
            UsageError: The folder holds no suite, or a damaged one.
        """
        found = read_manifest(self.path)
        if found is None:
            raise UsageError(f"{self.path} holds no suite; give a suite's file and --out FOLDER")
        return found.plan()

    def outcomes(self) -> dict[str, Outcome]:
        """Return the last outcome of each job.

        Raises:
            UsageError: The journal cannot be read.
            BadRecord: An outcome is damaged.
        """
        if self._journal is not None:
            return self._journal.outcomes()
        if not self._journal_file.exists():
            return {}
        with Journal(self.path) as journal:
            return journal.outcomes()

    def identity(self) -> dict[str, str]:
        """Return what determines the episodes, by topic; empty before the first command.

        Raises:
            UsageError: The journal cannot be read.
        """
        if not self._journal_file.exists():
            return {}
        with Journal(self.path) as journal:
            return journal.identity()

    def add(self, outcome: Outcome) -> None:
        """Keep the outcome of a job; the folder is opened.

        Raises:
            UsageError: The outcome cannot be written.
        """
        assert self._journal is not None, "the folder is not opened"
        self._journal.put(outcome)

    def write(self, name: str, content: bytes) -> None:
        """Replace a file as a whole.

        Raises:
            WriteFailed: The file cannot be written.
        """
        try:
            write_whole(self.path / name, [content])
        except UsageError as fault:
            raise WriteFailed(str(fault)) from None

    def check(self, plan: Plan) -> None:
        """Check that the folder holds this suite or nothing; nothing is written.

        Raises:
            UsageError: The folder holds another suite, episodes of other code or data, or other
                files.
        """
        self._refuse_other_files()
        self._refuse_unknown_records()
        if self._journal_file.exists():
            with Journal(self.path) as journal:
                journal.require(identity(plan))

    @property
    def _journal_file(self) -> Path:
        return self.path / Journal.file_name

    @property
    def _records(self) -> Path:
        return self.path / "records"

    def _make(self) -> None:
        try:
            self._records.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise UsageError(f"cannot write {self.path}: {fault.strerror}") from None

    def _refuse_other_files(self) -> None:
        """Refuse a folder that no suite was played into."""
        if self.path.exists() and not self.path.is_dir():
            raise UsageError(f"{self.path} is no folder")
        ours = (self.path / manifest.FILE_NAME).exists() or self._journal_file.exists()
        if self.path.is_dir() and not ours and not all(map(_is_begun, self.path.iterdir())):
            raise UsageError(f"{self.path} holds other files and no suite; choose a new folder")

    def _refuse_unknown_records(self) -> None:
        """Refuse records without a journal, which identifies the code that played them."""
        if self._journal_file.exists():
            return
        if (self.path / manifest.FILE_NAME).exists():
            read_manifest(self.path)  # an earlier format has a sentence of its own
        if self._records.is_dir() and any(self._records.iterdir()):
            raise UsageError(
                f"{self._records} is there without {Journal.file_name}, which says with what code "
                "it was played; choose another folder (--out), or discard it (--restart)"
            )

    def _discard(self) -> None:
        """Remove records and results; the journal is discarded after them, in case of a kill."""
        try:
            if any(self._records.iterdir()):
                _warn(f"{self._records}: the records and what was spent were discarded")
            shutil.rmtree(self._records)
            self._records.mkdir()
            for name in _DISCARDED:
                (self.path / name).unlink(missing_ok=True)
        except OSError as fault:
            raise UsageError(f"cannot write {self.path}: {fault.strerror}") from None

    def _warn_of(self, journal: Journal) -> None:
        if journal.discarded:
            _warn(f"{journal.path}: {journal.discarded:,} outcomes were discarded")
        if journal.damaged:
            _warn(f"{journal.path} was damaged; what is lost is read from the records again")

    def _write_manifest(self, plan: Plan) -> None:
        self.write(manifest.FILE_NAME, msgspec.json.encode(Manifest.of(plan)))


def _is_begun(path: Path) -> bool:
    """Return whether a file may be left by a command that was killed at its start."""
    if path.name == "records":
        return path.is_dir() and not any(path.iterdir())
    return path.name == "suite.lock" or path.name.startswith((PARTIAL, f".{manifest.FILE_NAME}."))


def _warn(text: str) -> None:
    warnings.warn(text, SweepWarning, stacklevel=2)
