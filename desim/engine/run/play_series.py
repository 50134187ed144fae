"""The episodes of a job in a row, each with a record of its own; and records that are set aside."""

import contextlib
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from desim.engine.plan import Job
from desim.episodes.lineup import Lineup
from desim.episodes.series import SeriesOptions, episode_file, series, series_async
from desim.records.episode import Episode

#: Receives each episode once it has ended, with the seconds that it took.
Ended = Callable[[Episode, float], None]


def play_series(job: Job, lineup: Lineup, ended: Ended) -> None:
    """Play the episodes of a job in a row, or the rest of them.

    Those on record are repeated with the recorded replies, which restores what policies learned.
    """
    if lineup.has_coroutines:  # one loop for all episodes: clients are bound to it
        import asyncio

        asyncio.run(_play_async(job, lineup, ended))
        return
    start = time.monotonic()
    for one in series(_options(job, lineup)):
        now = time.monotonic()
        ended(one.episode, now - start)
        start = now


async def play_series_in_loop(job: Job, lineup: Lineup, ended: Ended) -> None:
    """Play episodes in a row as `play_series` does, in the event loop that runs."""
    if lineup.waits:
        await _play_async(job, lineup, ended)
    else:
        await in_background(play_series, job, lineup, ended)


async def _play_async(job: Job, lineup: Lineup, ended: Ended) -> None:
    start = time.monotonic()
    async for one in series_async(_options(job, lineup)):
        now = time.monotonic()
        ended(one.episode, now - start)
        start = now


async def in_background(call: Callable[..., Any], *arguments: Any) -> Any:
    """Run a call in a thread that does not keep a stopped process from ending."""
    import asyncio
    from concurrent.futures import Future

    done: Future[Any] = Future()
    done.set_running_or_notify_cancel()

    def work() -> None:
        try:
            done.set_result(call(*arguments))
        except BaseException as error:  # noqa: BLE001 (raised where the call is awaited)
            done.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return await asyncio.wrap_future(done)


def _options(job: Job, lineup: Lineup) -> SeriesOptions:
    seeds = range(job.seed, job.seed + job.cell.episodes)
    return SeriesOptions(job.cell.model, lineup, seeds, record=job.record, resume=True)


def record_of(job: Job, number: int) -> Path | None:
    """Return the record of an episode of a job by its place from 1; None without records."""
    if job.record is None or job.cell.episodes == 1:
        return job.record
    return episode_file(job.record, number)


# -- records that are set aside --------------------------------------------------------------------


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
