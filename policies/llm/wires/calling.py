"""A call of a model: its request is sent again until a reply arrives or a deadline passes.

A call blocks its thread. Where other decisions go on meanwhile, each has a thread of its own
(`in_thread`). The gate limits how many calls are under way at once, and holds a wait that all
calls share.
"""

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import AbstractContextManager, nullcontext, suppress
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

from attrs import define, field, frozen

from desim.errors import PolicyFailed, UsageError
from desim.schema.validators import not_negative
from policies.llm.wires.wire import ModelReply, NoReply, Request, Send

T = TypeVar("T")

#: Seconds that a call may take at most, and for which a server can keep all calls waiting.
MAX_TIMEOUT, LONGEST_CLOSED = 86_400.0, 3_600.0

#: Seconds before the first request is sent again; doubled each time, up to the second number.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0

#: Seconds between two requests that have waited for a busy server.
GAP = 0.05

#: Not the global generator, which an episode seeds.
_jitter = random.Random()  # noqa: S311

#: The decision that a thread works on; None in a thread that another caller began.
_decision: "ContextVar[Future[Any] | None]" = ContextVar("llm_decision", default=None)


async def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """Return the result of a function that is called in a thread of its own.

    A cancelled one goes on in its thread and sends no further request; it does not keep the process
    alive.
    """
    import asyncio

    future: Future[T] = Future()
    context = copy_context()
    context.run(_decision.set, future)

    def work() -> None:
        with suppress(InvalidStateError):  # cancelled
            try:
                result = function(*arguments)
            except BaseException as fault:  # noqa: BLE001 (raised where the result is awaited)
                future.set_exception(fault)
            else:
                future.set_result(result)

    threading.Thread(target=context.run, args=(work,), daemon=True, name="desim-llm").start()
    return await asyncio.wrap_future(future)


def _check_wanted() -> None:
    if (decision := _decision.get()) and decision.cancelled():
        raise CancelledError


@define(eq=False)
class Gate:
    """Lets requests to one server through; threads share it.

    It is closed while the server has too much to do. Then those that waited leave one by one.
    """

    _lock: threading.Lock = field(factory=threading.Lock, init=False)
    _places: dict[int, threading.Semaphore] = field(factory=dict, init=False)
    _opens: float = field(default=0.0, init=False)
    _next: float = field(default=0.0, init=False)

    @property
    def seconds_closed(self) -> float:
        """Seconds until it opens; 0 while it is open."""
        return max(0.0, round(self._opens - time.monotonic(), 3))

    def place(self, most: int | None) -> AbstractContextManager[object]:
        """Return a context of one of so many calls under way, which waits for a place."""
        if most is None:
            return nullcontext()
        with self._lock:
            return self._places.setdefault(most, threading.Semaphore(most))

    def close(self, seconds: float) -> None:
        """Let no request through for some seconds."""
        opens = time.monotonic() + min(seconds, LONGEST_CLOSED)
        with self._lock:
            if opens > self._opens:
                self._opens = self._next = opens

    def passed(self, deadline: float) -> bool:
        """Wait until a request may leave; return False, at once, if that is after a deadline."""
        while True:
            with self._lock:
                start, opens = max(self._next, time.monotonic()), self._opens
                if start > deadline:
                    return False
                if start == self._next:
                    self._next += GAP
            time.sleep(max(0.0, start - time.monotonic()))
            if opens == self._opens:  # else it was closed again
                return True


#: The gates of this process, by the server's address.
GATES: dict[str, Gate] = {}


def gate_of(server: str) -> Gate:
    """Return the gate of a server, by its address."""
    return GATES.setdefault(server, Gate())


def _possible_timeout(_: object, __: object, value: float) -> None:
    if not 0 < value <= MAX_TIMEOUT:
        raise UsageError(f"timeout={value:g} was given; it is above 0 and at most {MAX_TIMEOUT:g}")


@frozen
class Calling:
    """A `complete` that sends a request again while it brings no reply.

    Attributes:
        send: Sends one request.
        name: The model and its server, for error texts.
        timeout: Seconds for the whole call, without the waits for money and for a place.
        resends: The largest number of requests beyond the first.
        gate: Lets the calls of one server through; shared by all of this process.
        at_once: The largest number of calls of the server under way; None for no limit.
        reserved: Reserves the money for a call while it is under way.
    """

    send: Send
    name: str
    timeout: float = field(default=300.0, validator=_possible_timeout)
    resends: int = field(default=3, validator=not_negative)
    gate: Gate = field(factory=Gate, repr=False)
    at_once: int | None = None
    reserved: Callable[[Request], AbstractContextManager[object]] = nullcontext

    def __call__(self, request: Request) -> ModelReply:
        """Return the first reply.

        Raises:
            PolicyFailed: No request brought one in time.
        """
        with self.reserved(request), self.gate.place(self.at_once):
            deadline = time.monotonic() + self.timeout
            for sent in range(1, self.resends + 2):
                if not self.gate.passed(deadline):
                    raise PolicyFailed(
                        f"{self.name} has too much to do and asks to wait "
                        f"{self.gate.seconds_closed:g} s, which is beyond the timeout"
                    )
                _check_wanted()
                try:
                    return self.send(request, deadline - time.monotonic())
                except NoReply as fault:
                    failed = fault
                seconds = _pause(sent, failed.wait)
                if failed.busy:
                    self.gate.close(seconds)
                left = deadline - time.monotonic()
                if failed.final or sent > self.resends or seconds >= left:
                    break
                time.sleep(seconds)
            raise PolicyFailed(self._sentence(failed, sent, left))

    def _sentence(self, failed: NoReply, sent: int, left: float) -> str:
        """Return why the call has failed."""
        if left <= 0:
            return f"{self.name} did not answer within {self.timeout:g} s"
        times = f", {sent} times" if sent > 1 else ""
        wait = failed.wait or 0
        later = f"; it asks to wait {wait:g} s, which is beyond the timeout" if wait >= left else ""
        return f"{self.name} {failed}{times}{later}"


def _pause(sent: int, wait: float | None) -> float:
    if wait is not None:
        return wait
    longest = min(_FIRST_PAUSE * 2.0 ** min(sent - 1, 10), _LONGEST_PAUSE)
    return longest * (1 - _jitter.random() / 4)
