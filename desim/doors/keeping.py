"""The record of a person's game: one process keeps it, and an undo cuts it."""

import os
from pathlib import Path
from typing import Any, Self

from desim.episode import Recorder, lines_of
from desim.errors import UsageError

__all__ = ["Held", "cut"]


class Held:
    """A file that this process plays, and no other; the hold ends with the process.

    Where the system has no file locks nothing is held.

    Args:
        path: A file that exists.

    Raises:
        UsageError: Another process plays it.
    """

    def __init__(self, path: Path) -> None:
        self._file: Any = path.open("rb")
        try:
            _lock(self._file.fileno())
        except OSError:
            self._file.close()
            raise UsageError(
                f"{path} is being played by another desim play; use its page, or another --record"
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def cut(path: Path, decisions: int) -> None:
    """Shorten a record to its first decisions and what was said before them.

    The old file stays until the shorter one is on disk, which takes its place.

    Args:
        path: A record, whole or not.
        decisions: How many to keep; 0 or more, and no more than there are.

    Raises:
        UsageError: The new file, `PATH.part`, cannot be made.
    """
    with Recorder.again(path, _kept(path, decisions)):
        pass


def _kept(path: Path, decisions: int) -> list[bytes]:
    """Return the header and the lines up to the last decision that is kept."""
    header, *body = (line.rstrip(b"\n") for line in lines_of(path))
    steps = [number for number, line in enumerate(body, 1) if line.startswith(b'{"t":')]
    return [header, *body[: steps[decisions - 1] if decisions else 0]]


def _lock(descriptor: int) -> None:
    if os.name == "posix":
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
