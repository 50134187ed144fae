"""A world behind the Model Context Protocol: the server, over streams or HTTP.

Tried with release 2.3.0 of the package `mcp`.
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
from types import FrameType
from typing import Any

import uvicorn
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse

from desim.adapters.mcp_episodes import IDLE, Episodes
from desim.adapters.seat.setup import Setup
from desim.adapters.seat.stepped_session import as_json as json_of
from desim.errors import DesimError, UsageError
from desim.version import __version__

#: Where the server answers over HTTP.
PATH = "/mcp"

#: Seconds for calls under way when a server stops, as a record is whole after every line; and the
#: exit code of a process that does not end by itself.
_GRACE, _INTERRUPTED = 3.0, 130

#: Hosts that listen on all interfaces.
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 (compared with, not listened on)


def server_of(episodes: Episodes) -> Any:
    """Return a server of the package that plays episodes; the caller runs it over a transport."""

    async def list_tools(*_: Any) -> Any:
        listed = [
            types.Tool(name=name, description=tool.description, input_schema=dict(tool.parameters))
            for name, tool in episodes.tools.items()
        ]
        return types.ListToolsResult(tools=listed)

    async def call_tool(_: Any, params: Any) -> Any:
        try:
            facts = await episodes.call(params.name, params.arguments)
        except DesimError as fault:
            return _result(str(fault), is_error=True)
        return _result(json_of(facts), structured_content=facts)

    return Server(
        "desim",
        version=__version__,
        instructions=episodes.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        # Without it all tools would be listed before every call.
        get_tool_input_schema=lambda name: episodes.tools[name].parameters,
    )


def _result(text: str, **more: Any) -> Any:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], **more)


def serve(
    setup: Setup,
    *,
    stdio: bool = False,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str = "",
    as_json: bool = False,
    max_sessions: int = 64,
    **options: Any,
) -> None:
    """Serve a world by the Model Context Protocol until the process is stopped.

    A stopped server ends within seconds, even if a policy still waits in a thread.

    Args:
        setup: The world, the seats that clients play, the policies of the others.
        stdio: Serve one client on standard input and output, until its stream ends; otherwise
            streamable HTTP.
        host: The host to listen on.
        port: The port; 0 takes a free one.
        token: The token that clients must send as `Authorization: Bearer TOKEN`; empty makes a new
            one, which is printed on standard error.
        as_json: Print one line of JSON with address and token on standard output, over HTTP.
        max_sessions: Episodes that may be open at the same time.
        options: `records` and `seeds` of `Episodes`.

    Raises:
        UsageError: The port cannot be listened on, the folder cannot be written, or the token
            cannot be sent.
    """
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise UsageError("a token consists of visible ASCII characters, without a space")
    episodes = Episodes(setup, most=max_sessions, **options)
    if stdio:
        signal.signal(signal.SIGINT, _interrupted)
        asyncio.run(_serve_stdio(episodes))
        return
    with _listening(host, port) as at:
        sent = token or secrets.token_urlsafe(24)
        address = f"http://{_in_url(host)}:{at.getsockname()[1]}{PATH}"
        enter = "" if token else f"; send the header Authorization: Bearer {sent}"
        print(f"desim: MCP at {address}{enter}", file=sys.stderr, flush=True)  # noqa: T201 (people)
        if as_json:
            print(json.dumps({"url": address, "token": sent}), flush=True)  # noqa: T201 (programs)
        app = server_of(episodes).streamable_http_app(
            streamable_http_path=PATH,
            session_idle_timeout=IDLE,
            transport_security=_security(host, at),
        )
        config = uvicorn.Config(
            _guarded(app, sent),
            limit_concurrency=4 * max_sessions + 64,
            log_config=None,
            access_log=False,
            server_header=False,
            ws="none",
            timeout_graceful_shutdown=1,
        )
        _HttpServer(config).run(sockets=[at])


async def _serve_stdio(episodes: Episodes) -> None:
    """Serve until the client's stream ends.

    Meanwhile prints of the world, a policy or a library go to standard error.
    """
    server = server_of(episodes)
    try:
        async with stdio_server() as (read, write):
            with contextlib.redirect_stdout(sys.stderr):
                await server.run(read, write, server.create_initialization_options())
    except* BrokenPipeError:
        pass  # the client reads no more, and so its game is over
    await episodes.close_unused()


class _HttpServer(uvicorn.Server):
    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop the server as the package does, but in time."""
        _end_in_time()
        super().handle_exit(sig, frame)


def _interrupted(*_: Any) -> None:
    _end_in_time()
    raise KeyboardInterrupt


def _end_in_time() -> None:
    """Let the process end within seconds, even if a policy still decides in a thread."""
    late = threading.Timer(_GRACE, os._exit, [_INTERRUPTED])
    late.daemon = True
    late.start()


# -- HTTP ------------------------------------------------------------------------------------------


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        at = socket.create_server((host, port), family=family, backlog=128)
    except (OSError, UnicodeError, OverflowError) as fault:
        why = getattr(fault, "strerror", None) or fault
        raise UsageError(f"cannot listen on {host} port {port}: {why}") from None
    # asyncio sends small replies at once only if the socket knows its protocol.
    return socket.socket(fileno=at.detach())


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _security(host: str, at: socket.socket) -> TransportSecuritySettings:
    """Return the hosts and origins of requests, against pages that rebind their name.

    A server on all interfaces has names that it does not know, where the token alone protects it.
    """
    if host in _EVERYWHERE:
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    names = {host.lower(), at.getsockname()[0], "127.0.0.1", "localhost", "::1"}
    hosts = [each for name in map(_in_url, names) for each in (name, f"{name}:*")]
    origins = [f"http://{each}" for each in hosts]
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)


def _guarded(app: Any, token: str) -> Any:
    """Return an application that refuses requests without the token."""
    expected = f"Bearer {token}".encode()
    refused = JSONResponse(
        {"detail": "send the header Authorization: Bearer TOKEN"},
        status_code=401,
        headers={"www-authenticate": "Bearer"},
    )

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        given = dict(scope.get("headers", ())).get(b"authorization", b"")
        if scope["type"] == "http" and not hmac.compare_digest(given, expected):
            await refused(scope, receive, send)
        else:
            await app(scope, receive, send)

    return guarded
