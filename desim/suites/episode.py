"""Plays one job, an episode or a series: new records, or the rest of cut ones.

A series is a sequence of episodes with the same policies, which learn in between. It has its own
folder with a record for each episode. A cut series is resumed: recorded episodes are repeated with
the recorded replies, which restores memories without paying for a reply twice.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from attrs import define, field
from msgspec.structs import replace

from desim.core.model_protocols import Model
from desim.core.result import score_of
from desim.core.world import Decision
from desim.episodes.background import in_background
from desim.episodes.driver import play_session, play_session_async
from desim.episodes.episode_options import EpisodeOptions
from desim.episodes.lineup import Lineup, resolve
from desim.episodes.series import episode_file, series, series_async
from desim.episodes.session import Session
from desim.episodes.usage import CommandBudget, spending
from desim.errors import BadRecord, DesimError, LimitReached
from desim.records.episode import Episode
from desim.records.lines import Header
from desim.records.record_lock import RecordLock
from desim.suites.outcome import Outcome, Played, begun, read_outcome, read_played
from desim.suites.suite_plan import Job


def series_folder(record: Path) -> Path:
    """Return the folder of a series from the path that the record of a single episode would have.

    >>> series_folder(Path("records/game__rule-1.5__seed0__1.jsonl")).name
    'game__rule-1.5__seed0__1'
    """
    return record.with_suffix("")


@define
class InARow:
    """A series to be played, or the rest of one.

    Attributes:
        job: The job.
        record: The path that determines the folder; see `series_folder`.
        lineup: The policies.
        session: Makes the session of an episode.
        seconds: Wall time of each episode that was played or repeated, by its place.
    """

    job: Job
    record: Path
    lineup: Lineup
    session: Callable[..., Session] = Session
    seconds: dict[int, float] = field(factory=dict)
    _start: float = field(factory=time.monotonic, init=False)

    def play(self) -> None:
        """Play the series.

        Raises:
            DesimError: The series cannot continue; ended episodes are on record.
        """
        for one in series(self.job.world.model, self.lineup, self.job.seeds, **self._options):
            self._count(one.number)

    async def play_async(self) -> None:
        """Play the series in the running event loop; otherwise as `play`."""
        model, seeds = self.job.world.model, self.job.seeds
        async for one in series_async(model, self.lineup, seeds, **self._options):
            self._count(one.number)

    @property
    def _options(self) -> dict[str, Any]:
        folder = series_folder(self.record)
        return {"record": folder, "resume": True, "session": self.session}

    def _count(self, number: int) -> None:
        now = time.monotonic()
        self.seconds[number], self._start = now - self._start, now


def series_outcome(
    job: Job, record: Path, seconds: Mapping[int, float], stopped: Outcome | None = None
) -> Outcome:
    """Return the outcome of a series, from the records of the episodes that have ended.

    Args:
        job: The job that was played.
        record: See `InARow`.
        seconds: Wall time of episodes by their place, as far as it is known.
        stopped: The outcome that stopped the series; None if all episodes have ended.
    """
    outcome = stopped or Outcome(job=job.name)
    episodes: list[Played] = []
    try:
        episodes.extend(_ended(job, record, seconds))
    except BadRecord as fault:
        outcome = replace(outcome, limit="", error=outcome.error or str(fault))
    return replace(
        outcome,
        episode=min(len(episodes) + 1, job.world.episodes),
        training=len(episodes) < job.entry.training,
        episodes=tuple(episodes),
    )


def _ended(job: Job, record: Path, seconds: Mapping[int, float]) -> Iterator[Played]:
    for number in range(1, job.world.episodes + 1):
        file = episode_file(series_folder(record), number)
        training, wall = number <= job.entry.training, seconds.get(number, 0.0)
        played = read_played(job.name, file, wall, number, training=training)
        if played is None:
            return
        yield played


#: Seconds between two readings of the score of a running episode.
_SECONDS_PER_LOOK = 1.0


#: Characters of an error that an outcome keeps.
_MAX_ERROR = 500


@define
class Watch:
    """The progress of a running episode; written by its thread, read by others.

    Attributes:
        episode: Its place in a series, from 1; 0 before the first begins.
        decisions: Its decisions so far.
        score: Its score at the last reading; None before the first.
        usage: Sums of the usage that policies noted, over all roles and all episodes of a series.
        seconds: The wall time of each episode of a series, by its place.
    """

    episode: int = 0
    decisions: int = 0
    score: float | None = None
    usage: Mapping[str, float] = field(factory=dict)
    seconds: dict[int, float] = field(factory=dict)
    _before: Mapping[str, float] = field(factory=dict)

    def begin(self) -> None:
        """Count a further episode."""
        self.episode += 1
        self.decisions, self.score, self._before = 0, None, self.usage

    def add(self, usage: Mapping[str, Mapping[str, float]]) -> None:
        """Update the usage with the sums of the episode so far, by role."""
        sums = dict(self._before)
        for of_role in usage.values():
            for name, value in of_role.items():
                sums[name] = sums.get(name, 0) + value
        self.usage = sums


class _WatchedSession(Session):
    """A session that reports its progress."""

    def __init__(
        self, watch: Watch, model: Model[Any], lineup: Lineup, *args: Any, **options: Any
    ) -> None:
        super().__init__(model, lineup, *args, **options)
        self.lineup = lineup
        self._watch = watch
        watch.begin()
        self._looked = time.monotonic()

    def take(self, decision: Decision, action: Any) -> None:
        """Pass an answer to the run, and count it."""
        super().take(decision, action)
        self._watch.decisions += 1
        if time.monotonic() - self._looked > _SECONDS_PER_LOOK:
            self._look()

    def episode(self) -> Episode:
        """Return the ended episode, and add its usage to the progress."""
        ended = super().episode()
        self._watch.add(self._usage.totals())
        return ended

    def play(self) -> None:
        """Play to the end."""
        play_session(self)

    async def play_async(self) -> None:
        """Play to the end in the running event loop."""
        await play_session_async(self)

    def _look(self) -> None:
        self._watch.add(self._usage.totals())
        self._watch.score = score_of(self.model, self.run.state)
        self._looked = time.monotonic()


def play_job(
    job: Job, record: Path, budget: CommandBudget | None = None, watch: Watch | None = None
) -> Outcome:
    """Play a job, or the rest of it, and return its outcome; raises nothing but Ctrl-C.

    Args:
        job: The job.
        record: The file of its record; a cut one is continued. A series has a folder in its place,
            of the same name without the suffix.
        budget: The budget of its policies.
        watch: Receives the progress.
    """
    start, watch = time.monotonic(), watch or Watch()
    try:
        with _at_play(job, record, budget, watch) as playing:
            if playing and playing.lineup.has_coroutines:
                import asyncio

                asyncio.run(playing.play_async())
            elif playing:
                playing.play()
        return _outcome(job, record, watch, start)
    except KeyboardInterrupt:
        raise
    except BaseException as fault:  # noqa: BLE001 (sys.exit in a policy ends its episode only)
        return _failed(job, record, watch, fault, start)


async def play_job_async(job: Job, record: Path, budget: CommandBudget, watch: Watch) -> Outcome:
    """Play a job as `play_job` does; other jobs continue while its policies wait.

    A policy that blocks its thread while it waits plays in its own thread.
    """
    from asyncio import CancelledError

    start = time.monotonic()
    try:
        with _at_play(job, record, budget, watch) as playing:
            if playing and playing.lineup.waits:
                await playing.play_async()
            elif playing:
                await in_background(playing.play)
        return _outcome(job, record, watch, start)
    except (KeyboardInterrupt, CancelledError):
        raise
    except BaseException as fault:  # noqa: BLE001 (sys.exit in a policy)
        return _failed(job, record, watch, fault, start)


@contextlib.contextmanager
def _at_play(
    job: Job, record: Path, budget: CommandBudget | None, watch: Watch
) -> Iterator[_WatchedSession | InARow | None]:
    """Open the session of a job under the lock of its record; None if the record is complete.

    A series opens its sessions itself.
    """
    with spending(budget or CommandBudget()):
        lineup = resolve(job.world.model, job.policies, job.seed)
    if job.is_series:
        yield InARow(job, record, lineup, partial(_WatchedSession, watch), watch.seconds)
        return
    with RecordLock(record):
        past = Episode.read(record, whole=False, keep_steps=False) if begun(record) else None
        if past is not None and past.result is not None:
            yield None
            return
        if past is not None:
            _check_header(record, past.header, job, lineup)
        with _WatchedSession(
            watch,
            job.world.model,
            lineup,
            job.seed,
            record,
            past,
            EpisodeOptions(keep_steps=False, keep_state=False),
        ) as session:
            yield session


def _check_header(record: Path, header: Header, job: Job, lineup: Lineup) -> None:
    """Check that a cut record belongs to this job.

    Raises:
        BadRecord: The record has another model, seed or line-up.
    """
    mine = Header.of(job.world.model, job.seed, lineup.labels)
    for topic in ("model", "params", "seed", "policies"):
        if getattr(mine, topic) != getattr(header, topic):
            raise BadRecord(f"{record} is another episode's: its {topic} differ from the suite's")


def _outcome(job: Job, record: Path, watch: Watch, start: float) -> Outcome:
    if job.is_series:
        return series_outcome(job, record, watch.seconds)
    outcome = read_outcome(job.name, record, time.monotonic() - start)
    assert outcome is not None
    return outcome


def _failed(job: Job, record: Path, watch: Watch, fault: BaseException, start: float) -> Outcome:
    """Return the outcome of a stopped episode, or of a series with its ended episodes."""
    seconds = round(time.monotonic() - start, 3)
    is_limit = isinstance(fault, LimitReached)
    limit, error = (str(fault), "") if is_limit else ("", _error_text(fault))
    stopped = Outcome(job=job.name, limit=limit, error=error, seconds=seconds)
    return series_outcome(job, record, watch.seconds, stopped) if job.is_series else stopped


def _error_text(fault: BaseException) -> str:
    text = " ".join(str(fault).split())
    known = isinstance(fault, DesimError)
    return (text if known else f"{type(fault).__name__}: {text}".removesuffix(": "))[:_MAX_ERROR]
