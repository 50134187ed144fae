"""A server over streamable HTTP, for clients that hold its token."""

import asyncio
import contextlib
import hmac
import json
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.routing import Route

from desim.adapters.mcp.episodes import Episodes
from desim.adapters.mcp.stopping import in_time
from desim.errors import UsageError

__all__ = ["app_of", "checked_token", "listening", "run"]

#: Where the server answers.
_PATH = "/mcp"

#: Bytes of a request, at most.
_LARGEST = 4 * 1024 * 1024

_Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
_Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
_App = Callable[[MutableMapping[str, Any], _Receive, _Send], Awaitable[None]]

#: Hosts that listen everywhere, whose clients may name this machine in any way.
_EVERYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 (compared with, not listened on)


def run(
    server: Any, episodes: Episodes, at: socket.socket, *, host: str, token: str, idle: float
) -> None:
    """Serve until the process is stopped.

    Args:
        server: A server of the package.
        episodes: What it plays.
        at: A socket that listens.
        host: The name or address under which it listens.
        token: What clients must send as a bearer token.
        idle: Seconds after which an idle session ends.
    """
    hosts = host, at.getsockname()[0]
    app = app_of(server, episodes, hosts=hosts, token=token, idle=idle)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=1,
    )
    asyncio.run(uvicorn.Server(config).serve(sockets=[at]))


def app_of(
    server: Any, episodes: Episodes, *, hosts: Sequence[str], token: str, idle: float
) -> Any:
    """Return the ASGI application of a server that is known by some names and addresses."""
    manager = StreamableHTTPSessionManager(
        server,
        security_settings=_security(hosts),
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

    guarded = _Guard(manager.handle_request, episodes, token)
    return Starlette(routes=[Route(_PATH, endpoint=guarded)], lifespan=lifespan)


def checked_token(given: str) -> tuple[str, bool]:
    """Return the token of a server, and whether it is a new one.

    Raises:
        UsageError: It cannot be sent in a header.
    """
    if not given:
        return secrets.token_urlsafe(24), True
    if not (given.isascii() and given.isprintable() and " " not in given):
        raise UsageError("a token consists of visible ASCII characters, without a space")
    return given, False


def listening(host: str, port: int) -> tuple[socket.socket, str]:
    """Return a socket that listens, and the address of the server.

    Raises:
        UsageError: The port is taken, or the host is none of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small replies at once only where the protocol is named.
    at = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        at.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        at.bind((host, port))
        at.listen(128)
    except (OSError, UnicodeError) as fault:
        at.close()
        why = getattr(fault, "strerror", None) or fault
        raise UsageError(f"cannot listen on {host} port {port}: {why}") from None
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 (as above)
    shown = f"[{name}]" if ":" in name else name
    return at, f"http://{shown}:{at.getsockname()[1]}{_PATH}"


class _Guard:
    """Lets requests with the token through; closes the episode of a session that its client ends.

    Args:
        app: What answers them.
        episodes: What is played.
        token: The token.
    """

    def __init__(self, app: _App, episodes: Episodes, token: str) -> None:
        self._app, self._episodes = app, episodes
        self._expected = b"Bearer " + token.encode()

    async def __call__(
        self, scope: MutableMapping[str, Any], receive: _Receive, send: _Send
    ) -> None:
        headers: Mapping[bytes, bytes] = dict(scope["headers"])
        given = headers.get(b"authorization", b"")
        # `compare_digest` takes as long for every text of one length.
        if not hmac.compare_digest(given, self._expected):
            await _refuse(send)
            return
        await self._app(scope, receive, send)
        if scope["method"] == "DELETE":
            await self._episodes.leave(headers.get(b"mcp-session-id", b"").decode("latin-1"))


async def _refuse(send: _Send) -> None:
    body = json.dumps({"error": "send the header `Authorization: Bearer TOKEN`"}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"www-authenticate", b"Bearer"),
    ]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _security(hosts: Sequence[str]) -> TransportSecuritySettings:
    """Return the names by which a request may address the server, against DNS rebinding."""
    if set(hosts) & set(_EVERYWHERE):  # the token alone protects it: other origins have none
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    own = [f"[{host}]" if ":" in host else host.lower() for host in hosts]
    names = list(dict.fromkeys([*own, "127.0.0.1", "localhost", "[::1]"]))
    names += [f"{name}:*" for name in names]  # a client leaves out port 80
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=names,
        allowed_origins=[f"http://{name}" for name in names],
    )


async def _close_idle(episodes: Episodes, every: float) -> None:
    while True:
        await asyncio.sleep(every)
        await episodes.close_idle()
