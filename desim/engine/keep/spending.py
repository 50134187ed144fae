"""Calls and money of jobs: a line on disk for every call, kept through kills, and limits on them.

The file holds `{"job", "calls", "cost", "crc"}` in each line: increases, whose sums are the totals
of jobs.
"""

import math
import os
import threading
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Self

import msgspec
from attrs import Attribute, define, field, frozen

from desim.engine.keep.budget import CommandBudget, MoneyLimit
from desim.engine.keep.outcome import JobOutcome
from desim.engine.record_job import RecordJob
from desim.errors import UsageError, WriteFailed

#: Money below this is the difference of two orders of a sum.
_ROUNDING = 1e-9


class _Increase(msgspec.Struct):
    """An increase of a job's calls and money."""

    job: str
    calls: Annotated[int, msgspec.Meta(ge=0)]
    cost: Annotated[float, msgspec.Meta(ge=0)]
    crc: int = 0

    def sum(self) -> int:
        """Return the checksum that the line should have."""
        return zlib.crc32(msgspec.json.encode([self.job, self.calls, self.cost]))


class SpendingFile:
    """Calls and money by job, kept in a file; a context manager. Threads may share it.

    Args:
        path: The file, which need not exist.
        write: Whether changes will be added.

    Attributes:
        damaged: The number of lines that do not match their checksum; they are not counted.

    Raises:
        UsageError: The file cannot be opened.
    """

    def __init__(self, path: Path, *, write: bool = True) -> None:
        self._calls: dict[str, int] = {}
        self._cost: dict[str, float] = {}
        self._lock = threading.Lock()
        self._file: int | None = None
        self._path, self._writes = path, write
        self.damaged = 0
        try:
            sound = self._sound_bytes(path.read_bytes()) if path.is_file() else 0
            if write:
                self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
                os.ftruncate(self._file, sound)
        except OSError as fault:
            raise UsageError(f"cannot write {path}: {fault.strerror}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if self._file is not None:
                os.close(self._file)
                self._file = None

    def add(self, job: str, calls: int = 0, cost: float = 0.0) -> None:
        """Count calls and money of a job; they are on disk when this returns.

        Raises:
            WriteFailed: The system does not write them, or the file was closed while an episode
                was running.
        """
        line = _Increase(job, calls, float(cost))
        line.crc = line.sum()
        with self._lock:
            self._count(job, calls, cost)
            if self._writes:
                # The line end first, so that a line cut by a kill stays separate.
                self._write(b"\n" + msgspec.json.encode(line))

    def require(self, job: str, calls: int, cost: float) -> bool:
        """Count the least that a job has used; return whether that was more than the file had.

        Args:
            job: Its name.
            calls: Calls in its records.
            cost: Money in its records.

        Raises:
            WriteFailed: See `add`.
        """
        missing = max(0, calls - self.calls(job)), max(0.0, cost - self.cost(job))
        more = missing[0] > 0 or missing[1] > _ROUNDING * max(1.0, cost)
        if more:
            self.add(job, *missing)
        return more

    def calls(self, *jobs: str) -> int:
        """Return the calls of some jobs; without arguments, of all jobs."""
        with self._lock:
            return sum(self._calls.get(job, 0) for job in jobs or self._calls)

    def cost(self, *jobs: str) -> float:
        """Return the money that some jobs have used; without arguments, of all jobs."""
        with self._lock:
            return math.fsum(self._cost.get(job, 0.0) for job in jobs or self._cost)

    def _write(self, line: bytes) -> None:
        if self._file is None:
            raise WriteFailed(f"cannot write {self._path}: the command has stopped")
        try:
            written = os.write(self._file, line)
        except OSError as fault:
            raise WriteFailed(f"cannot write {self._path}: {fault.strerror}") from None
        if written < len(line):
            raise WriteFailed(f"cannot write {self._path}: no space left")

    def _sound_bytes(self, content: bytes) -> int:
        """Count the lines of a file; return its size without a cut last line."""
        *whole, last = content.split(b"\n")
        for text in filter(None, whole):
            self.damaged += not self._take(text)
        return len(content) if self._take(last) else max(0, len(content) - len(last) - 1)

    def _take(self, text: bytes) -> bool:
        """Count a line; return whether it is valid."""
        try:
            line = msgspec.json.decode(text, type=_Increase)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return False
        if line.sum() == line.crc:
            self._count(line.job, line.calls, line.cost)
            return True
        return False

    def _count(self, job: str, calls: int, cost: float) -> None:
        self._calls[job] = self._calls.get(job, 0) + calls
        self._cost[job] = self._cost.get(job, 0.0) + cost


@frozen
class Money:
    """The money that jobs spend.

    Attributes:
        spent: Keeps it by job.
        limits: The limits that jobs share, by their `purse`.
    """

    spent: SpendingFile
    limits: Mapping[str, tuple[MoneyLimit, ...]] = field(factory=dict)


def _book(budget: "JobBudget", attribute: "Attribute[Any]", value: Any) -> Any:
    """Write a change of `calls` or `cost` to the file before it is made."""
    change = value - getattr(budget, attribute.name)
    budget.spent.add(budget.job, **{attribute.name: change})
    return value


@define(eq=False)
class JobBudget(CommandBudget):
    """The budget of one episode: each call is checked against the shared limits.

    Attributes:
        calls: Requests sent in this command.
        cost: Money used in this command.
        job: The job's name.
        spent: Receives every change.
        shared: The limits that it shares with other jobs.
    """

    _stopped = ("{} = {:g} is spent", "the same command with a larger limit goes on")

    calls: int = field(default=0, init=False, on_setattr=_book)
    cost: float = field(default=0.0, init=False, on_setattr=_book)
    job: str = field(kw_only=True)
    spent: SpendingFile = field(kw_only=True)


def count_outcome(job: RecordJob, outcome: JobOutcome, spent: SpendingFile) -> bool:
    """Count at least the calls and money of an outcome, if its job contacts a host.

    Returns:
        Whether the file had less.
    """
    usages = [played.usage for played in outcome.each]
    calls, cost = (sum(usage.get(name, 0) for usage in usages) for name in ("calls", "cost"))
    return bool(job.host) and spent.require(job.name, int(calls), cost)


def count_outcomes(
    jobs: Iterable[RecordJob], outcomes: Mapping[str, JobOutcome], spent: SpendingFile
) -> list[str]:
    """Count the outcomes of jobs as `count_outcome` does.

    Returns:
        The jobs of which the file had less.
    """
    known = ((job, outcomes[job.name]) for job in jobs if job.name in outcomes)
    return [job.name for job, outcome in known if count_outcome(job, outcome, spent)]
