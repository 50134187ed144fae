"""Plays a job that is a series: episodes in a row with the same policies, which learn in between.

A series has a folder of its own with a record for each episode. One that was cut goes on: what is
on record is repeated with the recorded replies, so that memories are as they were and no reply is
bought twice.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import define, field
from msgspec.structs import replace

from desim.episodes.lineup import Lineup
from desim.episodes.series import episode_file, series, series_async
from desim.episodes.session import Session
from desim.errors import BadRecord
from desim.suites.outcome import Outcome, Played, read_played
from desim.suites.plan import Job

__all__ = ["InARow", "series_folder", "series_outcome"]


def series_folder(record: Path) -> Path:
    """Return the folder of a series from the path that the record of a single episode would have.

    >>> series_folder(Path("records/game__rule-1.5__seed0__1.jsonl")).name
    'game__rule-1.5__seed0__1'
    """
    return record.with_suffix("")


@define
class InARow:
    """A series that is to be played, or what is left of it.

    Attributes:
        job: What is played.
        record: The path that gives the folder its name; see `series_folder`.
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
        """Play it.

        Raises:
            DesimError: It cannot go on; episodes that have ended are on record.
        """
        for one in series(self.job.world.model, self.lineup, self.job.seeds, **self._options):
            self._count(one.number)

    async def play_async(self) -> None:
        """Play it in the event loop that runs; otherwise as `play`."""
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
    """Return what came of a series, by the records of the episodes that have ended.

    Args:
        job: What was played.
        record: As of `InARow`.
        seconds: Wall time of episodes by their place, where it is known.
        stopped: Why it does not go on; None where all has ended.
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
