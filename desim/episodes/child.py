"""Scores in forked processes: a child begins where this process is, and changes nothing in it."""

import gc
import os
import signal
import struct
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from desim.core.limits import NEVER_INTERRUPTED

#: The name of a thread that waits for the end of the parent process, and holds no lock.
WAITS_FOR_PARENT = "desim-waits-for-parent"

#: Frameworks of macOS do not survive a fork.
_FORKS = hasattr(os, "fork") and sys.platform != "darwin"

_PACKED = struct.Struct("d")


def can_fork() -> bool:
    """Return whether a fork is safe: in the only thread that Python knows of a POSIX process."""
    main = threading.main_thread()
    every = threading.enumerate()
    return _FORKS and all(one is main or one.name == WAITS_FOR_PARENT for one in every)


def in_child(score: Callable[[], float]) -> float | None:
    """Return what a function returns in a forked process, which has a copy of every object.

    The child runs no exit functions and may print nothing, and it is killed if an exception leaves
    this function. If this process is killed, it still plays its rollout.

    Returns:
        The score; None if the function raised an exception or opened a file, or if the child could
        not be started or was killed.
    """
    # Handlers of these signals raise exceptions, which would leave the child without an end.
    raising = {signal.SIGINT, signal.SIGTERM, signal.SIGALRM}
    child = 0
    with suppress(OSError):
        read, write = os.pipe()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, raising)
        try:
            try:
                child = _fork() or _play_and_exit(score, write, before)
            finally:
                os.close(write)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            found = os.read(read, _PACKED.size)
            return _PACKED.unpack(found)[0] if found else None
        finally:
            signal.pthread_sigmask(signal.SIG_BLOCK, raising)
            if child:
                _end(child)
            os.close(read)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return None


def _fork() -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of the threads of libraries
        return os.fork()


# Python's hooks around a fork take the lock of `logging`, which an exception in them would keep.
NEVER_INTERRUPTED.add(_fork.__code__)


def _play_and_exit(score: Callable[[], float], write: int, mask: Any) -> NoReturn:
    try:
        gc.disable()  # a collection would copy the pages of all objects
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        opened: list[str] = []
        sys.addaudithook(lambda event, _: opened.append(event) if event == "open" else None)
        found = score()
        # The parent notes the files that it opens itself, as those on which results depend.
        if not opened:
            os.write(write, _PACKED.pack(found))
    finally:
        os._exit(0)


def _end(child: int) -> None:
    with suppress(ProcessLookupError, ChildProcessError):  # taken by a handler of the program
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
