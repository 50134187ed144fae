"""The program of a worker process: it plays what its parent sends."""

import os
import pickle
import signal
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator
from types import ModuleType
from typing import IO, Any, NoReturn

from desim.engine.opened_files import opened
from desim.engine.run.job_messages import rows_of
from desim.engine.run.play_job import play_chunk  # noqa: F401 (imported while the parent prepares)
from desim.engine.run.signals import allow_exit
from desim.episodes.child import WAITS_FOR_PARENT
from desim.errors import DesimError

#: Seconds after which an idle worker ends.
IDLE_SECONDS = 60

#: Seconds after which a worker finds that its parent has ended, or that it is idle.
_BETWEEN_LOOKS = 1.0

#: The resolution of the times of files, in nanoseconds.
_RESOLUTION = 20_000_000

#: The folders of Python and installed packages, whose files are not edited between two sweeps.
_INSTALLED = tuple(
    os.path.join(sysconfig.get_path(name), "")  # noqa: PTH118 (compared as texts)
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
)


def main(path: list[str]) -> NoReturn:
    """Answer the parent's messages until it ends, or until nothing has come for a minute.

    The replies to jobs are their rows, each as it is played, or an exception at the end; those to
    None whether the files that were loaded are unchanged. None ends the replies to a message.

    Args:
        path: Where the parent finds modules.
    """
    started = time.time_ns() - _RESOLUTION
    sys.path[:] = path
    sys.modules["__main__"] = ModuleType("__main__")  # without the names of this program
    messages, results = _private_streams()
    allow_exit()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    busy = threading.Event()
    looks = threading.Thread(
        target=_end_if_left, args=(os.getppid(), busy), name=WAITS_FOR_PARENT, daemon=True
    )
    looks.start()
    _send(results, "ready")
    while True:
        try:
            message = pickle.load(messages)  # noqa: S301 (it comes from our own parent)
        except EOFError:
            os._exit(0)
        busy.set()
        for reply in _replies(message, started):
            _send(results, reply)
        busy.clear()


def _private_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Return standard input and output; policies read nothing, and print on standard error."""
    messages, results = (os.fdopen(os.dup(number), mode) for number, mode in ((0, "rb"), (1, "wb")))
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return messages, results


def _replies(message: bytes | None, started: int) -> Iterator[Any]:
    try:
        if message is None:
            yield not any(_changed(file) > started for file in _files())
        else:
            yield from rows_of(message)
        yield None
    except Exception as fault:  # noqa: BLE001 (raised in the parent)
        try:
            pickle.loads(pickle.dumps(fault))  # noqa: S301
        except Exception:  # noqa: BLE001 (such as that of a class of the user's)
            yield DesimError(f"{type(fault).__name__}: {fault}")
        else:
            yield fault


def _send(results: IO[bytes], reply: Any) -> None:
    try:
        pickle.dump(reply, results)
        results.flush()
    except OSError:  # the parent has ended
        os._exit(1)


def _end_if_left(parent: int, busy: threading.Event) -> None:
    """End the process with its parent, or once it is idle for long."""
    idle = 0.0
    while os.getppid() == parent and idle < IDLE_SECONDS:
        time.sleep(_BETWEEN_LOOKS)
        idle = 0.0 if busy.is_set() else idle + _BETWEEN_LOOKS
    os._exit(1)


def _files() -> set[str]:
    """Return the files of loaded modules and of their data that somebody may edit."""
    # Not by `getattr`, which would run the `__getattr__` of modules that import lazily.
    files = {module.__dict__.get("__file__") for module in [*sys.modules.values()]} | opened()
    return {one for one in files if isinstance(one, str) and not one.startswith(_INSTALLED)}


def _changed(file: str) -> int:
    """Return when a file was modified or replaced; 0 for one that does not exist."""
    try:
        found = os.stat(file)  # noqa: PTH116 (hundreds of files before a sweep)
    except OSError:
        return 0
    return max(found.st_mtime_ns, found.st_ctime_ns)
