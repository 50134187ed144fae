"""Steps 7 to 9 of `verify`: the episodes of a job are played again, and their records compared.

A job is checked in a process of its own where several are allowed.
"""

import multiprocessing
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Self

from attrs import define, field, frozen

from desim.core.limits import Alarm
from desim.errors import BadRecord, DesimError, LimitReached
from desim.jobs.keep.outcome import JobOutcome
from desim.records.episode import Episode
from desim.records.provenance import versions
from desim.suites.suite_plan import SuiteJob
from desim.verification.asked_rule import StrangersRule, asked_apart
from desim.verification.entries.entry_folder import record_files
from desim.verification.figures import outcome_of
from desim.verification.offline import go_offline
from desim.verification.played_again import (
    NotDecidable,
    Players,
    play_again,
    played,
    rehearses,
    same_versions,
)
from desim.verification.record_content import check_same, content_digest

#: Fewer jobs than these are checked sooner than processes are started.
_FEW_JOBS = 16

#: The least number of replies by whose identifiers two records are compared.
_FEW_REPLIES = 2


@frozen
class JobToCheck:
    """A job of an entry.

    Attributes:
        job: The job.
        folder: The folder of the entry.
        digests: The content digest of each of its records, as the manifest names it.
        present: The records in the folder.
        made_with: The versions that the manifest states.
        rules: The rules of the submitter's own, by name.
    """

    job: SuiteJob
    folder: Path
    digests: dict[str, str]
    present: frozenset[str]
    made_with: Mapping[str, str]
    rules: Mapping[str, StrangersRule] = field(factory=dict)

    @property
    def names(self) -> list[str]:
        """The paths of its records below the folder."""
        return record_files(self.job)


@frozen
class CheckedJob:
    """A job whose records hold what its policies play.

    Attributes:
        outcome: Its outcome, from the new records.
        rehearsed: Whether language models decided, whose replies are on record.
        replies: By record the identifiers that a server gave its replies.
    """

    outcome: JobOutcome
    rehearsed: bool
    replies: dict[str, tuple[str, ...]]


@define(eq=False)
class CheckProcesses:
    """Processes that check jobs, started when they are needed first; several entries share them.

    Attributes:
        processes: How many jobs are checked at once; 1 checks them in this process.
        seconds: Wall time of a job in a process of its own, which ends with it.
    """

    processes: int = 1
    seconds: float | None = None
    _pool: ProcessPoolExecutor | None = field(default=None, init=False)

    def checked(self, jobs: Sequence[JobToCheck]) -> Iterator[CheckedJob]:
        """Yield the jobs in their order, each as soon as it is checked.

        Raises:
            BadRecord: A record differs from what its policies play; the text names the first.
            NotDecidable: The episodes cannot be played again here.
        """
        if self.processes == 1 or (self._pool is None and len(jobs) < _FEW_JOBS):
            yield from map(checked, jobs)
            return
        if self._pool is None:
            spawning = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.processes, spawning, go_offline)
        try:
            yield from self._pool.map(partial(_checked_in_time, self.seconds), jobs)
        except (BadRecord, NotDecidable):
            raise  # the processes are as they were
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the processes; jobs that have not begun are dropped."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _checked_in_time(seconds: float | None, to_check: JobToCheck) -> CheckedJob:
    """Check a job in a worker, whose alarm is its own."""
    with Alarm(seconds):
        return checked(to_check)


def checked(to_check: JobToCheck) -> CheckedJob:
    """Check a job, with the rules of its own in processes of theirs; see `_checked`."""
    with asked_apart(to_check.rules):
        return _checked(to_check)


def _checked(to_check: JobToCheck) -> CheckedJob:
    """Play the episodes of a job again, and compare their records with the new ones.

    Raises:
        BadRecord: See `CheckProcesses.checked`.
        NotDecidable: See `CheckProcesses.checked`.
    """
    job, names = to_check.job, to_check.names
    players = Players(job.model, job.policies)
    files = [to_check.folder / name for name in names if name in to_check.present]
    if files and len(files) < len(names):
        raise BadRecord(f"record {names[len(files)]} is missing")
    if not files and rehearses(players):
        raise BadRecord(f"record {names[0]} is missing: its replies are needed")
    replies = {}
    for name, file, seed in zip(names, files, job.seeds, strict=False):
        _check_header(name, file, seed)
        if content_digest(file) != to_check.digests[name]:
            raise BadRecord(f"record {name} is not the one that the manifest names")
        replies[name] = _reply_numbers(file)
    with (
        tempfile.TemporaryDirectory(prefix="desim-verify-") as folder,
        same_versions(_made_with(to_check, files)),
    ):
        again = _played(players, job, names[0], files, Path(folder))
        for name, file, new in zip(names, files, again, strict=False):
            _compare(name, file, new)
        for name, new in zip(names, again, strict=True):
            if not files and content_digest(new) != to_check.digests[name]:
                raise BadRecord(f"record {name} is not what its policy plays")
        return CheckedJob(outcome_of(job, again), rehearses(players), replies)


def _played(
    players: Players, job: SuiteJob, name: str, files: list[Path], folder: Path
) -> list[Path]:
    """Return the new records of a job."""
    try:
        if files:
            return play_again(players, files, folder)
        return played(players, job.seeds, folder)
    except (NotDecidable, LimitReached):
        raise
    except DesimError as fault:
        raise BadRecord(f"record {name}: {fault}") from None


def _compare(name: str, recorded: Path, now: Path) -> None:
    """Compare a record with the new one.

    Raises:
        BadRecord: They differ.
    """
    try:
        check_same(recorded, now)
    except BadRecord as fault:
        raise BadRecord(f"record {name}, {fault}") from None


def _made_with(to_check: JobToCheck, files: Sequence[Path]) -> dict[str, str]:
    """Return the versions that records were made with, as these or the manifest say."""
    if not files:
        return {name: to_check.made_with.get(name, "unknown") for name in versions()}
    return dict(Episode.read(files[0], keep_steps=False).header.provenance.versions)


def _check_header(name: str, file: Path, seed: int) -> None:
    """Check what a header says that playing again does not: that it is of a whole episode.

    Raises:
        BadRecord: It is a branch, has a redrawn future, has failed, was cut, or has another seed.
    """
    try:
        episode = Episode.read(file, keep_steps=False)
    except DesimError as fault:
        raise BadRecord(f"record {name}: {fault}") from None
    header = episode.header
    if header.starts or header.futures:
        raise BadRecord(f"record {name} is a branch")
    if header.seed != seed:
        raise BadRecord(f"record {name} has seed {header.seed}, the suite gives {seed}")


def _reply_numbers(file: Path) -> tuple[str, ...]:
    """Return the identifiers of a record's replies; none of a server that gives one twice."""
    entries = (one.entry for one in Episode.read(file, keep_steps=False).transcript)
    replies = (one.get("reply") for one in entries if isinstance(one, dict))
    found = [str(reply["id"]) for reply in replies if isinstance(reply, dict) and reply.get("id")]
    tells = len(set(found)) == len(found) >= _FEW_REPLIES
    return tuple(found) if tells else ()
