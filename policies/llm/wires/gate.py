"""The gate of a server: how many calls are under way at once, and a wait that all calls share."""

import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from attrs import define, field

from policies.llm.wires.suspension import pause, result_of

#: Seconds for which a server can keep all calls waiting, whatever it says.
LONGEST_CLOSED = 3_600.0

#: Seconds between two requests after a wait: the first, and the longest. It is doubled whenever the
#: server has too much to do again, before all that waited are through.
_GAP, _LONGEST_GAP = 0.02, 2.0


@define(eq=False)
class Gate:
    """Lets requests to one server through; threads and coroutines may share it.

    It is closed while the server has too much to do. Then requests leave one by one, in the order
    in which they came, with a gap between them, until none is left that has waited.
    """

    _lock: threading.Lock = field(factory=threading.Lock, init=False)
    _under_way: int = field(default=0, init=False)
    _queue: "deque[Future[None]]" = field(factory=deque, init=False)
    _opens: float = field(default=0.0, init=False)
    _next: float = field(default=0.0, init=False)
    _gap: float = field(default=0.0, init=False)
    _closings: int = field(default=0, init=False)

    @property
    def seconds_closed(self) -> float:
        """Seconds until it opens; 0 while it is open."""
        return max(0.0, round(self._opens - time.monotonic(), 3))

    @contextmanager
    def place(self, most: int | None) -> Iterator[None]:
        """Count a call as under way, as soon as fewer than *most* are; in order of arrival."""
        if turn := self._turn(most):
            try:
                result_of(turn)
            except BaseException:
                if not turn.cancel():
                    self._leave()
                raise
        try:
            yield
        finally:
            self._leave()

    def close(self, seconds: float) -> None:
        """Let no request through for some seconds."""
        with self._lock:
            now = time.monotonic()
            # The answers to requests that left together widen the gap once.
            if now >= self._opens:
                self._gap = min(max(_GAP, 2 * self._gap), _LONGEST_GAP)
            if (opens := now + min(seconds, LONGEST_CLOSED)) > self._opens:
                self._opens = self._next = opens
                self._closings += 1

    def passed(self, deadline: float) -> bool:
        """Wait until a request may leave; return False, at once, if that is after a deadline.

        Args:
            deadline: By `time.monotonic`.
        """
        while True:
            with self._lock:
                start, closings = self._reserved(deadline), self._closings
            if start is None:
                return False
            if (seconds := start - time.monotonic()) > 0:
                pause(seconds)
            if closings == self._closings:
                return True

    def _reserved(self, deadline: float) -> float | None:
        """Return when the next request may leave, and keep this moment for it; None if too late."""
        now = time.monotonic()
        if self._next <= now:
            # None waits before this one; so only a first request after a wait leaves a gap.
            if self._next != self._opens:
                self._gap = 0.0
            self._next = now + self._gap
            return now
        if self._next > deadline:
            return None
        start, self._next = self._next, self._next + self._gap
        return start

    def _turn(self, most: int | None) -> "Future[None] | None":
        """Take a place; return a future of one where all are taken."""
        with self._lock:
            if most is None or (self._under_way < most and not self._queue):
                self._under_way += 1
                return None
            turn: Future[None] = Future()
            self._queue.append(turn)
            return turn

    def _leave(self) -> None:
        """Give the place to the first that waits for one."""
        with self._lock:
            while self._queue:
                turn = self._queue.popleft()
                if turn.set_running_or_notify_cancel():
                    turn.set_result(None)
                    return
            self._under_way -= 1


#: The gates of this process, by the server's address.
GATES: dict[str, Gate] = {}


def gate_of(server: str) -> Gate:
    """Return the gate of a server, by its address; one for all calls of this process."""
    return GATES.setdefault(server, Gate())
