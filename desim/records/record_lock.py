"""A lock on a record or another file, so that only one process at a time writes it.

The system drops the lock when the process ends, however it ends: a file left behind locks nothing.
"""

import contextlib
import os
from pathlib import Path
from typing import Self

from desim.errors import UsageError

#: Seconds for which a taken lock is asked for again: its holder may be about to release it.
_PATIENCE = 0.1


class RecordLock:
    """A lock on a record, `RECORD.lock` beside it; released when the context is left.

    A `UsageError` names the *use* if it is locked, here or by another process.
    """

    def __init__(self, path: str | Path, use: str = "played") -> None:
        from filelock import FileLock, Timeout  # the import takes 80 ms

        # Resolved, so that two names of one record have one lock.
        self.path = Path(os.path.realpath(path) + ".lock")
        # Not of a thread: an episode may end in another thread than it began in.
        self._lock = FileLock(self.path, thread_local=False)
        try:
            # Without this filelock would make a missing folder.
            os.stat(os.path.join(self.path.parent, ""))  # noqa: PTH116, PTH118 (Path drops the end)
            self._lock.acquire(_PATIENCE, poll_interval=0.005)
        except Timeout:
            raise UsageError(
                f"{path} is being {use} elsewhere; nothing was changed. Wait until that ends, or "
                "choose another file"
            ) from None
        except OSError as fault:
            raise UsageError(f"cannot write {path}: {fault.strerror}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._lock.is_locked:
            return
        # Removed while it is locked: a process that has opened it finds that it is gone. Windows
        # removes no open file; there filelock does it when the lock is released.
        with contextlib.suppress(PermissionError):
            self.path.unlink(missing_ok=True)
        self._lock.release()
