"""Waiting in the middle of a decision, without a coroutine in every function on the way.

Conversations, methods and the router are plain functions that call `complete` somewhere inside.
Where an episode is played by `play`, such a call blocks its thread. Where it is played by
`play_async`, the decision runs in a greenlet, which is left where the call waits and entered again
once there is a result: other decisions go on meanwhile, in the same thread.
"""

import os
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextvars import ContextVar, copy_context
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")

#: Leaves the greenlet of the present decision with an awaitable; None outside a greenlet.
_leave: ContextVar[Callable[[Any], Any] | None] = ContextVar("leave_decision", default=None)


async def suspended(function: Callable[..., T], *arguments: Any) -> T:
    """Call a function that is left wherever it waits; a cancellation is raised at that place."""
    import greenlet

    mine = greenlet.getcurrent()
    inner = greenlet.greenlet(function)
    inner.gr_context = copy_context()
    inner.gr_context.run(_leave.set, mine.switch)
    given = inner.switch(*arguments)
    while not inner.dead:
        try:
            value = await given
        except BaseException as fault:  # noqa: BLE001 (raised in the function)
            given = inner.throw(fault)
        else:
            given = inner.switch(value)
    result: T = given
    return result


def wait(work: Coroutine[Any, Any, T], seconds: float | None = None) -> T:
    """Return the result of a coroutine: in the loop of the driver, or in that of `play`'s requests.

    Args:
        work: The coroutine.
        seconds: After which a thread does not wait any longer; the coroutine is cancelled.

    Raises:
        TimeoutError: A thread has waited so long.
    """
    if leave := _leave.get():
        value: T = leave(work)
        return value
    import asyncio

    future = asyncio.run_coroutine_threadsafe(work, _loop_of(os.getpid()))
    try:
        return future.result(seconds)
    except BaseException:
        future.cancel()
        raise


def result_of(future: "Future[T]") -> T:
    """Return the result of a future that any thread may set."""
    if leave := _leave.get():
        import asyncio

        value: T = leave(asyncio.wrap_future(future))
        return value
    return future.result()


def pause(seconds: float) -> None:
    """Wait some seconds."""
    if leave := _leave.get():
        import asyncio

        leave(asyncio.sleep(seconds))
    else:
        import time

        time.sleep(seconds)


@cache
def _loop_of(_process: int) -> Any:
    """Return the event loop of all requests of this process that block their thread.

    Its thread does not keep the process alive, so that Ctrl-C ends it at once.
    """
    import asyncio
    import threading

    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="desim-llm-requests", daemon=True).start()
    return loop
