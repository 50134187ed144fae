"""The records of a job: a file, or a folder of them for episodes in a row; those set aside."""

import contextlib
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from desim.engine.plan import Job
from desim.episodes.series import episode_file
from desim.records.episode import Episode


def has_record(job: Job) -> bool:
    """Return whether a job has a record, whole or not."""
    return job.record is not None and job.record.exists()


def record_of(job: Job, number: int) -> Path | None:
    """Return the record of an episode of a job by its place from 1; None without records."""
    if job.record is None or job.cell.episodes == 1:
        return job.record
    return episode_file(job.record, number)


def set_aside(job: Job) -> None:
    """Set the record of a job aside, which is played anew; that of policies without a host goes.

    Raises:
        BadRecord: The replies on it cannot be read, so that they would be paid for again.
    """
    record = job.record
    assert record is not None
    if job.cell.waits:
        for file in _files(record):
            Episode.read(file, whole=False, keep_steps=False)
        earlier = _earlier(record)
        # One that is there already has not been played again to its end, and holds more.
        if not earlier.exists():
            earlier.parent.mkdir(exist_ok=True)
            record.replace(earlier)
            return
    _remove(record)


def earlier_replies(job: Job, role: str, label: str) -> Iterator[Mapping[str, Any]]:
    """Yield the transcript of a role in the records that were set aside, of an equal policy."""
    for file in _files(_earlier(job.record)) if job.record and job.cell.waits else ():
        past = Episode.read(file, whole=False, keep_steps=False)
        if past.header.policies.get(role) == label:
            yield from (line.entry for line in past.transcript if line.role == role)


def forget_earlier(job: Job) -> None:
    """Remove the records of a job that were set aside, as it has been played to its end."""
    if job.record is not None and job.cell.waits and _earlier(job.record).exists():
        _remove(_earlier(job.record))
        with contextlib.suppress(OSError):  # there are others
            _earlier(job.record).parent.rmdir()


def _earlier(record: Path) -> Path:
    return record.parent.with_name("earlier") / record.name


def _files(record: Path) -> list[Path]:
    if record.is_dir():
        return sorted(record.glob("*.jsonl"))
    return [record] if record.exists() else []


def _remove(record: Path) -> None:
    if record.is_dir():
        shutil.rmtree(record)
    else:
        record.unlink(missing_ok=True)
