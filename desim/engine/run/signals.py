"""Ctrl-C during steps that must not be interrupted, such as the start of workers.

Also the last resort against a call that never returns: ending its worker process. The alarm of
`desim.core.limits` raises an exception, which a policy may catch and a call into C never sees.
"""

import contextlib
import faulthandler
import os
import signal
import threading
from collections.abc import Iterator
from typing import Any, TextIO


@contextlib.contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Defer a Ctrl-C during the block to its end.

    Nothing is deferred outside the main thread, which alone handles signals, or if the process
    ignores SIGINT, as one started in the background does.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    received: list[Any] = []
    signal.signal(signal.SIGINT, lambda *arguments: received.append(arguments))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if received:
        handler(*received[0])


def block_interrupts() -> None:
    """Block SIGINT in this thread, and in the processes that it starts until they unblock it.

    Ctrl-C in a terminal reaches the whole process group; the parent alone handles it.
    """
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


#: Seconds beyond the limit after which the process is ended.
_GRACE = 3.0

#: Where the traceback goes that `faulthandler` insists on writing; empty in all other processes.
_nowhere: list[TextIO] = []


def allow_exit() -> None:
    """Allow this process to be ended; its parent must detect that and continue."""
    _nowhere.append(open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 (stays open)


@contextlib.contextmanager
def hard_limit(seconds: float | None) -> Iterator[None]:
    """End the process, if `allow_exit` was called, once the block takes longer than a limit."""
    if seconds is None or not _nowhere:
        yield
        return
    faulthandler.dump_traceback_later(seconds + _GRACE, exit=True, file=_nowhere[0])
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
