"""What came of an episode: read from its record, kept as one line."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from desim.episodes.episode import Episode
from desim.errors import BadRecord

__all__ = ["Outcome", "read_outcome"]

#: The key of a policy's notes that says which limit of the episode was reached.
LIMIT = "limit"


class Outcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of a job.

    Attributes:
        job: Its name.
        score: The score; None where the episode has not ended.
        ended: The reason of its end.
        decisions: How many were made.
        metrics: Further figures, nested ones by their path.
        usage: Sums over all roles of what policies noted: calls, tokens, cost, seconds.
        limit: The limit of the episode that was reached, or of the entry or suite; empty for none.
        error: Why it failed; empty if it did not.
        seconds: Wall time of the command that ended it.
    """

    job: str
    score: float | None = None
    ended: str = ""
    decisions: int = 0
    metrics: dict[str, Any] = {}
    usage: dict[str, float] = {}
    limit: str = ""
    error: str = ""
    seconds: float = 0.0

    @property
    def state(self) -> str:
        """The outcome in one word: done, cut (by a limit) or failed."""
        if self.error:
            return "failed"
        return "cut" if self.limit else "done"

    @property
    def final(self) -> bool:
        """Whether the episode has ended, so that it is not played again."""
        return self.score is not None

    @property
    def seconds_played(self) -> float:
        """Seconds waited for replies, which a kill does not shorten; without any, wall time."""
        return self.usage.get("seconds", 0.0) or self.seconds


def read_outcome(job: str, record: Path, seconds: float = 0.0) -> Outcome | None:
    """Return the outcome in a whole record; None where there is none, or it is cut.

    Raises:
        BadRecord: It is no record, or damaged.
    """
    if not record.exists():
        return None
    episode = Episode.read(record, whole=False, keep_steps=False)
    result = episode.result
    if result is None:
        return None
    return Outcome(
        job=job,
        score=result.score,
        ended=result.ended,
        decisions=result.decisions,
        metrics=dict(_flat(result.metrics)),
        usage=_summed(result.usage),
        limit=next(_limits(episode), ""),
        seconds=round(seconds, 3),
    )


def begun(record: Path) -> bool:
    """Return whether a record holds at least its first line; remove one that does not.

    Raises:
        BadRecord: The file cannot be read.
    """
    try:
        with record.open("rb") as file:
            if file.readline().endswith(b"\n"):
                return True
        record.unlink()
    except FileNotFoundError:
        pass
    except OSError as fault:
        raise BadRecord(f"{record} cannot be read: {fault.strerror}") from None
    return False


def _limits(episode: Episode) -> Iterator[str]:
    """Yield the limits that policies noted."""
    return (str(step.notes[LIMIT]) for step in episode.steps if step.notes and LIMIT in step.notes)


def _summed(usage: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for of_role in usage.values():
        for name, value in of_role.items():
            sums[name] = sums.get(name, 0) + value
    return sums


def _flat(metrics: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
