"""Plays a job with records, an episode or a series: new records, or the rest of cut ones.

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

from desim.core.events import Decision
from desim.core.model import Model
from desim.core.policy import OutsidePolicy
from desim.core.result import score_of
from desim.core.streams import kept_globals
from desim.engine.keep.budget import CommandBudget, spending
from desim.engine.keep.outcome import JobOutcome, Played, read_outcome, read_played
from desim.engine.keep.record_folder import earlier_record, records_of, series_folder
from desim.engine.play_series import in_background
from desim.engine.record_job import RecordJob
from desim.engine.run.play_episode import (
    error_label,
    error_text,
    opened_session,
    play_in_loop,
)
from desim.episodes.driver import play_session
from desim.episodes.episode_options import EpisodeOptions
from desim.episodes.lineup import Lineup, resolve
from desim.episodes.series import SeriesOptions, episode_file, series, series_async
from desim.episodes.session import Session
from desim.episodes.usage import usage_in_all
from desim.errors import BadRecord, DesimError, LimitReached
from desim.records.episode import Episode
from desim.records.record_file import begun

#: Seconds between two readings of the score of a running episode.
_SECONDS_PER_LOOK = 1.0


@define
class Watch:
    """The progress of a running job; written by its thread, read by others.

    Attributes:
        episode: The place of its present episode in a series, from 1; 0 before the first begins.
        decisions: The decisions of that episode so far.
        score: The score of that episode at the last reading; None before the first.
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
        self.usage = usage_in_all([self._before, *usage.values()])


class _WatchedSession(Session):
    """A session that reports its progress."""

    def __init__(
        self, watch: Watch, model: Model[Any], lineup: Lineup, *args: Any, **options: Any
    ) -> None:
        super().__init__(model, lineup, *args, **options)
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

    def _look(self) -> None:
        self._watch.add(self._usage.totals())
        self._watch.score = score_of(self.model, self.run.state)
        self._looked = time.monotonic()


@define
class SeriesJob:
    """A series to be played, or the rest of one.

    Attributes:
        job: The job.
        record: The path that determines the folder; see `series_folder`.
        lineup: The policies.
        session: Makes the session of an episode.
        seconds: Wall time of each episode that was played or repeated, by its place.
    """

    job: RecordJob
    record: Path
    lineup: Lineup
    session: Callable[..., Session] = Session
    seconds: dict[int, float] = field(factory=dict)
    _start: float = field(factory=time.monotonic, init=False)

    def play(self) -> None:
        """Play the series, in an event loop if a policy is a coroutine.

        Raises:
            DesimError: The series cannot continue; ended episodes are on record.
        """
        if self.lineup.has_coroutines:  # one loop for all episodes: clients are bound to it
            import asyncio

            asyncio.run(self._play_async())
            return
        for one in series(self._options, self.session):
            self._count(one.number)

    async def play_in_loop(self) -> None:
        """Play the series in the running event loop; otherwise as `play`."""
        await (self._play_async() if self.lineup.waits else in_background(self.play))

    async def _play_async(self) -> None:
        async for one in series_async(self._options, self.session):
            self._count(one.number)

    @property
    def _options(self) -> SeriesOptions:
        job, folder = self.job, series_folder(self.record)
        return SeriesOptions(job.model, self.lineup, job.seeds, record=folder, resume=True)

    def _count(self, number: int) -> None:
        now = time.monotonic()
        self.seconds[number], self._start = now - self._start, now


def play_record(
    job: RecordJob, record: Path, budget: CommandBudget | None = None, watch: Watch | None = None
) -> JobOutcome:
    """Play a job, or the rest of it, and return its outcome; raises nothing but Ctrl-C.

    Args:
        job: The job.
        record: The file of its record; a cut one is continued. A series has a folder in its place,
            of the same name without the suffix.
        budget: The budget of its policies.
        watch: Receives the progress.
    """
    playing = _Playing(job, record, budget or CommandBudget(), watch or Watch())
    with playing.faults(KeyboardInterrupt), kept_globals(job.seeds[0]):
        if job.is_series:
            playing.series().play()
        elif not playing.is_whole:
            with playing.session() as session:
                play_session(session)
    return playing.outcome()


async def play_record_async(
    job: RecordJob, record: Path, budget: CommandBudget, watch: Watch
) -> JobOutcome:
    """Play a job as `play_record` does; other jobs continue while its policies wait."""
    from asyncio import CancelledError

    playing = _Playing(job, record, budget, watch)
    with playing.faults(KeyboardInterrupt, CancelledError):
        if job.is_series:
            await playing.series().play_in_loop()
        elif not playing.is_whole:
            with playing.session() as session:
                await play_in_loop(session)
    return playing.outcome()


@define
class _Playing:
    """A job under way, up to its outcome.

    Attributes:
        fault: What has stopped it; None if nothing has.
    """

    job: RecordJob
    record: Path
    budget: CommandBudget
    watch: Watch
    fault: BaseException | None = None
    _start: float = field(factory=time.monotonic, init=False)

    @property
    def is_whole(self) -> bool:
        """Whether the record of its one episode is complete."""
        return begun(self.record) and read_outcome(self.job.name, self.record) is not None

    @contextlib.contextmanager
    def faults(self, *ending: type[BaseException]) -> Iterator[None]:
        """Keep an exception of the block, except those that end the command."""
        try:
            yield
        except ending:
            raise
        except BaseException as fault:  # noqa: BLE001 (sys.exit in a policy ends its episode only)
            self.fault = fault

    def series(self) -> SeriesJob:
        """Return the series."""
        session = partial(_WatchedSession, self.watch)
        return SeriesJob(self.job, self.record, self._lineup(), session, self.watch.seconds)

    @contextlib.contextmanager
    def session(self) -> Iterator[Session]:
        """Open the session of its one episode."""
        job, make = self.job, partial(_WatchedSession, self.watch)
        how, lineup = EpisodeOptions(keep_steps=False, keep_state=False), self._lineup()
        with opened_session(job.model, lineup, job.seeds[0], self.record, how, make) as session:
            yield session

    def outcome(self) -> JobOutcome:
        """Return the outcome, from the records and what has stopped it."""
        if self.job.is_series:
            stopped = self._stopped(self.fault) if self.fault else None
            return series_outcome(self.job, self.record, self.watch.seconds, stopped)
        if self.fault is not None:
            return self._stopped(self.fault)
        try:
            found = read_outcome(self.job.name, self.record, time.monotonic() - self._start)
        except BadRecord as fault:
            return self._stopped(fault)
        assert found is not None
        return found

    def _lineup(self) -> Lineup:
        with spending(self.budget):
            lineup = resolve(self.job.model, self.job.policies, self.job.seeds[0])
        earlier = records_of(self.job, earlier_record(self.record)) if self.job.host else ()
        for file in earlier:
            with contextlib.suppress(BadRecord):  # then all is asked for
                _reuse(Episode.read(file, whole=False, keep_steps=False), lineup)
        for policy in lineup.policies.values() if self.job.known else ():
            if isinstance(policy, OutsidePolicy):
                policy.reuse(self.job.known)
        return lineup

    def _stopped(self, fault: BaseException) -> JobOutcome:
        limit = str(fault) if isinstance(fault, LimitReached) else ""
        text = error_text if isinstance(fault, DesimError) else error_label
        return JobOutcome(
            job=self.job.name,
            limit=limit,
            error="" if limit else text(fault),
            seconds=round(time.monotonic() - self._start, 3),
        )


def _reuse(earlier: Episode, lineup: Lineup) -> None:
    """Give policies their transcript of an earlier episode, if their arguments are the same."""
    for role, policy in lineup.policies.items():
        same = earlier.header.policies.get(role) == lineup.labels[role]
        if same and isinstance(policy, OutsidePolicy):
            policy.reuse(line.entry for line in earlier.transcript if line.role == role)


def series_outcome(
    job: RecordJob, record: Path, seconds: Mapping[int, float], stopped: JobOutcome | None = None
) -> JobOutcome:
    """Return the outcome of a series, from the records of the episodes that have ended.

    Args:
        job: The job that was played.
        record: See `SeriesJob`.
        seconds: Wall time of episodes by their place, as far as it is known.
        stopped: The outcome that stopped the series; None if all episodes have ended.
    """
    outcome = stopped or JobOutcome(job=job.name)
    episodes: list[Played] = []
    try:
        episodes.extend(_ended(job, record, seconds))
    except BadRecord as fault:
        outcome = replace(outcome, limit="", error=outcome.error or str(fault))
    return replace(
        outcome,
        episode=min(len(episodes) + 1, job.episodes),
        training=len(episodes) < job.training,
        episodes=tuple(episodes),
    )


def _ended(job: RecordJob, record: Path, seconds: Mapping[int, float]) -> Iterator[Played]:
    for number in range(1, job.episodes + 1):
        file = episode_file(series_folder(record), number)
        training, wall = number <= job.training, seconds.get(number, 0.0)
        played = read_played(job.name, file, wall, number, training=training)
        if played is None:
            return
        yield played
