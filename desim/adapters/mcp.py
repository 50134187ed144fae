"""A world behind the Model Context Protocol, for any agent that speaks it.

The actions of the seats are tools of the same names; further tools begin, show and close an episode
and look up the tables of the world. A client is named by the session of its connection; one without
a session, as in the protocol of 2026-07-28, names the episode in every call. An id is enough to
play an episode, as it cannot be guessed.

Tried with release 2.3.0 of the package `mcp`.
"""

import asyncio
import contextlib
import hmac
import json
import os
import re
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Iterable, Mapping
from types import FrameType
from typing import Any

import uvicorn
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse

from desim.adapters.mcp_episodes import IDLE, Episodes, OpenEpisode
from desim.adapters.seat.setup import Setup
from desim.adapters.seat.stepped_session import as_json as json_of
from desim.adapters.seat.tools import (
    Tool,
    checked_arguments,
    object_schema,
    tools_of_seats,
)
from desim.core.model import rules_of
from desim.core.reported import Rows
from desim.errors import DesimError, UsageError, possible
from desim.schema import TAG, to_plain
from desim.short_repr import short_repr
from desim.version import __version__

__all__ = ["serve"]

#: Where the server answers over HTTP, and the header that names the session of a request.
PATH, _SESSION_HEADER = "/mcp", "mcp-session-id"

#: Rows of a table in one reply, at most.
MOST_ROWS = 200

#: Seconds for calls under way when a server stops, as a record is whole after every line; and the
#: exit code of a process that does not end by itself.
_GRACE, _INTERRUPTED = 3.0, 130

#: Hosts that listen on all interfaces.
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 (compared with, not listened on)

#: Characters that not every client accepts in a tool's name, and the most that it may have.
_REFUSED, _LONGEST = re.compile(r"[^A-Za-z0-9_-]"), 64

_HOW = (
    "You play {seats}. {begin} begins an episode and returns the first observation of each seat. "
    "Answer every observation by one tool that is named for an action; it returns the next "
    "observation and the reward. The episode is over when `done` is true. A call that is refused "
    "changes nothing. `possible` names by seat the actions that may be answered now, where not all "
    "may. After a lost connection {begin} with `resume`, the id of the episode, goes on with it."
)

_BEGIN = (
    "Begin an episode, or resume one by its id, and return its first open observation. One session "
    "plays one episode at a time."
)
_PRESENT = "Return the observation that waits for an answer, and the last reward, again."
_CLOSE = "Leave an episode before its end. It can be resumed."
_LOOK_UP = f"Return up to {MOST_ROWS} rows of a table of what you know."

_SEED = {
    "type": "integer",
    "minimum": 0,
    "description": "Two episodes of one seed differ by their actions alone; drawn where left out.",
}
_RESUME = {"type": "string", "description": "The id of an episode to go on with."}
_EPISODE = {
    "type": "string",
    "description": "The id that begin_episode returned; optional in the session that began or "
    "resumed it.",
}
_PAGE = object_schema(
    {
        "table": {"type": "string", "description": "Without one: the names of the tables."},
        "first_row": {"type": "integer", "minimum": 0, "default": 0},
    }
)


class ToolSet:
    """The tools of a server as plain values: their descriptions, and the results of calls.

    Actions come first, under their tags. The names of the further tools, and of the arguments
    `episode` and `seat`, get an underscore if an action or one of its fields has that name. With
    several seats a tool takes the `seat` that it is called for: one client plays them all.

    Attributes:
        actions: The tools of actions, by name, with the seats that have them.
        listed: All tools by name, as clients read them.
    """

    def __init__(self, episodes: Episodes) -> None:
        self._episodes, setup = episodes, episodes.setup
        self.actions = _named_actions(setup)
        fields = {key for tool, _ in self.actions.values() for key in tool.fields}
        self._episode, self._seat = free_name("episode", fields), free_name("seat", fields)
        self._begin, self._present, self._close, self._look_up = (
            free_name(name, self.actions)
            for name in ("begin_episode", "present_observation", "close_episode", "look_up")
        )
        self._places = {name: self._place(seats) for name, (_, seats) in self.actions.items()}
        begun = {"seed": _SEED, "resume": _RESUME} if episodes.takes_seeds else {"resume": _RESUME}
        self.listed = {
            **{
                name: _joined(name, tool, self._places[name])
                for name, (tool, _) in self.actions.items()
            },
            self._begin: Tool(self._begin, _BEGIN, object_schema(begun)),
            self._present: Tool(self._present, _PRESENT, self._place().parameters),
            self._close: Tool(self._close, _CLOSE, self._place().parameters),
        }
        if setup.model.tables:
            page = Tool("", _LOOK_UP, _PAGE)
            self.listed[self._look_up] = _joined(self._look_up, page, self._place(setup.seats))
        self.instructions = _instructions(setup, self._begin)

    async def call(self, client: str | None, name: str, arguments: Any) -> dict[str, Any]:
        """Return the result of a call in a client's session.

        Raises:
            DesimError: The call is refused or has failed; the text says why.
        """
        if name not in self.listed:
            raise UsageError(f"there is no tool {short_repr(name)}; {possible(name, self.listed)}")
        takes = self._places.get(name, self.listed[name])
        given, own = dict(arguments or {}), {}
        if name in self.actions:
            own = {key: given.pop(key) for key in [*given] if key not in takes.fields}
        given = checked_arguments(takes, given)
        if name == self._begin:
            return await self._begun(client, given)
        episode = self._episodes.at(client, given.get(self._episode, ""))
        seat = given.get(self._seat, self._episodes.setup.seats[0])
        if name in self.actions:
            action = {**own, TAG: self.actions[name][0].name}
            return await self._episodes.call(episode, OpenEpisode.answer, seat, action)
        if name == self._look_up:
            tables = await self._episodes.call(episode, OpenEpisode.tables, seat)
            return table_page(tables, given)
        if name == self._close:
            await self._episodes.close(episode)
            return {key: episode.turn[key] for key in ("episode", "done")}
        return await self._episodes.call(episode, OpenEpisode.present)

    async def _begun(self, client: str | None, given: dict[str, Any]) -> dict[str, Any]:
        if "resume" not in given:
            return await self._episodes.begin(client, given.get("seed"))
        if "seed" in given:
            raise UsageError("give a seed or resume; the resumed episode has its own seed")
        return await self._episodes.resume(client, given["resume"])

    def _place(self, seats: tuple[str, ...] = ()) -> Tool:
        """Return the arguments that name the episode and, of several seats, the one that plays."""
        known: dict[str, Any] = {self._episode: _EPISODE}
        if len(self._episodes.setup.seats) == 1 or not seats:
            return Tool("", "", object_schema(known))
        its = {self._seat: {"type": "string", "enum": [*seats]}}
        return Tool("", "", object_schema(its | known, [self._seat]))


def table_page(tables: Mapping[str, Rows], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return rows of the table that a client names, or how many rows each table has.

    Raises:
        UsageError: None of its tables has the given name.
    """
    if "table" not in given:
        return {"tables": {name: len(rows) for name, rows in tables.items()}}
    name, first = given["table"], given.get("first_row", 0)
    if name not in tables:
        raise UsageError(f"there is no table {short_repr(name)}; {possible(name, tables)}")
    rows = tables[name]
    shown = [to_plain(dict(row)) for row in rows[first : first + MOST_ROWS]]
    return {"table": name, "rows": shown, "first_row": first, "all_rows": len(rows)}


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return a name, with underscores appended until it is free."""
    names = set(taken)
    while name in names:
        name += "_"
    return name


def _named_actions(setup: Setup) -> dict[str, tuple[Tool, tuple[str, ...]]]:
    """Return the different actions by a name that every client accepts."""
    actions = tools_of_seats(setup)
    tags = [tool.name for tool, _ in actions]
    found: dict[str, tuple[Tool, tuple[str, ...]]] = {}
    for tool, seats in actions:
        name = tool.name if tags.count(tool.name) == 1 else f"{tool.name}_{seats[0]}"
        found[free_name(_REFUSED.sub("_", name)[:_LONGEST], found)] = tool, seats
    return found


def _joined(name: str, tool: Tool, further: Tool) -> Tool:
    """Return a tool under a name, with further arguments."""
    properties = {**tool.fields, **further.fields}
    required = [*tool.required, *further.required]
    parameters = {**tool.parameters, "properties": properties, "required": required}
    return Tool(name, tool.description, parameters)


def _instructions(setup: Setup, begin: str) -> str:
    """Return how to play, and the rules of every seat."""
    how = _HOW.format(seats=" and ".join(setup.seats), begin=begin)
    rules = {seat: rules_of(setup.model, seat) for seat in setup.seats}
    if len(rules) == 1:
        return "\n\n".join([how, *rules.values()])
    return "\n\n".join([how, *(f"Rules for {seat}:\n{text}" for seat, text in rules.items())])


# -- the server ------------------------------------------------------------------------------------


def server_of(episodes: Episodes) -> Any:
    """Return a server of the package that plays episodes; the caller runs it over a transport."""
    tools = ToolSet(episodes)

    async def list_tools(*_: Any) -> Any:
        listed = [
            types.Tool(name=name, description=tool.description, input_schema=tool.parameters)
            for name, tool in tools.listed.items()
        ]
        return types.ListToolsResult(tools=listed)

    async def call_tool(context: Any, params: Any) -> Any:
        try:
            facts = await tools.call(_session(context.request), params.name, params.arguments)
        except DesimError as fault:
            return types.CallToolResult(content=[_text_content(str(fault))], is_error=True)
        return types.CallToolResult(
            content=[_text_content(json_of(facts))], structured_content=facts
        )

    return Server(
        "desim",
        version=__version__,
        instructions=tools.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        # Without it all tools would be listed before every call.
        get_tool_input_schema=lambda name: tools.listed[name].parameters,
    )


def _text_content(text: str) -> Any:
    return types.TextContent(type="text", text=text)


def _session(request: Any) -> str | None:
    """Return the session of a request; all requests that do not come over HTTP share one."""
    return "" if request is None else request.headers.get(_SESSION_HEADER)


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
        _announce(address, sent, made=not token, as_json=as_json)
        app = server_of(episodes).streamable_http_app(
            streamable_http_path=PATH,
            session_idle_timeout=IDLE,
            transport_security=_security(host, at),
        )
        config = uvicorn.Config(
            _guarded(app, sent, episodes),
            limit_concurrency=4 * max_sessions + 64,
            log_config=None,
            access_log=False,
            server_header=False,
            ws="none",
            timeout_graceful_shutdown=1,
        )
        asyncio.run(_serve_http(_HttpServer(config), at, episodes))


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


async def _serve_http(server: uvicorn.Server, at: socket.socket, episodes: Episodes) -> None:
    await server.serve(sockets=[at])
    await episodes.close_unused()


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


def _announce(address: str, token: str, *, made: bool, as_json: bool) -> None:
    enter = f"; send the header Authorization: Bearer {token}" if made else ""
    print(f"desim: MCP at {address}{enter}", file=sys.stderr, flush=True)  # noqa: T201 (for people)
    if as_json:
        print(json.dumps({"url": address, "token": token}), flush=True)  # noqa: T201 (for programs)


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


def _guarded(app: Any, token: str, episodes: Episodes) -> Any:
    """Return an application that refuses requests without the token.

    It closes the episode of a session that its client ends.
    """
    expected = f"Bearer {token}".encode()
    refused = JSONResponse(
        {"detail": "send the header Authorization: Bearer TOKEN"},
        status_code=401,
        headers={"www-authenticate": "Bearer"},
    )

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        given = headers.get(b"authorization", b"")
        if scope["type"] == "http" and not hmac.compare_digest(given, expected):
            await refused(scope, receive, send)
            return
        await app(scope, receive, send)
        if scope.get("method") == "DELETE":
            await episodes.leave(headers.get(_SESSION_HEADER.encode(), b"").decode("latin-1"))

    return guarded
