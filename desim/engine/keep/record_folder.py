"""A folder of recorded episodes: a manifest, a record for each, their outcomes, and money spent.

suite.json       the manifest: what was asked for, as data; the folder does not read it
suite.sqlite     the journal: what determines the episodes, and the last outcome of each job
records/JOB.jsonl  one record an episode; of a series records/JOB/episode-001.jsonl and so on
earlier/         records that --restart has set aside, until their jobs are played again
spent.jsonl      calls and money, a line a call
status.json      the jobs under way
predictions.jsonl  what methods answered to questions
results.csv      a row an episode
table.csv        the table of results; results.json holds the same
"""

import contextlib
import shutil
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from desim.engine.keep.outcome import JobOutcome, Journal
from desim.engine.keep.spending import SpendingFile, count_outcomes
from desim.engine.keep.store import SweepWarning
from desim.engine.record_job import RecordJob
from desim.episodes.usage import UsageSums
from desim.errors import BadRecord, UsageError, WriteFailed
from desim.records.episode import Episode
from desim.records.record_file import begun
from desim.records.record_lock import RecordLock
from desim.show.files import write_whole

#: The file of the manifest.
MANIFEST = "suite.json"

#: The files of results that a command writes at its end.
RESULTS = ("results.csv", "table.csv", "results.json")

#: The folders of the records, and of those that --restart has set aside.
_RECORDS, _EARLIER = "records", "earlier"

#: Files that --restart removes; outcomes.jsonl is of the earlier format.
_DISCARDED = ("spent.jsonl", "status.json", "predictions.jsonl", "outcomes.jsonl", *RESULTS)


class RecordFolder:
    """A folder that holds the episodes of one suite.

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
        return self._records / f"{job}.jsonl"

    def spent(self, *, write: bool = False) -> SpendingFile:
        """Open the file of calls and money.

        Warns:
            SweepWarning: Lines were damaged.
        """
        spent = SpendingFile(self.path / "spent.jsonl", write=write)
        if spent.damaged:
            _warn(
                f"{self.path / 'spent.jsonl'}: {spent.damaged:,} lines are damaged; what the "
                "records say was spent is counted instead where it is more"
            )
        return spent

    def count_records(
        self, jobs: Sequence[RecordJob], outcomes: Mapping[str, JobOutcome], spent: SpendingFile
    ) -> None:
        """Count at least the calls and money of outcomes, and of records of unfinished jobs."""
        count_outcomes(jobs, outcomes, spent)
        for job in jobs:
            outcome = outcomes.get(job.name)
            if job.host and not (outcome and outcome.final):
                used = [_noted(record) for record in records_of(job, self.record(job.name))]
                spent.require(job.name, sum(n for n, _ in used), sum(cost for _, cost in used))

    @contextlib.contextmanager
    def opened(
        self,
        identity: Mapping[str, str],
        jobs: Sequence[RecordJob],
        manifest: bytes,
        *,
        restart: bool = False,
    ) -> Iterator[None]:
        """Lock the folder for a suite, after a check that it holds a part of it or nothing.

        Args:
            identity: What determines the episodes, by topic.
            jobs: All jobs.
            manifest: The content of the manifest.
            restart: Discard the episodes in the folder, of this suite or another, with the money
                spent; their records are set aside, see `earlier_record`.

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
                self.refuse_unknown_records()
            with Journal(self.path, identity, jobs, restart=restart) as journal:
                self._warn_of(journal)
                self.write(MANIFEST, manifest)
                self._journal = journal
                try:
                    yield
                finally:
                    self._journal = None

    def set_aside(self, job: RecordJob) -> None:
        """Set the records of a job aside, which is to be played anew; see `earlier_record`."""
        _set_aside(self._of(job))

    def is_set_aside(self, job: RecordJob) -> bool:
        """Return whether records of a job are set aside, as they are until it has been played."""
        return earlier_record(self._of(job)).exists()

    def _of(self, job: RecordJob) -> Path:
        record = self.record(job.name)
        return series_folder(record) if job.is_series else record

    def outcomes(self) -> dict[str, JobOutcome]:
        """Return the last outcome of each job.

        Raises:
            UsageError: The journal cannot be read.
            BadRecord: An outcome is damaged.
        """
        if self._journal is not None:
            return self._journal.outcomes()
        if not self.has_journal:
            return {}
        with Journal(self.path) as journal:
            return journal.outcomes()

    def identity(self) -> dict[str, str]:
        """Return what determines the episodes, by topic; empty before the first command.

        Raises:
            UsageError: The journal cannot be read.
        """
        if not self.has_journal:
            return {}
        with Journal(self.path) as journal:
            return journal.identity()

    def add(self, outcome: JobOutcome) -> None:
        """Keep the outcome of a job; the folder is opened.

        Raises:
            UsageError: The outcome cannot be written.
        """
        assert self._journal is not None, "the folder is not opened"
        self._journal.put(outcome)
        if outcome.final:
            _remove(earlier_record(self.record(outcome.job)))

    def write(self, name: str, content: bytes) -> None:
        """Replace a file as a whole.

        Raises:
            WriteFailed: The file cannot be written.
        """
        try:
            write_whole(self.path / name, [content])
        except UsageError as fault:
            raise WriteFailed(str(fault)) from None

    def check(self, identity: Mapping[str, str], jobs: Sequence[RecordJob]) -> None:
        """Check that the folder holds a part of a suite or nothing; nothing is written.

        Args:
            identity: What determines the episodes, by topic.
            jobs: All jobs of the suite.

        Raises:
            UsageError: The folder holds another suite, episodes of other code or data, or other
                files.
        """
        self._refuse_other_files()
        self.refuse_unknown_records()
        if self.has_journal:
            with Journal(self.path) as journal:
                journal.require(identity, jobs)

    def refuse_unknown_records(self) -> None:
        """Refuse records without a journal, which identifies the code that played them.

        Raises:
            UsageError: There are such records.
        """
        if self.has_journal:
            return
        if self._records.is_dir() and any(self._records.iterdir()):
            raise UsageError(
                f"{self._records} is there without {Journal.file_name}, which says with what code "
                "it was played; choose another folder (--out), or discard it (--restart)"
            )

    @property
    def has_journal(self) -> bool:
        """Whether an earlier command has played into the folder."""
        return (self.path / Journal.file_name).exists()

    @property
    def _records(self) -> Path:
        return self.path / _RECORDS

    def _make(self) -> None:
        try:
            self._records.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise UsageError(f"cannot write {self.path}: {fault.strerror}") from None

    def _refuse_other_files(self) -> None:
        """Refuse a folder that no suite was played into."""
        if self.path.exists() and not self.path.is_dir():
            raise UsageError(f"{self.path} is no folder")
        ours = (self.path / MANIFEST).exists() or self.has_journal
        if self.path.is_dir() and not ours and not all(map(_is_begun, self.path.iterdir())):
            raise UsageError(f"{self.path} holds other files and no suite; choose a new folder")

    def _discard(self) -> None:
        """Remove results, set records aside; the journal is discarded then, in case of a kill."""
        try:
            if any(self._records.iterdir()):
                _warn(
                    f"{self._records}: the records and what was spent were discarded; requests of "
                    "language models that are the same again take their replies from there"
                )
            for record in [*self._records.iterdir()]:
                _set_aside(record)
            for name in _DISCARDED:
                (self.path / name).unlink(missing_ok=True)
        except OSError as fault:
            raise UsageError(f"cannot write {self.path}: {fault.strerror}") from None

    def _warn_of(self, journal: Journal) -> None:
        if journal.discarded:
            _warn(f"{journal.path}: {journal.discarded:,} outcomes were discarded")


def series_folder(record: Path) -> Path:
    """Return the folder of a series from the path that the record of a single episode would have.

    >>> series_folder(Path("records/game__rule-1.5__seed0__1.jsonl")).name
    'game__rule-1.5__seed0__1'
    """
    return record.with_suffix("")


def records_of(job: RecordJob, record: Path) -> list[Path]:
    """Return the records of a job that are there, given the path of that of a single episode."""
    if job.is_series:
        return sorted(series_folder(record).glob("*.jsonl"))
    return [record] if record.exists() else []


def earlier_record(record: Path) -> Path:
    """Return where --restart sets a record aside, so that its replies are not paid for twice."""
    return record.parent.with_name(_EARLIER) / record.name


def _set_aside(record: Path) -> None:
    earlier = earlier_record(record)
    # One that is there already has not been played again to its end, and holds more.
    if not earlier.exists() and record.exists():
        earlier.parent.mkdir(exist_ok=True)
        record.replace(earlier)
    elif record.is_dir():
        shutil.rmtree(record)
    else:
        record.unlink(missing_ok=True)


def _remove(record: Path) -> None:
    """Remove the record of an episode, or those of a series."""
    with contextlib.suppress(OSError):  # it is not needed, so it does no harm
        record.unlink(missing_ok=True)
        shutil.rmtree(series_folder(record), ignore_errors=True)
        record.parent.rmdir()  # if it was the last


def _noted(record: Path) -> tuple[int, float]:
    """Return the calls and the money that the decisions of a record have noted."""
    sums = UsageSums()
    try:
        if begun(record):
            for step in Episode.read(record, whole=False, keep_steps=False).steps:
                sums.add("", step.notes)
    except BadRecord:
        return 0, 0.0  # its job fails with a sentence
    used = sums.totals().get("", {})
    return int(used.get("calls", 0)), used.get("cost", 0.0)


def _is_begun(path: Path) -> bool:
    """Return whether a file may be left by a command that was killed at its start."""
    if path.name == "records":
        return path.is_dir() and not any(path.iterdir())
    return path.name == "suite.lock" or path.name.startswith(f".{MANIFEST}.")


def _warn(text: str) -> None:
    warnings.warn(text, SweepWarning, stacklevel=2)
