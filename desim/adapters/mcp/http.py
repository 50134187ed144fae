"""A server over streamable HTTP, for clients that hold its token.

A stopped server ends within seconds, even if a policy still waits in a thread.
"""

import asyncio
import contextlib
import os
import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.routing import Route

from desim.adapters.mcp.episodes import Episodes
from desim.adapters.web.access import Access
from desim.adapters.web.guard import Application, Guard, Message, Receive, Send
from desim.adapters.web.server import config_of

#: Seconds for calls under way when a server stops. A record is whole after every line.
_GRACE = 3.0


#: The exit code of a process that Ctrl-C stops.
_INTERRUPTED = 130


@contextlib.contextmanager
def in_time() -> Iterator[None]:
    """End the process if the block takes longer than `_GRACE`."""
    late = threading.Timer(_GRACE, _end)
    late.daemon = True
    late.start()
    try:
        yield
    finally:
        late.cancel()


def _end() -> None:
    sys.stderr.write("desim: stopped while a policy was deciding\n")
    sys.stderr.flush()
    os._exit(_INTERRUPTED)


#: Where the server answers.
PATH = "/mcp"


#: Bytes of a request, at most.
_LARGEST = 4 * 1024 * 1024


#: The names of hosts are checked by `Guard`.
_UNCHECKED = TransportSecuritySettings(enable_dns_rebinding_protection=False)


def run(server: Any, episodes: Episodes, at: socket.socket, access: Access, idle: float) -> None:
    """Serve until the process is stopped.

    Args:
        server: A server of the package.
        episodes: The episodes that it plays.
        at: A listening socket.
        access: The rules by which requests are let in.
        idle: Seconds after which an idle session ends.
    """
    config = config_of(
        app_of(server, episodes, access, idle),
        episodes.most,
        log_config=None,
        ws="none",
        timeout_graceful_shutdown=1,
    )
    asyncio.run(uvicorn.Server(config).serve(sockets=[at]))


def app_of(server: Any, episodes: Episodes, access: Access, idle: float) -> Application:
    """Return the ASGI application of a server."""
    manager = StreamableHTTPSessionManager(
        server,
        security_settings=_UNCHECKED,
        session_idle_timeout=idle,
        max_request_body_size=_LARGEST,
    )

    @contextlib.asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        async with manager.run():
            closing = asyncio.create_task(_close_idle(episodes, idle / 4))
            try:
                yield
            finally:
                closing.cancel()
                with in_time():
                    await episodes.close_all()

    answering = _Leaving(manager.handle_request, episodes)
    inner = Starlette(routes=[Route(PATH, endpoint=answering)], lifespan=lifespan)
    return Guard(inner, access, _LARGEST)


class _Leaving:
    """Closes the episode of a session that its client ends.

    Args:
        app: The application that answers requests.
        episodes: The episodes of the server.
    """

    def __init__(self, app: Application, episodes: Episodes) -> None:
        self._app, self._episodes = app, episodes

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)
        if scope["method"] == "DELETE":
            headers: Mapping[bytes, bytes] = dict(scope["headers"])
            await self._episodes.leave(headers.get(b"mcp-session-id", b"").decode("latin-1"))


async def _close_idle(episodes: Episodes, every: float) -> None:
    while True:
        await asyncio.sleep(every)
        await episodes.close_idle()
