"""Ctrl-C while something must not be left half done."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

__all__ = ["interrupts_blocked", "interrupts_deferred"]


@contextlib.contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Handle a Ctrl-C that comes during the block at its end.

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


@contextlib.contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Block SIGINT in this thread, and in the processes that it starts until they unblock it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
