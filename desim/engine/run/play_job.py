"""Plays the jobs of a sweep, in this process or in a worker, and returns their rows."""

import contextlib
import copy
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec
from attrs import asdict

from desim.collector import rare_collections
from desim.core.limits import Alarm, time_text
from desim.core.model import ItemsModel, Model
from desim.core.policy import OutsidePolicy, most_known
from desim.core.result import Series
from desim.core.streams import kept_globals, seed_globals
from desim.engine.keep.budget import command_budget, spending
from desim.engine.plan import (
    CLUSTER,
    DEFAULTS,
    EPISODES,
    ITEMS,
    RECORD,
    SERIES,
    SERIES_COLUMNS,
    USAGE,
    Job,
    Row,
    row_of,
)
from desim.engine.run.files_read import with_files
from desim.engine.run.play_episode import error_label, opened_session, play_in_loop
from desim.engine.run.play_series import (
    earlier_replies,
    forget_earlier,
    play_series,
    play_series_in_loop,
    record_of,
    set_aside,
)
from desim.engine.run.signals import hard_limit
from desim.episodes.driver import play_session
from desim.episodes.episode_options import EpisodeOptions
from desim.episodes.lineup import Lineup, is_made_anew, resolve
from desim.episodes.session import Session
from desim.episodes.usage import default_share, recorded_usage, unplayed_roles, usage_in_all
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
            results = _without_score(job, error_label(fault), ended)
    return [with_files(_encode(results), job.cell.parts())]


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
    """Play one episode, or those of a job in a row, and return the results as JSON."""
    ended: list[dict[str, Any]] = []
    try:
        return _encode(_results_of(job, ended))
    except KeyboardInterrupt:
        raise
    except BaseException as fault:  # noqa: BLE001 (sys.exit in a policy ends its episode only)
        return _encode(_without_score(job, error_label(fault), ended))


def failed_to_json(job: Job, error: str) -> bytes:
    """Return as JSON the results of an episode that could not return any."""
    return _encode(_without_score(job, error))


def _without_score(
    job: Job, error: str | None, ended: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """Return the results of a job that failed, or of episodes in a row.

    Args:
        job: The job.
        error: Why it failed; None if all episodes have ended.
        ended: The results of its episodes in a row that have ended.
    """
    found = {**_failed(error), **_beside(job, None)}
    if job.cell.episodes > 1:
        found[EPISODES] = ended
    cut = record_of(job, len(ended) + 1)
    if job.cell.usage and cut is not None:
        found[USAGE] = usage_in_all([*(one[USAGE] for one in ended), recorded_usage(cut)])
    return found


def _failed(error: str | None) -> dict[str, Any]:
    none: dict[str, Any] = dict.fromkeys(("score", "ended", "decisions"))
    return {**none, "metrics": {}, "ledger_digest": None, "error": error}


def _not_played(usages: Mapping[str, Mapping[str, float]], role: str) -> str:
    """Return a sentence on the default actions of a role, named where other roles count theirs."""
    used = usages[role]
    counting = sum(default_share(one) is not None for one in usages.values())
    of_role = f" of {role}" if counting > 1 else ""
    counts = f"{used['default_actions']:,} of {used['decisions']:,} decisions{of_role}"
    return f"not played: {counts} were default actions"


def _results(job: Job, episode: Episode, seconds: float) -> dict[str, Any]:
    result = episode.result
    assert result is not None
    used, unplayed = usage_in_all(result.usage.values()), unplayed_roles(result.usage)
    if unplayed and not job.cell.usage:
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
    if job.cell.usage:
        noted = (step.notes or {} for step in episode.steps)
        limits = (str(notes["limit"]) for notes in noted if "limit" in notes)
        found |= {
            USAGE: used,
            "seconds": round(seconds, 3),
            "knows": most_known(episode.header.knows.values()),
            "limit": next(limits, ""),
            "unplayed": unplayed,
        }
    elif isinstance(model := job.cell.model, ItemsModel):
        found[ITEMS] = model.item_results(episode.state)
    if (share := default_share(used)) is not None:
        found[DEFAULTS] = share
    series = episode.inside.series[0] if episode.inside else None
    return {**found, **_beside(job, series)}


def _beside(job: Job, series: Series | None) -> dict[str, Any]:
    """Return the cluster of the seed, and the record and the series, where they are wanted."""
    model = job.cell.model
    recorded = job.record_name if has_record(job) else None
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
    """Play a job, and add the results of its episodes in a row to a list."""
    if job.cell.episodes > 1:
        play_series(job, _lineup(job), partial(_add, job, ended))
        results = _without_score(job, None, ended)
    else:
        start = time.monotonic()
        with _session(job) as session:
            episode = play_session(session)
        results = _results(job, episode, time.monotonic() - start)
    forget_earlier(job)
    return results


async def _played_in_loop(job: Job, ended: list[dict[str, Any]]) -> dict[str, Any]:
    if job.cell.episodes > 1:
        await play_series_in_loop(job, _lineup(job), partial(_add, job, ended))
        results = _without_score(job, None, ended)
    else:
        start = time.monotonic()
        with _session(job) as session:
            episode = await play_in_loop(session)
        results = _results(job, episode, time.monotonic() - start)
    forget_earlier(job)
    return results


def _add(job: Job, ended: list[dict[str, Any]], episode: Episode, seconds: float) -> None:
    ended.append(_results(job, episode, seconds))


@contextlib.contextmanager
def _session(job: Job) -> Iterator[Session]:
    """Open the session of a job with new policies."""
    cell, lineup = job.cell, _lineup(job)
    how = EpisodeOptions(
        limits=cell.limits,
        series=cell.series,
        keep_steps=not cell.usage,
        keep_state=isinstance(cell.model, ItemsModel) and not cell.usage,
    )
    with opened_session(cell.model, lineup, job.seed, job.record, how) as session:
        yield session


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


def has_record(job: Job) -> bool:
    """Return whether a job has a record, whole or not."""
    return job.record is not None and job.record.exists()


def _copied(policies: Any) -> Any:
    """Copy instances, so that no episode depends on the state an earlier one left in them."""
    if isinstance(policies, Mapping):
        return {role: _copied(one) for role, one in policies.items()}
    return policies if is_made_anew(policies) else copy.deepcopy(policies)
