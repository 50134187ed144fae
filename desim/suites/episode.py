"""Plays one job: a new record, or the rest of one that was cut."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import define, field

from desim.core.result import score_of
from desim.core.world import Decision
from desim.episodes.budget import CommandBudget, spending
from desim.episodes.episode import Episode
from desim.episodes.lineup import Lineup, resolve
from desim.episodes.record import Header
from desim.episodes.record_lock import RecordLock
from desim.episodes.session import Session
from desim.errors import BadRecord, DesimError, LimitReached
from desim.suites.outcome import Outcome, begun, read_outcome
from desim.suites.plan import Job

__all__ = ["Watch", "play_job"]

#: Seconds between two looks at the score of an episode that runs.
_SECONDS_PER_LOOK = 1.0

#: Characters of an error that an outcome keeps.
_MAX_ERROR = 500


@define
class Watch:
    """What is known of an episode while it runs; written by its thread, read by others.

    Attributes:
        decisions: Decisions so far.
        score: The score at the last look; None before the first.
        usage: Sums over all roles of what policies noted.
    """

    decisions: int = 0
    score: float | None = None
    usage: Mapping[str, float] = field(factory=dict)


class _WatchedSession(Session):
    """A session that says how far it is."""

    def __init__(self, watch: Watch, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._watch = watch
        self._looked = time.monotonic()

    def take(self, decision: Decision, action: Any) -> None:
        """Give an answer to the run, and count it."""
        super().take(decision, action)
        self._watch.decisions += 1
        if time.monotonic() - self._looked > _SECONDS_PER_LOOK:
            self._look()

    def _look(self) -> None:
        sums: dict[str, float] = {}
        for of_role in self._usage.totals().values():
            for name, value in of_role.items():
                sums[name] = sums.get(name, 0) + value
        self._watch.usage = sums
        self._watch.score = score_of(self.model, self.run.state)
        self._looked = time.monotonic()


def play_job(
    job: Job, record: Path, budget: CommandBudget | None = None, watch: Watch | None = None
) -> Outcome:
    """Play a job, or what is left of it, and return its outcome; no exception but a Ctrl-C leaves.

    Args:
        job: What is played.
        record: The file of its record; one that is cut is continued.
        budget: What its policies may use.
        watch: Receives how far it is.
    """
    start = time.monotonic()
    try:
        with spending(budget or CommandBudget()):
            _play(job, record, watch or Watch())
        outcome = read_outcome(job.name, record, time.monotonic() - start)
        assert outcome is not None
    except KeyboardInterrupt:
        raise
    except LimitReached as limit:
        return Outcome(job=job.name, limit=str(limit), seconds=_since(start))
    except BaseException as fault:  # noqa: BLE001 (sys.exit in a policy ends its episode only)
        return Outcome(job=job.name, error=_error_text(fault), seconds=_since(start))
    return outcome


def _play(job: Job, record: Path, watch: Watch) -> None:
    """Play the episode to its end, under the lock of its record."""
    model = job.world.model
    lineup = resolve(model, job.entry.policies, job.seed)
    with RecordLock(record):
        past = Episode.read(record, whole=False, keep_steps=False) if begun(record) else None
        if past is not None and past.result is not None:
            return
        if past is not None:
            _check_header(record, past.header, job, lineup)
        with _WatchedSession(
            watch, model, lineup, job.seed, record, past, keep_steps=False
        ) as session:
            _to_end(session, lineup)


def _to_end(session: Session, lineup: Lineup) -> None:
    if not lineup.has_coroutines:
        session.play()
        return
    import asyncio

    asyncio.run(session.play_async())


def _check_header(record: Path, header: Header, job: Job, lineup: Lineup) -> None:
    """Check that a cut record is this job's.

    Raises:
        BadRecord: It is of another model, seed or line-up.
    """
    mine = Header.of(job.world.model, job.seed, lineup.labels)
    for topic in ("model", "params", "seed", "policies"):
        if getattr(mine, topic) != getattr(header, topic):
            raise BadRecord(f"{record} is another episode's: its {topic} differ from the suite's")


def _since(start: float) -> float:
    return round(time.monotonic() - start, 3)


def _error_text(fault: BaseException) -> str:
    text = " ".join(str(fault).split())
    known = isinstance(fault, DesimError)
    return (text if known else f"{type(fault).__name__}: {text}".removesuffix(": "))[:_MAX_ERROR]
