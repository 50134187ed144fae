"""Which files a worker has loaded or read, so that its parent notices when one is edited."""

import os
import sys
import sysconfig
import time
from collections.abc import Sequence
from typing import Any

from desim.opened_files import opened
from desim.sweeps.messages import import_path, unpickle_and_play

__all__ = ["CHANGED", "Stamp", "play_and_tell", "stamp", "surroundings"]

#: When a file was last modified, in nanoseconds, and its size in bytes.
Stamp = tuple[int, int]

#: Equals the stamp of no file: stands for a file that was modified while it was being loaded.
CHANGED: Stamp = (-1, -1)

#: Where Python and installed packages are, whose files no one edits between two sweeps.
_INSTALLED = tuple(
    os.path.join(sysconfig.get_path(name), "")  # noqa: PTH118 (compared as texts)
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
)

#: In a worker: the files that its parent knows of.
_told: set[str] = set()


def play_and_tell(
    message: bytes, path: Sequence[str], started: int
) -> tuple[list[bytes], dict[str, Stamp]]:
    """Play a chunk in a worker; return its rows, and the files loaded since the last chunk.

    Args:
        message: The chunk.
        path: Where the parent finds modules.
        started: A time before the worker was started, in nanoseconds.
    """
    since = time.time_ns() if _told else started
    rows = unpickle_and_play(message, path)
    loaded = {file: stamp(file) for file in _new_files()}
    _told.update(loaded)
    # Of a file that was modified since, its content may be another one than was loaded.
    return rows, {f: now if now[0] < since else CHANGED for f, now in loaded.items()}


def _new_files() -> set[str]:
    """Return the files of loaded modules and of their data that are not known to the parent."""
    # Not by `getattr`, which would run the `__getattr__` of modules that import lazily.
    files = {module.__dict__.get("__file__") for module in [*sys.modules.values()]} | opened()
    return {
        file
        for file in files
        if isinstance(file, str) and file not in _told and not file.startswith(_INSTALLED)
    }


def stamp(file: str) -> Stamp:
    """Return the stamp of a file; zeros where there is none, as for a module inside an archive."""
    try:
        found = os.stat(file)  # noqa: PTH116 (hundreds of files before a sweep)
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def surroundings() -> Any:
    """Return what a worker takes over from this process when it starts."""
    return os.getcwd(), import_path(), dict(os.environ)  # noqa: PTH109 (compared as texts)
