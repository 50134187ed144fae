"""Plays the jobs of a sweep, in this process or in a worker, and returns their rows."""

import contextlib
import copy
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from attrs import asdict

from desim.collector import rare_collections
from desim.core.limits import Alarm, time_text
from desim.core.model import ItemsModel, Model
from desim.core.result import Series
from desim.core.streams import kept_globals, seed_globals
from desim.engine.plan import (
    CLUSTER,
    DEFAULTS,
    ITEMS,
    RECORD,
    SERIES,
    SERIES_COLUMNS,
    Job,
    Row,
    row_of,
)
from desim.engine.run.files_read import PlayedCell, RowFiles
from desim.engine.run.play_episode import error_label, opened_session, play_in_loop
from desim.engine.run.signals import hard_limit
from desim.episodes.driver import play_session
from desim.episodes.episode_options import EpisodeOptions
from desim.episodes.lineup import is_made_anew, resolve
from desim.episodes.session import Session
from desim.episodes.usage import default_share, unplayed_roles, usage_in_all
from desim.errors import BadRecord, LimitReached
from desim.opened_files import noting
from desim.records.episode import Episode
from desim.schema.convert import plain_scalar
from desim.show.labels import flat

#: Seconds after which a worker returns the rows that it has, so that progress stays visible and
#: little is lost when it is killed.
SECONDS_PER_CHUNK = 0.25

_encode = msgspec.json.Encoder(enc_hook=plain_scalar).encode

_Job = TypeVar("_Job")


def play_chunk(jobs: Iterable[Job]) -> Iterator[bytes]:
    """Play jobs in order for `SECONDS_PER_CHUNK`, but at least one.

    Yields:
        The results of each job as JSON, the form in which they are sent and stored, with the files
        that were opened (see `files_read.split`).
    """
    return in_time(jobs, play_to_json, lambda job: job.cell)


def play_twice(jobs: Iterable[Job]) -> Iterator[bytes]:
    """Play each job twice and yield its second results, which the first play may have changed."""
    for job in jobs:
        for _ in range(2):
            (results,) = play_chunk([job])
        yield results


def in_time(
    jobs: Iterable[_Job], play: Callable[[_Job], bytes], cell_of: Callable[[_Job], PlayedCell]
) -> Iterator[bytes]:
    """Play jobs in order for `SECONDS_PER_CHUNK`, but at least one; see `play_chunk`.

    Args:
        jobs: The jobs of a chunk.
        play: Plays a job, and returns its results as JSON.
        cell_of: Returns the cell of a job, the same object for all jobs of a cell.
    """
    end = time.monotonic() + SECONDS_PER_CHUNK
    files = RowFiles()
    # Around all episodes, as the end of a long one would start a collection.
    with rare_collections(), kept_globals():
        for job in jobs:
            with noting():
                results = play(job)
            yield files.added(results, cell_of(job))
            if time.monotonic() > end:
                return


async def play_first_in_loop(jobs: Sequence[Job]) -> list[bytes]:
    """Play the first of some jobs in the event loop that runs; return its results.

    Other episodes go on while its policies wait; the results are those of `play_chunk`.
    """
    from asyncio import CancelledError

    job = jobs[0]
    with noting():
        try:
            results = _encode(_results(job, await _play_in_loop(job)))
        except CancelledError:
            raise
        except BaseException as fault:  # noqa: BLE001 (sys.exit in a policy)
            results = failed_to_json(job, error_label(fault))
    return [RowFiles().added(results, job.cell)]


def play_job(job: Job) -> Row:
    """Play one episode.

    An exception of a policy or the model becomes the row's `error`, and the other results of that
    row are None. So they are of an episode that was not played: more than `MOST_DEFAULTS` of the
    decisions of a policy were default actions. A metric that is not finite is None as well.

    Returns:
        model, preset, params, policy, arguments, seed, score, ended, decisions, metrics,
        ledger_digest, error; where the model has them cluster, items and worst_score; defaults if
        a policy counts its default actions, record if it has one, point and given if the job
        belongs to a design, deterministic if its episode is the same on every seed, and series if
        it requests them.
    """
    row: Row = msgspec.json.decode(row_of(job.cell.frame(), job.seed, play_to_json(job)))
    return row


def play_to_json(job: Job) -> bytes:
    """Play one episode and return its results as JSON."""
    try:
        return _encode(_results(job, _play(job)))
    except KeyboardInterrupt:
        raise
    except BaseException as fault:  # noqa: BLE001 (sys.exit in a policy ends its episode only)
        return failed_to_json(job, error_label(fault))


def failed_to_json(job: Job, error: str) -> bytes:
    """Return as JSON the results of an episode that could not return any."""
    return _encode({**_failed(error), **_beside(job, None)})


def _failed(error: str) -> dict[str, Any]:
    none: dict[str, Any] = dict.fromkeys(("score", "ended", "decisions"))
    return {**none, "metrics": {}, "ledger_digest": None, "error": error}


def _not_played(usages: Mapping[str, Mapping[str, float]], role: str) -> str:
    """Return a sentence on the default actions of a role, named where other roles count theirs."""
    used = usages[role]
    counting = sum(default_share(one) is not None for one in usages.values())
    of_role = f" of {role}" if counting > 1 else ""
    counts = f"{used['default_actions']:,} of {used['decisions']:,} decisions{of_role}"
    return f"not played: {counts} were default actions"


def _results(job: Job, episode: Episode) -> dict[str, Any]:
    result = episode.result
    assert result is not None
    used = usage_in_all(result.usage.values())
    if unplayed := unplayed_roles(result.usage):
        failed = _failed(_not_played(result.usage, unplayed[0]))
        return {**failed, DEFAULTS: default_share(used), **_beside(job, None)}
    found: dict[str, Any] = {
        "score": result.score,
        "ended": result.ended,
        "decisions": result.decisions,
        "metrics": dict(flat(result.metrics)),
        "ledger_digest": result.ledger_digest,
        "error": None,
    }
    if isinstance(model := job.cell.model, ItemsModel):
        found[ITEMS] = model.item_results(episode.state)
    if (share := default_share(used)) is not None:
        found[DEFAULTS] = share
    series = episode.inside.series[0] if episode.inside else None
    return {**found, **_beside(job, series)}


def _beside(job: Job, series: Series | None) -> dict[str, Any]:
    """Return the cluster of the seed, and the record and the series, where they are wanted."""
    model = job.cell.model
    recorded = job.record_name if _has_record(job) else None
    found = {**_cluster(model, job.seed), **({RECORD: recorded} if job.record is not None else {})}
    if not job.cell.series:
        return found
    known = series or {}
    return {**found, SERIES: known, SERIES_COLUMNS: _columns(model, known)}


def _cluster(model: Model[Any], seed: int) -> dict[str, str]:
    name = model.cluster(seed)
    return {} if name is None else {CLUSTER: name}


def _columns(model: Model[Any], series: Series) -> dict[str, dict[str, str]]:
    """Return the columns of the series, if the model declares them."""
    declared = model.figures.series
    kept = lambda one, _: one.name != "better"  # noqa: E731 (metrics have it, series do not)
    return {name: asdict(declared[name], filter=kept) for name in series if name in declared}


def _play(job: Job) -> Episode:
    """Play with new policies, in an event loop if one of them is a coroutine."""
    # Around the session's own alarm, as the constructor of a policy or a model may not end either.
    seconds = job.cell.limits.seconds if job.cell.limits else None
    with hard_limit(seconds), Alarm(seconds):
        try:
            with _session(job) as session:
                return play_session(session)
        except BadRecord:
            if not _has_record(job):
                raise
        with _session(job, anew=True) as session:
            return play_session(session)


async def _play_in_loop(job: Job) -> Episode:
    """Play as `_play` does, in the event loop that runs."""
    import asyncio

    seconds = job.cell.limits.seconds if job.cell.limits else None
    try:
        async with asyncio.timeout(seconds) as limit:
            try:
                with _session(job) as session:
                    return await play_in_loop(session)
            except BadRecord:
                if not _has_record(job):
                    raise
            with _session(job, anew=True) as session:
                return await play_in_loop(session)
    except TimeoutError:
        if not limit.expired():
            raise
        raise LimitReached(time_text(seconds)) from None


@contextlib.contextmanager
def _session(job: Job, *, anew: bool = False) -> Iterator[Session]:
    """Open the session of a job with new policies; *anew* removes a record that does not fit."""
    if anew and job.record is not None:
        job.record.unlink(missing_ok=True)
    seed_globals(job.seed)
    model = job.cell.model
    lineup = resolve(model, _copied(job.cell.entry.policies), job.seed)
    how = EpisodeOptions(
        limits=job.cell.limits, series=job.cell.series, keep_state=isinstance(model, ItemsModel)
    )
    with opened_session(model, lineup, job.seed, job.record, how) as session:
        yield session


def _has_record(job: Job) -> bool:
    return job.record is not None and job.record.exists()


def _copied(policies: Any) -> Any:
    """Copy instances, so that no episode depends on the state an earlier one left in them."""
    if isinstance(policies, Mapping):
        return {role: _copied(one) for role, one in policies.items()}
    return policies if is_made_anew(policies) else copy.deepcopy(policies)
