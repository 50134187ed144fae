"""What a suite has spent: a line on disk for every call, so that a kill forgets nothing.

`spent.jsonl` holds `{"job", "calls", "cost"}`: changes, whose sums are what each job has used in
all commands so far.
"""

import json
import math
import os
import threading
from pathlib import Path
from typing import Annotated, Self

import msgspec

from desim.errors import UsageError, WriteFailed

__all__ = ["Ledger"]


class _Line(msgspec.Struct):
    """A change of what a job has used; nothing is given back."""

    job: str
    calls: Annotated[int, msgspec.Meta(ge=0)] = 0
    cost: Annotated[float, msgspec.Meta(ge=0)] = 0.0


class Ledger:
    """Sums by job, kept in a file; a context manager. Threads may share it.

    Args:
        path: The file, which need not exist.
        write: Whether changes will be added.

    Raises:
        UsageError: The file cannot be opened.
    """

    def __init__(self, path: Path, *, write: bool = True) -> None:
        self._calls: dict[str, int] = {}
        self._cost: dict[str, float] = {}
        self._lock = threading.Lock()
        self._file: int | None = None
        self._path, self._writes = path, write
        try:
            if path.exists():
                self._read(path.read_bytes())
            if write:
                self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
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
            WriteFailed: They are not: the system does not take them, or the ledger was closed under
                an episode that goes on.
        """
        # The line end first: a line that a kill has cut stays a line of its own.
        line = b"\n" + json.dumps({"job": job, "calls": calls, "cost": cost}).encode()
        with self._lock:
            self._count(job, calls, cost)
            if self._writes:
                self._write(line)

    def calls(self, *jobs: str) -> int:
        """Return the calls of jobs; without jobs, of all."""
        with self._lock:
            return sum(self._calls.get(job, 0) for job in jobs or self._calls)

    def cost(self, *jobs: str) -> float:
        """Return the money that jobs have used; without jobs, all have."""
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

    def _read(self, content: bytes) -> None:
        for text in content.split(b"\n"):
            try:
                line = msgspec.json.decode(text, type=_Line)
            except msgspec.DecodeError:
                continue
            self._count(line.job, line.calls, line.cost)

    def _count(self, job: str, calls: int, cost: float) -> None:
        self._calls[job] = self._calls.get(job, 0) + calls
        self._cost[job] = self._cost.get(job, 0.0) + cost
