"""Scores played in forked processes: a child begins where this process is, and changes nothing.

A run that goes on in a child need not be repeated from its start. A fork takes some milliseconds,
so it serves once the past of an episode takes longer than that.
"""

import gc
import math
import os
import signal
import struct
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn, TypeVar

from attrs import define

from desim.opened_files import opened

#: The name of a thread that waits for the end of the parent process, and holds no lock.
WAITS_FOR_PARENT = "desim-waits-for-parent"

#: Seconds of a repeated score from which on a child is tried. A fork and the pages that a child
#: copies take 1 to 6 ms, more in a large process.
TRIED_FROM = 0.006

#: A child is tried again when this many times as many decisions have been repeated.
_GROWTH = 1.5

#: Times depend on what else the processor does: comparisons in a row that count, and the growth of
#: the usual time from one score to the next, at most.
_WINS, _DRIFT = 3, 1.02

#: Frameworks of macOS do not survive a fork.
_FORKS = hasattr(os, "fork") and sys.platform != "darwin"

#: Seconds after which a child finds that its parent has ended.
_LEFT_BEHIND = 1.0

T = TypeVar("T")


def can_fork() -> bool:
    """Return whether a fork is safe: in the only thread of a POSIX process, apart from libraries'.

    Libraries such as numpy prepare their own threads for forks.
    """
    main = threading.main_thread()
    every = threading.enumerate()
    return _FORKS and all(one is main or one.name == WAITS_FOR_PARENT for one in every)


@define
class FasterWay:
    """Plays scores by repeating the past or in a child process, whichever takes less time.

    A score that takes long to repeat is played in a child as well. Once children have returned the
    same scores in less time, `_WINS` in a row, scores with a past at least as long are played in
    children. Times are those of the processor, as other programs may use it too.

    Attributes:
        forks_from: Decisions of the past from which on scores are played in children.
        tried_from: Decisions of the past from which on a child is tried.
        wins: Children in a row that took less time.
        usual: Seconds of a repeated score without the noise that other programs cause.
    """

    forks_from: float = math.inf
    tried_from: float = 1
    wins: int = 0
    usual: float = math.inf

    def score(
        self, past: int, repeated: Callable[[], float], forked: Callable[[], float | None]
    ) -> float:
        """Return a score.

        Args:
            past: The number of decisions that are repeated.
            repeated: Returns the score after repeating them.
            forked: Returns the score from a child process; None if the child has returned none,
                which is then played here, so that it raises the same errors.
        """
        if past >= self.forks_from and can_fork():
            found = forked()
            return repeated() if found is None else found
        score, seconds = _timed(repeated)
        # It may grow, as the past does; a single slow score says nothing.
        self.usual = min(seconds, self.usual * _DRIFT)
        if past >= self.tried_from and self.usual > TRIED_FROM and can_fork():
            found, of_child = _timed(forked)
            self._compare(past, is_faster=found == score and of_child < self.usual)
        return score

    def _compare(self, past: int, *, is_faster: bool) -> None:
        self.wins = self.wins + 1 if is_faster else 0
        if self.wins >= _WINS:
            self.forks_from = min(past, self.forks_from)
        elif not self.wins:
            self.tried_from = _GROWTH * past


def in_child(score: Callable[[], float]) -> float | None:
    """Return what a function returns in a forked process.

    The child has a copy of every object of this process. It runs no finalizers and no exit
    functions, and it is killed if an exception leaves this function.

    Returns:
        The score; None if the function raised an exception or opened a file, or if the child could
        not be started or was killed.
    """
    parent = os.getpid()
    with suppress(OSError, ValueError):  # of a stream that is closed, or has no space left
        _flush()
        read, write = os.pipe()
        # Their handlers raise exceptions, which would leave the child without an end.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _raising())
        child = 0
        try:
            try:
                child = _fork() or _play_and_exit(score, write, before, parent)
            finally:
                os.close(write)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            found = os.read(read, _PACKED.size)
            return _PACKED.unpack(found)[0] if found else None
        finally:
            signal.pthread_sigmask(signal.SIG_BLOCK, _raising())
            _end(child)
            os.close(read)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return None


_PACKED = struct.Struct("d")


def _raising() -> set[signal.Signals]:
    return {signal.SIGINT, signal.SIGTERM, signal.SIGALRM}


def _fork() -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of the threads of libraries
        return os.fork()


def _play_and_exit(score: Callable[[], float], write: int, mask: Any, parent: int) -> NoReturn:
    """Write a score to a pipe and end this process, a child."""
    try:
        gc.disable()  # a collection would copy the pages of all objects
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _end_with(parent)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        before = opened()
        found = score()
        # The parent notes the files that it opens itself, as those on which results depend.
        if opened() == before:
            _flush()
            os.write(write, _PACKED.pack(found))
    finally:
        os._exit(0)


def _end_with(parent: int) -> None:
    """End this process soon after its parent, which may be killed."""

    def check(_signal: int, _frame: Any) -> None:
        if os.getppid() != parent:
            os._exit(1)

    signal.signal(signal.SIGALRM, check)
    signal.setitimer(signal.ITIMER_REAL, _LEFT_BEHIND, _LEFT_BEHIND)


def _end(child: int) -> None:
    """Kill a child that still runs, and take its exit status."""
    with suppress(ProcessLookupError, ChildProcessError):  # taken by a handler of the program
        if child and os.waitpid(child, os.WNOHANG) == (0, 0):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _flush() -> None:
    """Flush what a policy may have printed, which would otherwise be lost or printed twice."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def _timed(call: Callable[[], T]) -> tuple[T, float]:
    """Return what a call returns, and its seconds of processor time, those of children included."""
    start = _seconds()
    return call(), _seconds() - start


def _seconds() -> float:
    if not _FORKS:
        return 0.0
    import resource  # POSIX alone has it

    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)
