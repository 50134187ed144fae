"""Calls that take long, in a thread beside an event loop."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from functools import partial
from typing import Any


async def in_background(call: Callable[..., Any], *arguments: Any) -> Any:
    """Run a call in a thread of its own and return its result.

    The thread is a daemon, unlike those of executors: one that still computes does not keep a
    stopped process from ending.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def work() -> None:
        try:
            settle = partial(_settle, done, call(*arguments), None)
        except BaseException as error:  # noqa: BLE001 (raised where the call is awaited)
            settle = partial(_settle, done, None, error)
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle)

    threading.Thread(target=work, daemon=True).start()
    return await done


def _settle(done: "asyncio.Future[Any]", result: Any, error: BaseException | None) -> None:
    if done.cancelled():
        return
    if error is None:
        done.set_result(result)
    else:
        done.set_exception(error)
