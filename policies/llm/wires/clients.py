"""The HTTP clients of this process: one for each event loop, which keeps connections."""

import atexit
import contextlib
import ssl
import threading
from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import urlsplit

from attrs import define

from policies.llm.wires.wire import NoReply

#: Seconds for which an unused connection is kept: fewer than those for which servers keep theirs,
#: mostly 5 or more.
_SECONDS_KEPT = 1.0

#: Seconds for which the end of the process waits for connections to be closed.
_SECONDS_TO_CLOSE = 0.5

#: The client of each event loop, and the generator that closes it when the loop shuts down.
_clients: "dict[Any, tuple[Any, AsyncGenerator[Any, None]]]" = {}

#: Set once the process ends.
_ending = threading.Event()

#: Servers that have closed a kept connection under a request.
_not_kept: set[str] = set()


@define
class Connection:
    """The state of the connection of one request.

    Attributes:
        reused: Whether another request went before on it.
        answered: Whether the server has sent the head of a response.
    """

    reused: bool = False
    answered: bool = False

    @property
    def closed_before(self) -> bool:
        """Whether a connection that broke may have been closed before the request came."""
        return self.reused and not self.answered


async def kept_client(url: str, context: ssl.SSLContext) -> Any:
    """Return the client of the loop that runs; None for a server whose connections are not kept."""
    import asyncio

    if urlsplit(url).netloc in _not_kept:
        return None
    loop = asyncio.get_running_loop()
    if loop not in _clients:
        closing = _held(loop, context)
        # Nothing is awaited in there, so that no other request comes between.
        _clients[loop] = await anext(closing), closing
    return _clients[loop][0]


def check_not_ending() -> None:
    """Send no request, also no second time, once the process ends and closes its connections."""
    if _ending.is_set():
        raise NoReply("was not asked, because the process ends", final=True)


def keep_no_more(url: str) -> None:
    """Keep no connection to a server from now on."""
    _not_kept.add(urlsplit(url).netloc)


async def _held(loop: Any, context: ssl.SSLContext) -> AsyncGenerator[Any, None]:
    """Yield a client, which is closed when the loop closes its generators: at its end."""
    async with new_client(context, keepalive_timeout=_SECONDS_KEPT) as client:
        try:
            yield client
        finally:
            _clients.pop(loop, None)


def new_client(context: ssl.SSLContext, **connections: Any) -> Any:
    """Return a client, with options of its connections; a context manager."""
    import aiohttp

    tracing = aiohttp.TraceConfig()
    tracing.on_connection_reuseconn.append(_note_reuse)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=context, limit=0, **connections),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),
        auto_decompress=False,
        trace_configs=[tracing],
    )


async def _note_reuse(_: Any, context: Any, __: Any) -> None:
    if context.trace_request_ctx:
        context.trace_request_ctx.reused = True


@atexit.register
def _close_all() -> None:
    """Close what threads hold that end with the process; aiohttp would complain of it."""
    _ending.set()
    for loop, (_, closing) in list(_clients.items()):
        if loop.is_running():
            import asyncio

            with contextlib.suppress(Exception):
                asyncio.run_coroutine_threadsafe(closing.aclose(), loop).result(_SECONDS_TO_CLOSE)
