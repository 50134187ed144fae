"""Compares the outcomes of jobs with their records, which are read as data."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from desim.engine.keep.outcome import JobOutcome, Played, read_played
from desim.engine.keep.record_folder import RecordFolder, series_folder
from desim.engine.record_job import RecordJob
from desim.episodes.series import episode_file
from desim.errors import BadRecord

#: Fields of an outcome that no record holds.
_NOT_RECORDED = ("seconds",)


def check_records(
    folder: RecordFolder, jobs: Iterable[RecordJob], outcomes: Mapping[str, JobOutcome]
) -> None:
    """Check that the records of all ended episodes are those of their outcomes.

    Raises:
        BadRecord: One is missing, cut, damaged or another one.
    """
    for job in jobs:
        if folder.is_set_aside(job):  # it is to be played anew
            continue
        for one, file in recorded(folder, job, outcomes.get(job.name)):
            try:
                found = next(outcome_differences(job.name, one, file), "")
            except BadRecord as fault:
                found = str(fault)
            if found:
                raise BadRecord(
                    f"{found if str(file) in found else f'{file} was altered: {found}'}; put the "
                    "record back, or play the suite anew (--restart)"
                )


def recorded(
    folder: RecordFolder, job: RecordJob, outcome: JobOutcome | None
) -> list[tuple[Played, Path]]:
    """Return the outcomes of the ended episodes of a job, each with its record."""
    record = folder.record(job.name)
    return [
        (one, episode_file(series_folder(record), one.episode) if job.is_series else record)
        for one in (outcome.each if outcome else ())
        if one.score is not None
    ]


def outcome_differences(name: str, outcome: Played, record: Path) -> Iterator[str]:
    """Yield a sentence for each difference between an outcome and the record of its episode.

    Args:
        name: The name of the job.
        outcome: Its outcome.
        record: The record.

    Raises:
        BadRecord: The record is missing, cut or damaged.
    """
    again = read_played(name, record, 0.0, outcome.episode, training=outcome.training)
    if again is None:
        raise BadRecord(f"{record} is missing or cut, and its outcome is not")
    kept, found = _plain(outcome), _plain(again)
    for field in {**kept, **found}:
        if field not in _NOT_RECORDED and kept.get(field) != found.get(field):
            yield (
                f"{name}: {field} is {kept.get(field)!r} in the outcomes and "
                f"{found.get(field)!r} on record"
            )


def _plain(played: Played) -> dict[str, Any]:
    """Return the outcome of an episode as plain JSON values."""
    fields = {name: getattr(played, name) for name in Played.__struct_fields__}
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(fields))
    return plain
