"""Plays the jobs of a sweep, in this process or in a worker, and returns their results."""

import contextlib
import copy
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from desim.collector import rare_collections
from desim.core.limits import Alarm
from desim.core.model import ItemsModel
from desim.core.policy import OutsidePolicy
from desim.core.streams import kept_globals, seed_globals
from desim.engine.budget import command_budget, spending
from desim.engine.opened_files import noting, with_files
from desim.engine.plan import Cell, Job, encode
from desim.engine.run.job_results import error_label, results_of, without_score
from desim.engine.run.signals import hard_limit
from desim.episodes.driver import play_session, play_session_async
from desim.episodes.lineup import Lineup, is_made_anew, resolve
from desim.episodes.series import SeriesOptions, series
from desim.episodes.session import EpisodeOptions, Session
from desim.errors import BadRecord
from desim.records.episode import Episode
from desim.records.lines import Header
from desim.records.record_file import begun
from desim.records.record_lock import RecordLock

#: The topics of a header in which a record must fit its job.
_TOPICS = ("model", "params", "seed", "policies")

#: Seconds after which a worker returns the rows that it has, so that progress stays visible and
#: little is lost when it is killed.
SECONDS_PER_CHUNK = 0.25

#: Plays a session to its end.
Play = Callable[[Session], Episode]

_Job = TypeVar("_Job")


def play_chunk(jobs: Iterable[Job]) -> Iterator[bytes]:
    """Play jobs in order for `SECONDS_PER_CHUNK`, but at least one.

    Yields the results of each as JSON, with the files that were opened (see `opened_files.split`).
    """
    return in_time(jobs, play_with_files)


def play_twice(jobs: Iterable[Job]) -> Iterator[bytes]:
    """Play each job twice and yield its second results, which the first play may have changed."""
    for job in jobs:
        for _ in range(2):
            (results,) = play_chunk([job])
        yield results


def in_time(jobs: Iterable[_Job], play: Callable[[_Job], bytes]) -> Iterator[bytes]:
    """Yield what a function returns for jobs of any kind in this time; see `play_chunk`."""
    end = time.monotonic() + SECONDS_PER_CHUNK
    # Around all episodes, as the end of a long one would start a collection.
    with rare_collections(), kept_globals():
        for job in jobs:
            yield play(job)
            if time.monotonic() > end:
                return


def with_noted(play: Callable[[], bytes], cell: Cell) -> bytes:
    """Return what a call returns, with the files that classes and functions of a cell opened."""
    with noting():
        results = play()
    return with_files(results, cell.parts)  # which may import them


def play_with_files(job: Job, play: Play = play_session) -> bytes:
    """Play a job; return its results as JSON, with the files that were opened."""
    return with_noted(lambda: play_to_json(job, play), job.cell)


@contextlib.contextmanager
def loop_player(make_loop: Callable[[], Any] | None = None) -> Iterator[Play]:
    """Provide what plays sessions in one event loop, to which clients of policies are bound."""
    import asyncio  # takes longer to import than desim itself

    with asyncio.Runner(loop_factory=make_loop) as runner:
        # Not `Runner.run`, which keeps Ctrl-C from a policy that computes.
        run = runner.get_loop().run_until_complete
        yield lambda session: run(play_session_async(session))


def play_to_json(job: Job, play: Play = play_session) -> bytes:
    """Play one episode, or those of a job in a row, and return the results as JSON.

    An exception of a policy or the model becomes the error, and the other results are None.
    """
    ended: list[dict[str, Any]] = []
    try:
        return encode(_results_of(job, ended, play))
    except KeyboardInterrupt:
        raise
    except BaseException as fault:  # noqa: BLE001 (sys.exit in a policy ends its episode only)
        return encode(without_score(job, error_label(fault), ended))


def failed_to_json(job: Job, error: str) -> bytes:
    """Return as JSON the results of an episode that could not return any."""
    return encode(without_score(job, error))


def _results_of(job: Job, ended: list[dict[str, Any]], play: Play) -> dict[str, Any]:
    """Play a job, anew if its record does not fit."""
    if job.cell.waits and not job.has_record:  # one may hold all replies that are left
        command_budget(job.cell.purse).check()
    # Around the session's own alarm, as the constructor of a policy or a model may not end either.
    seconds = job.cell.limits.seconds if job.cell.limits else None
    with hard_limit(seconds), Alarm(seconds):
        try:
            return _played(job, ended, play)
        except BadRecord:
            if not job.has_record:
                raise
        set_aside(job)
        ended.clear()
        return _played(job, ended, play)


def _played(job: Job, ended: list[dict[str, Any]], play: Play) -> dict[str, Any]:
    """Play a job with new policies, and add the results of its episodes to a list."""
    lineup, start = _lineup(job), time.monotonic()
    for episode in _episodes(job, lineup, play):
        ended.append(results_of(job, episode, time.monotonic() - start))
        start = time.monotonic()
    forget_earlier(job)
    return ended[0] if job.cell.episodes == 1 else without_score(job, None, ended)


def _episodes(job: Job, lineup: Lineup, play: Play) -> Iterator[Episode]:
    """Yield the episodes of a job; of those in a row the ones on record are repeated."""
    if job.cell.episodes == 1:
        with _session(job, lineup) as session:
            episode = play(session)
        yield episode
        return
    seeds = range(job.seed, job.seed + job.cell.episodes)
    options = SeriesOptions(job.cell.model, lineup, seeds, record=job.record, resume=True)
    own_loop = play is play_session and lineup.has_coroutines
    with loop_player() if own_loop else contextlib.nullcontext(play) as play_one:
        for one in series(options, play=play_one):
            yield one.episode


@contextlib.contextmanager
def _session(job: Job, lineup: Lineup) -> Iterator[Session]:
    """Open the session of a job, under the lock of its record if it has one.

    A cut record is continued: the policies make its decisions again, with the replies on record. A
    whole one is repeated in the same way, and nothing is written. A `BadRecord` says that it cannot
    be read, is of another episode, or that the policies decide otherwise.
    """
    model, record = job.cell.model, job.record
    how = EpisodeOptions(
        limits=job.cell.limits,
        series=job.cell.series,
        keep_steps=not job.cell.usage,
        keep_state=isinstance(model, ItemsModel) and not job.cell.usage,
    )
    with RecordLock(record) if record else contextlib.nullcontext():
        past = None
        if record is not None and begun(record):
            past = Episode.read(record, whole=False, keep_steps=False)
            wanted = Header.of(model, job.seed, lineup.labels)
            for topic in _TOPICS:  # as JSON, which has lists where a new header has tuples
                if encode(getattr(past.header, topic)) != encode(getattr(wanted, topic)):
                    raise BadRecord(f"{record} is another episode's: its {topic} differ")
        with Session(model, lineup, job.seed, record, past, how) as session:
            yield session


def _lineup(job: Job) -> Lineup:
    """Return the policies of a job, with the replies that need not be paid for."""
    seed_globals(job.seed)
    with spending(command_budget(job.cell.purse)):
        lineup = resolve(job.cell.model, _copied(job.cell.entry.policies), job.seed)
    for role, policy in lineup.policies.items():
        if isinstance(policy, OutsidePolicy):
            policy.reuse(job.cell.known.get(job.seed, ()))
            take = policy.rehearse if job.cell.rehearsed else policy.reuse
            take(earlier_replies(job, role, lineup.labels[role]))
    return lineup


def _copied(policies: Any) -> Any:
    """Copy instances, so that no episode depends on the state an earlier one left in them."""
    if isinstance(policies, Mapping):
        return {role: _copied(one) for role, one in policies.items()}
    return policies if is_made_anew(policies) else copy.deepcopy(policies)


# -- records that were set aside -------------------------------------------------------------------


def set_aside(job: Job) -> None:
    """Set the record of a job aside, which is played anew; that of policies without a host goes.

    A `BadRecord` says that replies on it cannot be read, which would be paid for again.
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
