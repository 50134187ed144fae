"""A world served to agents: on the standard streams, or over HTTP."""

import contextlib
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio

from desim.adapters.mcp import http, standard
from desim.adapters.mcp.episodes import Episodes
from desim.adapters.mcp.http import in_time
from desim.adapters.mcp.mcp_server import server_of
from desim.adapters.seat.setup import Setup
from desim.adapters.web.access import Access, checked_token, new_token
from desim.adapters.web.server import address_of, listening

#: Seconds after which a session and an episode without a call are closed.
_IDLE = 1800.0


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
    server = server_of(episodes)
    if stdio:
        anyio.run(_serve_stdio, server, episodes)
        return
    checked = checked_token(token) or new_token()
    with listening(host, port) as at:
        access = Access(checked, hosts={host, at.getsockname()[0]})
        address = address_of(at, host) + http.PATH
        _announce(address, checked, new=not token, as_json=as_json)
        http.run(server, episodes, at, access, idle)


async def _serve_stdio(server: Any, episodes: Episodes) -> None:
    """Serve until the client's stream ends, or a signal stops the process.

    Raises:
        KeyboardInterrupt: A signal has stopped the process.
    """
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


def _announce(address: str, token: str, *, new: bool, as_json: bool) -> None:
    """Print the address of the server, and the token if it is new."""
    enter = f"; send the header Authorization: Bearer {token}" if new else ""
    print(f"desim: MCP at {address}{enter}", file=sys.stderr, flush=True)  # noqa: T201 (for people)
    if as_json:
        print(json.dumps({"url": address, "token": token}), flush=True)  # noqa: T201 (for programs)
