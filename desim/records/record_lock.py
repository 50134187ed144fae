"""A lock on a record or another file, so that only one process at a time writes it.

The lock is a file beside the record, `RECORD.lock`, which outlives the replacement of the record by
a shorter or longer copy. It is locked with `flock` and holds the process that writes and since
when. The system drops the lock when the process ends, however it ends; a file that is left behind
locks nothing.
"""

import datetime as dt
import os
import time
from pathlib import Path
from typing import Self

from desim.errors import UsageError

#: Attempts to open a lock file that its holder removes in between.
_ATTEMPTS = 100

#: Seconds between two looks at a lock file that is still empty.
_MOMENT = 0.005

#: Bytes of a lock file that are read for an error.
_SHOWN_BYTES = 200


class RecordLock:
    """A lock on a record, released when the process ends or the context is left.

    On systems without POSIX file locks nothing is locked.

    Args:
        path: The record, which need not exist yet.
        use: The holder's use of the record, for errors.

    Raises:
        UsageError: The record is locked, by another process or in this one, or its folder cannot
            be written.
    """

    def __init__(self, path: str | Path, use: str = "played") -> None:
        # Resolved, so that two names of one record have one lock.
        self.path = Path(os.path.realpath(path) + ".lock")
        try:
            self._descriptor: int | None = _acquired(self.path)
        except BlockingIOError:
            raise UsageError(
                f"{path} is being {use} by {_holder(self.path)}; nothing was changed. Wait until "
                "that ends, or choose another file"
            ) from None
        except OSError as fault:
            raise UsageError(f"cannot write {path}: {fault.strerror}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._descriptor is None:
            return
        # Removed while it is locked: a process that has opened it finds that it is gone.
        self.path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = None


def _acquired(path: Path) -> int | None:
    """Return the descriptor of a locked file; None on a system without locks.

    Raises:
        BlockingIOError: The file is locked.
        OSError: The file cannot be made.
    """
    if os.name != "posix":
        return None
    for _ in range(_ATTEMPTS):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            if _locked(descriptor, path):
                _name_holder(descriptor)
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
    raise BlockingIOError


def _locked(descriptor: int, path: Path) -> bool:
    """Lock an open file; return False if it is no longer the file of that name."""
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    mine = os.fstat(descriptor)
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    return (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino)


def _name_holder(descriptor: int) -> None:
    since = dt.datetime.now().astimezone().isoformat(" ", "seconds")
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"process {os.getpid()} since {since}".encode())


def _holder(path: Path) -> str:
    """Return the holder of a lock by its file."""
    text = ""
    # The file is empty for a moment: its holder locks it before it writes its name.
    for _ in range(_ATTEMPTS):
        try:
            with path.open("rb") as file:
                text = file.read(_SHOWN_BYTES).decode("ascii", "replace")
        except OSError:
            break
        if text:
            break
        time.sleep(_MOMENT)
    return text if text.isprintable() and text else "another process"
