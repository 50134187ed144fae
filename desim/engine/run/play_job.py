"""Plays the jobs of a sweep, in this process or in a worker, and returns their results."""

import contextlib
import copy
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from desim.collector import rare_collections
from desim.core.limits import Alarm, time_text
from desim.core.model import ItemsModel
from desim.core.policy import OutsidePolicy
from desim.core.streams import kept_globals, seed_globals
from desim.engine.budget import command_budget, spending
from desim.engine.opened_files import noting, with_files
from desim.engine.plan import Job
from desim.engine.run.job_results import error_label, has_record, results_of, without_score
from desim.engine.run.play_series import (
    earlier_replies,
    forget_earlier,
    in_background,
    play_series,
    play_series_in_loop,
    set_aside,
)
from desim.engine.run.signals import hard_limit
from desim.episodes.driver import play_session, play_session_async
from desim.episodes.episode_options import EpisodeOptions
from desim.episodes.lineup import Lineup, is_made_anew, resolve
from desim.episodes.session import Session
from desim.errors import BadRecord, LimitReached
from desim.records.episode import Episode
from desim.records.lines import Header
from desim.records.record_file import begun
from desim.records.record_lock import RecordLock
from desim.schema.convert import plain_scalar

#: The topics of a header in which a record must fit its job.
_TOPICS = ("model", "params", "seed", "policies")

#: Seconds after which a worker returns the rows that it has, so that progress stays visible and
#: little is lost when it is killed.
SECONDS_PER_CHUNK = 0.25

_encode = msgspec.json.Encoder(enc_hook=plain_scalar).encode

_Job = TypeVar("_Job")


def play_chunk(jobs: Iterable[Job]) -> Iterator[bytes]:
    """Play jobs in order for `SECONDS_PER_CHUNK`, but at least one.

    Yields:
        The results of each job as JSON, the form in which they are sent and stored, with the files
        that were opened (see `opened_files.split`).
    """
    return in_time(jobs, play_to_json, lambda job: job.cell.parts())


def play_twice(jobs: Iterable[Job]) -> Iterator[bytes]:
    """Play each job twice and yield its second results, which the first play may have changed."""
    for job in jobs:
        for _ in range(2):
            (results,) = play_chunk([job])
        yield results


def in_time(
    jobs: Iterable[_Job],
    play: Callable[[_Job], bytes],
    parts_of: Callable[[_Job], Iterable[object]],
) -> Iterator[bytes]:
    """Play jobs in order for `SECONDS_PER_CHUNK`, but at least one; see `play_chunk`.

    Args:
        jobs: The jobs of a chunk.
        play: Plays a job, and returns its results as JSON.
        parts_of: Returns the classes and functions of a job; the files that they open are sent.
    """
    end = time.monotonic() + SECONDS_PER_CHUNK
    # Around all episodes, as the end of a long one would start a collection.
    with rare_collections(), kept_globals():
        for job in jobs:
            with noting():
                results = play(job)
            yield with_files(results, parts_of(job))
            if time.monotonic() > end:
                return


async def play_first_in_loop(jobs: Sequence[Job]) -> list[bytes]:
    """Play the first of some jobs in the event loop that runs; return its results.

    Other episodes go on while its policies wait; the results are those of `play_chunk`.
    """
    from asyncio import CancelledError

    job = jobs[0]
    with noting():
        ended: list[dict[str, Any]] = []
        try:
            if not has_record(job):  # one may hold all replies that are left
                command_budget().of(job.cell.purse).check()
            results = await _results_in_loop(job, ended)
        except CancelledError:
            raise
        except BaseException as fault:  # noqa: BLE001 (sys.exit in a policy)
            results = without_score(job, error_label(fault), ended)
    return [with_files(_encode(results), job.cell.parts())]


def play_to_json(job: Job) -> bytes:
    """Play one episode, or those of a job in a row, and return the results as JSON.

    These are score, ended, decisions, metrics, ledger_digest and error; where the model has them
    cluster and items; defaults if a policy counts its default actions, record if it has one, and
    series if the cell wants them. An exception of a policy or the model becomes the error, and the
    other results are None.
    """
    ended: list[dict[str, Any]] = []
    try:
        return _encode(_results_of(job, ended))
    except KeyboardInterrupt:
        raise
    except BaseException as fault:  # noqa: BLE001 (sys.exit in a policy ends its episode only)
        return _encode(without_score(job, error_label(fault), ended))


def failed_to_json(job: Job, error: str) -> bytes:
    """Return as JSON the results of an episode that could not return any."""
    return _encode(without_score(job, error))


def _results_of(job: Job, ended: list[dict[str, Any]]) -> dict[str, Any]:
    """Play with new policies, in an event loop if one of them is a coroutine."""
    # Around the session's own alarm, as the constructor of a policy or a model may not end either.
    seconds = job.cell.limits.seconds if job.cell.limits else None
    with hard_limit(seconds), Alarm(seconds):
        try:
            return _played(job, ended)
        except BadRecord as fault:
            _play_anew(job, ended, fault)
        return _played(job, ended)


async def _results_in_loop(job: Job, ended: list[dict[str, Any]]) -> dict[str, Any]:
    """Play as `_results_of` does, in the event loop that runs."""
    import asyncio

    seconds = job.cell.limits.seconds if job.cell.limits else None
    try:
        async with asyncio.timeout(seconds) as limit:
            try:
                return await _played_in_loop(job, ended)
            except BadRecord as fault:
                _play_anew(job, ended, fault)
            return await _played_in_loop(job, ended)
    except TimeoutError:
        if not limit.expired():
            raise
        raise LimitReached(time_text(seconds)) from None


def _play_anew(job: Job, ended: list[dict[str, Any]], fault: BadRecord) -> None:
    """Set a record aside that does not fit; without one, raise the exception again."""
    if not has_record(job):
        raise fault
    set_aside(job)
    ended.clear()


def _played(job: Job, ended: list[dict[str, Any]]) -> dict[str, Any]:
    """Play a job, and add the results of its episodes to a list."""
    lineup = _lineup(job)
    if job.cell.episodes > 1:
        play_series(job, lineup, partial(_add, job, ended))
    else:
        start = time.monotonic()
        with _session(job, lineup) as session:
            episode = play_session(session)
        _add(job, ended, episode, time.monotonic() - start)
    return _whole(job, ended)


async def _played_in_loop(job: Job, ended: list[dict[str, Any]]) -> dict[str, Any]:
    """Play as `_played` does; policies that block their thread have one of their own."""
    lineup = _lineup(job)
    if job.cell.episodes > 1:
        await play_series_in_loop(job, lineup, partial(_add, job, ended))
    else:
        start = time.monotonic()
        with _session(job, lineup) as session:
            waiting = play_session_async if lineup.waits else partial(in_background, play_session)
            episode = await waiting(session)
        _add(job, ended, episode, time.monotonic() - start)
    return _whole(job, ended)


def _add(job: Job, ended: list[dict[str, Any]], episode: Episode, seconds: float) -> None:
    ended.append(results_of(job, episode, seconds))


def _whole(job: Job, ended: list[dict[str, Any]]) -> dict[str, Any]:
    forget_earlier(job)
    return ended[0] if job.cell.episodes == 1 else without_score(job, None, ended)


@contextlib.contextmanager
def _session(job: Job, lineup: Lineup) -> Iterator[Session]:
    """Open the session of a job, under the lock of its record if it has one.

    A cut record is continued: the policies make its decisions again, with the replies on record. A
    whole one is repeated in the same way, and nothing is written.

    Raises:
        BadRecord: The record cannot be read, is of another episode, or the policies decide
            otherwise than on record.
        UsageError: Another process writes the record, or it cannot be written.
    """
    model, record = job.cell.model, job.record
    how = EpisodeOptions(
        limits=job.cell.limits,
        series=job.cell.series,
        keep_steps=not job.cell.usage,
        keep_state=isinstance(model, ItemsModel) and not job.cell.usage,
    )
    if record is None:
        with Session(model, lineup, job.seed, how=how) as session:
            yield session
        return
    with RecordLock(record):
        past = Episode.read(record, whole=False, keep_steps=False) if begun(record) else None
        if past is not None:
            _check_header(record, past.header, Header.of(model, job.seed, lineup.labels))
        with Session(model, lineup, job.seed, record, past, how) as session:
            yield session


def _check_header(record: Path, recorded: Header, wanted: Header) -> None:
    """Check that a record belongs to an episode.

    Raises:
        BadRecord: The record has another model, seed or line-up.
    """
    for topic in _TOPICS:
        # As JSON, because what was recorded has lists where a header that starts now has tuples.
        now = msgspec.json.decode(msgspec.json.encode(getattr(wanted, topic)))
        if getattr(recorded, topic) != now:
            raise BadRecord(f"{record} is another episode's: its {topic} differ from the job's")


def _lineup(job: Job) -> Lineup:
    """Return the policies of a job, with the replies that need not be paid for."""
    seed_globals(job.seed)
    with spending(command_budget().of(job.cell.purse)):
        lineup = resolve(job.cell.model, _copied(job.cell.entry.policies), job.seed)
    for role, policy in lineup.policies.items():
        if isinstance(policy, OutsidePolicy):
            policy.reuse(job.cell.known.get(job.seed, ()))
            policy.reuse(earlier_replies(job, role, lineup.labels[role]))
    return lineup


def _copied(policies: Any) -> Any:
    """Copy instances, so that no episode depends on the state an earlier one left in them."""
    if isinstance(policies, Mapping):
        return {role: _copied(one) for role, one in policies.items()}
    return policies if is_made_anew(policies) else copy.deepcopy(policies)
