"""A world served to agents: on the standard streams, or over streamable HTTP.

A stopped server ends within seconds, even if a policy still waits in a thread.
"""

import asyncio
import contextlib
import hmac
import json
import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse

from desim.adapters.mcp.episodes import Episodes
from desim.adapters.mcp.mcp_server import server_of
from desim.adapters.seat.setup import Setup
from desim.errors import UsageError

Message = MutableMapping[str, Any]
Application = Callable[[Message, Any, Any], Awaitable[None]]

#: Where the server answers over HTTP.
PATH = "/mcp"

#: Seconds after which a session and an episode without a call are closed.
_IDLE = 1800.0

#: Seconds for calls under way when a server stops. A record is whole after every line.
_GRACE = 3.0

#: The exit code of a process that Ctrl-C stops.
_INTERRUPTED = 130

#: Hosts that listen on all interfaces.
_EVERYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 (compared with, not listened on)


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
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise UsageError("a token consists of visible ASCII characters, without a space")
    episodes = Episodes(setup, records=records, most=max_sessions, idle_seconds=idle, seeds=seeds)
    if stdio:
        anyio.run(_serve_stdio, episodes)
        return
    with _listening(host, port) as at:
        sent = token or secrets.token_urlsafe(24)
        _announce(_address(at, host) + PATH, sent, made=not token, as_json=as_json)
        config = uvicorn.Config(
            _Door(_app(episodes, host, at, idle), sent, episodes),
            limit_concurrency=4 * max_sessions + 64,
            log_config=None,
            access_log=False,
            server_header=False,
            ws="none",
            timeout_graceful_shutdown=1,
        )
        asyncio.run(uvicorn.Server(config).serve(sockets=[at]))


async def _serve_stdio(episodes: Episodes) -> None:
    """Serve until the client's stream ends, or a signal stops the process.

    Meanwhile prints of the world, a policy or a library go to standard error.
    """
    stopped = False
    server = server_of(episodes)
    with contextlib.ExitStack() as stack:
        async with anyio.create_task_group() as group:

            async def stop() -> None:
                nonlocal stopped
                with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
                    async for _ in signals:
                        stopped = True
                        stack.enter_context(_in_time())
                        group.cancel_scope.cancel()

            group.start_soon(stop)
            try:
                async with stdio_server() as (read, write):
                    with contextlib.redirect_stdout(sys.stderr):
                        await server.run(read, write, server.create_initialization_options())
            except* BrokenPipeError:
                pass  # the client reads no more, and so its game is over
            group.cancel_scope.cancel()
        await episodes.close_all()
    if stopped:
        raise KeyboardInterrupt


def _announce(address: str, token: str, *, made: bool, as_json: bool) -> None:
    """Print the address of the server, and the token if it is new."""
    enter = f"; send the header Authorization: Bearer {token}" if made else ""
    print(f"desim: MCP at {address}{enter}", file=sys.stderr, flush=True)  # noqa: T201 (for people)
    if as_json:
        print(json.dumps({"url": address, "token": token}), flush=True)  # noqa: T201 (for programs)


@contextlib.contextmanager
def _in_time() -> Iterator[None]:
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


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small replies at once only if the protocol is named.
    at = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        at.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        at.bind((host, port))
        at.listen(128)
    except (OSError, UnicodeError, OverflowError) as fault:
        at.close()
        why = getattr(fault, "strerror", None) or fault
        raise UsageError(f"cannot listen on {host} port {port}: {why}") from None
    return at


def _address(at: socket.socket, host: str) -> str:
    """Return the address of a server; one on all interfaces has that with the machine's name."""
    name = socket.gethostname() if host in _EVERYWHERE else host
    shown = f"[{name}]" if ":" in name else name
    return f"http://{shown}:{at.getsockname()[1]}"


def _security(host: str, at: socket.socket) -> TransportSecuritySettings:
    """Return the hosts and origins of requests, against pages that rebind their name.

    A server on all interfaces has names that it does not know, where the token alone protects it.
    """
    if host in _EVERYWHERE:
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    names = {host.lower(), at.getsockname()[0], "127.0.0.1", "localhost", "::1"}
    shown = [f"[{name}]" if ":" in name else name for name in sorted(names)]
    hosts = [each for name in shown for each in (name, f"{name}:*")]
    origins = [f"http://{each}" for each in hosts]
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)


def _app(episodes: Episodes, host: str, at: socket.socket, idle: float) -> Any:
    """Return the ASGI application of a server, which closes idle episodes, and all at its end."""
    app = server_of(episodes).streamable_http_app(
        streamable_http_path=PATH,
        session_idle_timeout=idle,
        transport_security=_security(host, at),
    )
    of_sessions = app.router.lifespan_context

    @contextlib.asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        async with of_sessions(app):
            closing = asyncio.create_task(_close_idle(episodes, idle / 4))
            try:
                yield
            finally:
                closing.cancel()
                with _in_time():
                    await episodes.close_all()

    app.router.lifespan_context = lifespan
    return app


class _Door:
    """Refuses requests without the token; closes the episode of a session that its client ends."""

    def __init__(self, inner: Application, token: str, episodes: Episodes) -> None:
        self._inner, self._expected = inner, f"Bearer {token}".encode()
        self._episodes = episodes

    async def __call__(self, scope: Message, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        is_request = scope["type"] == "http"
        given = headers.get(b"authorization", b"")
        if is_request and not hmac.compare_digest(given, self._expected):
            refused = JSONResponse(
                {"detail": "send the header Authorization: Bearer TOKEN"},
                401,
                {"www-authenticate": "Bearer"},
            )
            return await refused(scope, receive, send)
        await self._inner(scope, receive, send)
        if is_request and scope["method"] == "DELETE":
            await self._episodes.leave(headers.get(b"mcp-session-id", b"").decode("latin-1"))
        return None


async def _close_idle(episodes: Episodes, every: float) -> None:
    while True:
        await asyncio.sleep(every)
        await episodes.close_idle()
