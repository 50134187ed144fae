"""Limits on an episode that might never end: wall time, events, decisions."""

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

from attrs import Attribute, field, frozen

from desim.errors import LimitReached
from desim.short_repr import short_repr


def _positive(_: object, attribute: "Attribute[Any]", value: Any) -> None:
    if value is None:
        return
    whole = attribute.name != "seconds"
    kinds = (int,) if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not 0 < value < _MOST:
        kind = "whole number" if whole else "number"
        raise ValueError(f"{attribute.name}={short_repr(value)} was given; it is a {kind} above 0")


#: The shortest time for which an alarm is set, in seconds; zero would set none.
_MOMENT = 1e-3

#: No limit is larger; also keeps NaN and infinity out.
_MOST = 10**15


@frozen
class Limits:
    """Limits on one episode; None means no limit.

    Attributes:
        seconds: Wall time of an episode, at most: from the start of the run, policies included.
        events: Events of an episode, at most.
        decisions: Decisions of an episode, at most.
    """

    seconds: float | None = field(default=None, validator=_positive)
    events: int | None = field(default=None, validator=_positive)
    decisions: int | None = field(default=None, validator=_positive)

    def __bool__(self) -> bool:
        return (self.seconds, self.events, self.decisions) != (None, None, None)


class Meter:
    """Counts the events and decisions of one run against its limits.

    Args:
        limits: The limits of the run.
        now: Returns the present tick, for the error text.

    Attributes:
        seconds: The limit on wall time.
    """

    def __init__(self, limits: Limits, now: Callable[[], Any]) -> None:
        self.seconds = limits.seconds
        self._limits = limits
        self._now = now
        self._events = self._decisions = 0
        self._end = None if limits.seconds is None else time.monotonic() + limits.seconds
        # Raised again, with its notes: a part may count a further event before the exception of the
        # previous one has left the part.
        self._reached: LimitReached | None = None

    def event(self, world: Any) -> None:
        """Count an event that is about to be processed, in the run's world or a part's.

        Raises:
            LimitReached: Too many events, or too much time.
        """
        self._events += 1
        # The clock is read at every event: a process that creates events without end must be
        # stopped where no alarm can be set, such as in a thread.
        if self._limits.events is not None and self._events > self._limits.events:
            from desim.core.world import resumed_by  # only an episode that is stopped needs it

            by = resumed_by(world._queue[0][3])  # noqa: SLF001 (our own clock)
            self._check("events", self._events, self._limits.events, f", before {by}" if by else "")
        self.clock()

    def decisions(self, count: int) -> None:
        """Count decisions that are handed out.

        Raises:
            LimitReached: Too many.
        """
        self._decisions += count
        self._check("decisions", self._decisions, self._limits.decisions)

    def clock(self) -> None:
        """Compare the wall time with its limit.

        Raises:
            LimitReached: Too much time has passed.
        """
        if self._end is not None and time.monotonic() > self._end:
            self._reach(time_text(self._limits.seconds, f" at t={self._now()}"))

    def seconds_left(self) -> float | None:
        """Return the wall time left in seconds, at least 0.001; None without a time limit."""
        return None if self._end is None else max(self._end - time.monotonic(), _MOMENT)

    def _check(self, what: str, count: int, most: int | None, where: str = "") -> None:
        if most is not None and count > most:
            self._reach(f"the limit of {most:,} {what} was reached at t={self._now()}{where}")

    def _reach(self, text: str) -> NoReturn:
        self._reached = self._reached or LimitReached(text)
        raise self._reached


class Alarm:
    """Interrupts Python code that runs too long, such as a policy or process that never returns.

    A context manager. Works in the main thread of a process on a POSIX system. Elsewhere, and
    inside a call into C that does not return, only the checks between events apply. Alarms may be
    nested; only the one that is due first raises.

    Args:
        seconds: The limit on wall time; None sets no limit.
        left: The seconds of it that are left; None for all of it.

    Raises:
        LimitReached: The time has passed.
    """

    __slots__ = ("_before", "_due", "_outer", "_seconds", "_start")

    def __init__(self, seconds: float | None, left: float | None = None) -> None:
        self._seconds = seconds
        self._due = seconds if left is None else left
        self._start: float | None = None

    def __enter__(self) -> None:
        if self._due is None or not _usable() or 0 < _outer_alarm() <= self._due:
            return
        # SIGALRM and not a thread: only the main thread's own signal handler can raise an exception
        # in code that never returns.
        self._before = signal.signal(signal.SIGALRM, self._ring)
        self._start = time.monotonic()
        # Repeated, in case a policy catches the first exception.
        self._outer = signal.setitimer(signal.ITIMER_REAL, self._due, 1.0)

    def __exit__(self, *_: object) -> None:
        if self._start is None:
            return
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._before)
        outer, interval = self._outer
        if outer:
            remaining = max(outer - (time.monotonic() - self._start), _MOMENT)
            signal.setitimer(signal.ITIMER_REAL, remaining, interval)

    def _ring(self, _signal: int, frame: FrameType | None) -> None:
        while frame is not None:
            # An exception at the beginning of `__exit__` would leave the timer set.
            if frame.f_code in _NEVER_INTERRUPTED:
                return
            frame = frame.f_back
        raise LimitReached(time_text(self._seconds))


_NEVER_INTERRUPTED = {Alarm.__enter__.__code__, Alarm.__exit__.__code__}


def _usable() -> bool:
    main = threading.current_thread() is threading.main_thread()
    return hasattr(signal, "setitimer") and main


def _outer_alarm() -> float:
    """Return the seconds until an alarm that is already set is due; 0 if none is set."""
    return signal.getitimer(signal.ITIMER_REAL)[0]


def time_text(seconds: float | None, where: str = "") -> str:
    """Return the error text of a limit on wall time."""
    return f"the limit of {seconds:g} seconds was reached{where}"
