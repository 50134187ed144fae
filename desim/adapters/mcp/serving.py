"""A world served to agents: on the standard streams, or over streamable HTTP.

A stopped server ends within seconds, even if a policy still waits in a thread.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import anyio
import uvicorn
from attrs import frozen
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.routing import Route

from desim.adapters.mcp import standard
from desim.adapters.mcp.episodes import Episodes
from desim.adapters.mcp.mcp_server import server_of
from desim.adapters.seat.setup import Setup
from desim.adapters.web.access import Access
from desim.adapters.web.guard import Application, Guard, Message, Receive, Send
from desim.adapters.web.listening import Entrance, config_of, entrance

#: Where the server answers over HTTP.
PATH = "/mcp"

#: Seconds after which a session and an episode without a call are closed.
_IDLE = 1800.0

#: Seconds for calls under way when a server stops. A record is whole after every line.
_GRACE = 3.0

#: The exit code of a process that Ctrl-C stops.
_INTERRUPTED = 130

#: Bytes of a request, at most.
_LARGEST = 4 * 1024 * 1024

#: The names of hosts are checked by `Guard`.
_UNCHECKED = TransportSecuritySettings(enable_dns_rebinding_protection=False)


def serve(
    setup: Setup,
    *,
    stdio: bool = False,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str = "",
    records: str | Path | None = None,
    seeds: Sequence[int] = (),
    max_sessions: int = 64,
    idle: float = _IDLE,
    as_json: bool = False,
) -> None:
    """Serve a world by the Model Context Protocol until the process is stopped.

    Args:
        setup: The world, the seats that clients play, the policies of the others.
        stdio: Serve one client on standard input and output, until its stream ends; otherwise
            streamable HTTP.
        host: The host to listen on.
        port: The port; 0 takes a free one.
        token: The token that clients must send as `Authorization: Bearer TOKEN`; empty makes a new
            one, which is printed on standard error.
        records: The folder that receives a record of each episode; None records nothing.
        seeds: The seeds of the episodes; see `Episodes`.
        max_sessions: Episodes that may be open at the same time.
        idle: Seconds after which a session and an episode without a call are closed.
        as_json: Print one line of JSON with address and token on standard output, over HTTP.

    Raises:
        UsageError: The port cannot be listened on, the folder cannot be written, or the token
            cannot be sent.
    """
    episodes = Episodes(setup, records=records, most=max_sessions, idle_seconds=idle, seeds=seeds)
    where = Where(stdio=stdio, host=host, port=port, token=token, as_json=as_json)
    serve_at(where, server_of(episodes), episodes, idle)


class ServedEpisodes(Protocol):
    """The episodes behind a server, as `Episodes` has them."""

    most: int

    async def leave(self, client: str) -> None:
        """Close what a client has open whose session is over."""
        ...

    async def close_idle(self) -> None:
        """Close what no client has used for long."""
        ...

    async def close_all(self) -> None:
        """Close everything, as the server stops."""
        ...


@frozen(kw_only=True)
class Where:
    """The place of a server; see `serve` for its attributes."""

    stdio: bool = False
    host: str = "127.0.0.1"
    port: int = 0
    token: str = ""
    as_json: bool = False


def serve_at(where: Where, server: Any, episodes: ServedEpisodes, idle: float = _IDLE) -> None:
    """Serve until the process is stopped; see `serve`."""
    if where.stdio:
        anyio.run(_serve_stdio, server, episodes)
        return
    with entrance(where.host, where.port, where.token) as entered:
        _announce(entered, as_json=where.as_json)
        config = config_of(
            app_of(server, episodes, entered.access, idle),
            episodes.most,
            log_config=None,
            ws="none",
            timeout_graceful_shutdown=1,
        )
        asyncio.run(uvicorn.Server(config).serve(sockets=[entered.at]))


async def _serve_stdio(server: Any, episodes: ServedEpisodes) -> None:
    """Serve until the client's stream ends, or a signal stops the process."""
    stopped = False
    with contextlib.ExitStack() as stack:
        async with anyio.create_task_group() as group:

            async def stop() -> None:
                nonlocal stopped
                with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
                    async for _ in signals:
                        stopped = True
                        stack.enter_context(in_time())
                        group.cancel_scope.cancel()

            group.start_soon(stop)
            await standard.run(server)
            group.cancel_scope.cancel()
        await episodes.close_all()
    if stopped:
        raise KeyboardInterrupt


def _announce(entered: Entrance, *, as_json: bool) -> None:
    """Print the address of the server, and the token if it is new."""
    address, new = entered.address + PATH, entered.new_token
    enter = f"; send the header Authorization: Bearer {new}" if new else ""
    print(f"desim: MCP at {address}{enter}", file=sys.stderr, flush=True)  # noqa: T201 (for people)
    if as_json:
        facts = {"url": address, "token": entered.access.token}
        print(json.dumps(facts), flush=True)  # noqa: T201 (for programs)


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


# -- HTTP ------------------------------------------------------------------------------------------


def app_of(server: Any, episodes: ServedEpisodes, access: Access, idle: float) -> Application:
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
    """Closes the episode of a session that its client ends."""

    def __init__(self, app: Application, episodes: ServedEpisodes) -> None:
        self._app, self._episodes = app, episodes

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)
        if scope["method"] == "DELETE":
            headers: Mapping[bytes, bytes] = dict(scope["headers"])
            await self._episodes.leave(headers.get(b"mcp-session-id", b"").decode("latin-1"))


async def _close_idle(episodes: ServedEpisodes, every: float) -> None:
    while True:
        await asyncio.sleep(every)
        await episodes.close_idle()
