"""Compares the outcome of a job with its records, which are replayed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from desim.episodes.replay import replay
from desim.episodes.series import episode_file
from desim.errors import BadRecord
from desim.jobs.keep.outcome import JobOutcome, Played, read_played
from desim.jobs.keep.record_folder import RecordFolder, series_folder
from desim.jobs.plan.record_job import RecordJob
from desim.records.episode import Episode

#: Fields of an outcome that no record holds.
_NOT_RECORDED = ("seconds",)


def record_differences(
    job: RecordJob,
    outcome: JobOutcome,
    folder: RecordFolder,
    model: tuple[Any, Any],
    *,
    trust: bool = False,
) -> Iterator[str]:
    """Replay the records of a job and yield a sentence for each difference from its outcome.

    Args:
        job: The job.
        outcome: Its outcome; the episode of a series that has not ended is left out.
        folder: The folder of the records.
        model: The name and the parameters of the model that the headers must have.
        trust: Whether modules and files that the records name may be imported and opened.

    Raises:
        UsageError: A record would import a module or open a file.
    """
    for played in outcome.each:
        if played.score is None:
            continue
        record = folder.record(job.name)
        if job.is_series:
            record = episode_file(series_folder(record), played.episode)
        try:
            yield from _of_record(job, played, record, model)
            replay(record, trust=trust)
        except BadRecord as fault:
            yield f"{job.name}: {fault}"


def _of_record(
    job: RecordJob, played: Played, record: Path, model: tuple[Any, Any]
) -> Iterator[str]:
    again = read_played(job.name, record, 0.0, played.episode, training=played.training)
    if again is None:
        raise BadRecord(f"{record} is missing or cut, and its outcome is not")
    kept, found = _plain(played), _plain(again)
    for name in {**kept, **found}:
        if name not in _NOT_RECORDED and kept.get(name) != found.get(name):
            yield (
                f"{job.name}: {name} is {kept.get(name)!r} in the outcomes and "
                f"{found.get(name)!r} on record"
            )
    header = Episode.read(record, whole=False, keep_steps=False).header
    if (header.model, header.params, header.seed) != (*model, job.seeds[played.episode - 1]):
        yield f"{job.name}: {record} is of another model or seed than the suite's"


def _plain(played: Played) -> dict[str, Any]:
    """Return the outcome of an episode as plain JSON values."""
    fields = {name: getattr(played, name) for name in Played.__struct_fields__}
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(fields))
    return plain
