"""Limits on an episode that might never end: wall time, events, decisions."""

import signal
import threading
from types import FrameType
from typing import Any

from attrs import field, frozen
from attrs.validators import gt, le, optional

from desim.errors import LimitReached
from desim.schema.validators import finite, whole

#: The shortest time for which an alarm is set, in seconds; zero would set none.
_MOMENT = 1e-3

_most: list[Any] = [gt(0), le(10**15)]


@frozen
class Limits:
    """The most that one episode may take; None means no limit.

    Attributes:
        seconds: Wall time from the start of the run, policies included.
        events: Events of the clock.
        decisions: Answers of policies.
    """

    seconds: float | None = field(default=None, validator=optional([finite, *_most]))
    events: int | None = field(default=None, validator=optional([whole, *_most]))
    decisions: int | None = field(default=None, validator=optional([whole, *_most]))

    def __bool__(self) -> bool:
        return (self.seconds, self.events, self.decisions) != (None, None, None)


class Alarm:
    """A context manager that raises `LimitReached` in Python code that runs too long.

    Works in the main thread of a process on a POSIX system, unless another alarm is set there.
    Elsewhere, and inside a call into C that does not return, only the checks between events apply.

    Args:
        seconds: The limit on wall time; None sets no limit.
        left: The seconds of it that are left; None for all of it.
    """

    def __init__(self, seconds: float | None, left: float | None = None) -> None:
        self._seconds = seconds
        self._due = seconds if left is None else max(left, _MOMENT)
        self._is_set = False

    def __enter__(self) -> None:
        if self._due is None or not _usable() or signal.getitimer(signal.ITIMER_REAL)[0]:
            return
        # SIGALRM and not a thread: only the main thread's own signal handler can raise an exception
        # in code that never returns.
        self._before = signal.signal(signal.SIGALRM, self._ring)
        self._is_set = True
        # Repeated, in case a policy catches the first exception.
        signal.setitimer(signal.ITIMER_REAL, self._due, 1.0)

    def __exit__(self, *_: object) -> None:
        if self._is_set:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)

    def _ring(self, _signal: int, frame: FrameType | None) -> None:
        while frame is not None:
            # An exception at the beginning of `__exit__` would leave the timer set.
            if frame.f_code in NEVER_INTERRUPTED:
                return
            frame = frame.f_back
        raise LimitReached(time_text(self._seconds))


#: Code in which no alarm raises; it rings again a second later.
NEVER_INTERRUPTED = {Alarm.__enter__.__code__, Alarm.__exit__.__code__}


def _usable() -> bool:
    main = threading.current_thread() is threading.main_thread()
    return hasattr(signal, "setitimer") and main


def time_text(seconds: float | None) -> str:
    """Return the error text of a limit on wall time."""
    return f"the limit of {seconds:g} seconds was reached"
