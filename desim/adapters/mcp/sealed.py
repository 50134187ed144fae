"""Sealed sessions over the Model Context Protocol.

No reply holds a seed, a score, a reward, a metric, the reason of an end or a digest of a ledger
before the session is closed, and each leaves at a multiple of 50 ms after its call.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import anyio
from anyio import to_thread

from desim.adapters.mcp.mcp_server import server_with
from desim.adapters.mcp.serving import Where, serve_at
from desim.adapters.mcp.toolset import MOST_ROWS, table_page
from desim.adapters.seat.setup import Setup
from desim.adapters.seat.stepped_session import as_json
from desim.adapters.seat.tools import Tool, checked_arguments, object_schema, tagged_call, tools_of
from desim.core.model_protocols import rules_of
from desim.errors import DesimError, UsageError, possible
from desim.faults import RAISED
from desim.short_repr import short_repr
from desim.verification.hosting.hosted_session import HostedSession, SealedTurn
from desim.verification.hosting.sealed_host import SealedHost
from desim.verification.sealed.sealed_suite import SealedEpisode, SealedSuite

#: Seconds between the instants at which replies leave.
_GRID = 0.05

#: Seconds without a call after which a connection is closed; sessions whose time is over are
#: closed four times as often.
_IDLE = 240.0


_TEXT, _OBJECT = {"type": "string"}, {"type": "object"}
_COUNT = {"type": "integer", "minimum": 0}
_TICKET = {"type": "string", "description": "What open_session returned."}

_HOW = (
    "You play episodes whose seeds nobody knows. Call offer_session, keep the signed offer, draw "
    "32 random bytes, and call open_session with them as 64 hexadecimal digits. begin_episode "
    "begins the next episode, or returns the open observation again, with rules and actions. "
    "Answer each observation by act with the number `decision` of the last reply. Each episode is "
    "played once; what you leave open is played by default actions. When all have ended, "
    "close_session reveals the secret."
)


class SealedTools:
    """The tools of a server of sealed sessions.

    Args:
        host: The sessions.
        suite: The suite.
        grid: Seconds between the instants at which replies leave.

    Attributes:
        most: Connections at once.
    """

    most = 64

    def __init__(self, host: SealedHost, suite: SealedSuite, grid: float = _GRID) -> None:
        self._host, self._grid = host, grid
        self._lock = anyio.Lock()
        self._worlds = {one.world: _described(one) for one in suite.episodes}
        calls: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "offer_session": self._offer,
            "open_session": self._open,
            "begin_episode": self._begin,
            "act": self._act,
            "look_up": self._look_up,
            "close_session": self._close,
        }
        self._calls = calls
        self._tools = {tool.name: tool for tool in _TOOLS}

    def listed(self) -> list[dict[str, Any]]:
        """Return every tool with its description and the JSON Schemas of its input and output."""
        return [
            {
                "name": tool.name,
                "description": tool.description,
                "inputSchema": tool.parameters,
                "outputSchema": {"type": "object"},
            }
            for tool in self._tools.values()
        ]

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        """Return the JSON Schema of a tool's arguments; None for an unknown tool."""
        return self._tools[name].parameters if name in self._tools else None

    async def call(self, _: str | None, name: str, arguments: Any) -> dict[str, Any]:
        """Return the result of a call; an error gives a result with its sentence."""
        began = anyio.current_time()
        async with self._lock:
            result = await to_thread.run_sync(partial(self._result, name, arguments))
        if self._grid:
            await anyio.sleep(self._grid - (anyio.current_time() - began) % self._grid)
        return result

    async def leave(self, client: str) -> None:
        """Do nothing: a session goes on over any connection."""

    async def close_idle(self) -> None:
        """Close the sessions whose time is over."""
        async with self._lock:
            await to_thread.run_sync(self._host.close_late)

    async def close_all(self) -> None:
        """Close all files, as the server stops."""
        async with self._lock:
            await to_thread.run_sync(self._host.stop)

    # -- in a thread -------------------------------------------------------------------------------

    def _result(self, name: str, arguments: Any) -> dict[str, Any]:
        try:
            if name not in self._calls:
                raise UsageError(
                    f"there is no tool {short_repr(name)}; {possible(name, self._calls)}"
                )
            facts = self._calls[name](checked_arguments(self._tools[name], arguments))
        except DesimError as fault:
            return {"content": [{"type": "text", "text": str(fault)}], "isError": True}
        except RAISED:  # its text may tell something of the world or of this machine
            return {"content": [{"type": "text", "text": "the call failed"}], "isError": True}
        text = {"type": "text", "text": as_json(facts)}
        return {"content": [text], "structuredContent": facts}

    def _offer(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"offer": self._host.offer()}

    def _open(self, given: dict[str, Any]) -> dict[str, Any]:
        ticket, opening = self._host.opened(**given)
        return {"ticket": ticket, "open": opening}

    def _begin(self, given: dict[str, Any]) -> dict[str, Any]:
        session = self._at(given)
        turn = session.begin(given.get("episode"))
        return _facts(turn) | self._worlds[session.episode(turn.episode).world]

    def _act(self, given: dict[str, Any]) -> dict[str, Any]:
        session = self._at(given)
        action = tagged_call({given["action"]: _ANY}, given["action"], given.get("arguments", {}))
        return _facts(session.answer(given["decision"], action, given.get("seat", "")))

    def _look_up(self, given: dict[str, Any]) -> dict[str, Any]:
        return table_page(self._at(given).tables(given.get("seat", "")), given)

    def _close(self, given: dict[str, Any]) -> dict[str, Any]:
        session = self._at(given, late=True).offer.session
        entry = self._host.close(given["ticket"])
        return {"session": session, "state": "closed" if entry else "broken by the server"}

    def _at(self, given: dict[str, Any], *, late: bool = False) -> HostedSession:
        """Return the session of a ticket; one whose time is over is closed first."""
        session = self._host.at(given["ticket"])
        if session.is_late and not late:
            self._host.close(given["ticket"])
            raise UsageError("the time of the session is over; it is closed")
        return session


def serve_sealed(host: SealedHost, suite: SealedSuite, where: Where) -> None:
    """Serve sealed sessions until the process is stopped; open ones go on with the next server."""
    tools = SealedTools(host, suite)
    serve_at(where, server_with(tools, _HOW), tools, _IDLE)


def _described(one: SealedEpisode) -> dict[str, Any]:
    """Return what a client knows of a world before it plays: seats, rules and actions."""
    setup = Setup.of(one.model, seats=one.seats, others=one.others or None)
    return {
        "world": one.world,
        "rules": {seat: rules_of(one.model, seat) for seat in one.seats},
        "actions": {
            seat: [
                {"name": tool.name, "description": tool.description, "arguments": tool.parameters}
                for tool in tools_of(setup, seat).values()
            ]
            for seat in one.seats
        },
    }


def _facts(turn: SealedTurn) -> dict[str, Any]:
    """Return a turn as a tool returns it."""
    facts: dict[str, Any] = {
        "episode": turn.episode,
        "decision": turn.answered,
        "done": turn.done,
        "receipt": turn.receipt,
        "observations": dict(turn.observations),
    }
    possible_now = {seat: list(tags) for seat, tags in turn.possible.items()}
    return facts | ({"possible": possible_now} if possible_now else {})


#: Stands for the tool of an action, whose arguments the session checks.
_ANY = Tool("", "", object_schema({}))

_TOOLS = (
    Tool("offer_session", "Return a signed offer: the digest of a secret.", object_schema({})),
    Tool(
        "open_session",
        "Open the session of an offer by your number, 32 random bytes in hexadecimal digits.",
        object_schema(
            {
                "session": _TEXT,
                "number": _TEXT,
                "commitment": {"type": "string", "description": "A digest of what you play with."},
                "key": {"type": "string", "description": "Your public key, 64 digits."},
                "name": {"type": "string", "description": "The name of the entry."},
            },
            ["session", "number"],
        ),
    ),
    Tool(
        "begin_episode",
        "Begin the next episode, or return the open observations again.",
        object_schema({"ticket": _TICKET, "episode": _COUNT}, ["ticket"]),
    ),
    Tool(
        "act",
        "Answer an open observation, and return the next ones.",
        object_schema(
            {
                "ticket": _TICKET,
                "decision": {**_COUNT, "description": "The decision of the last reply."},
                "action": {"type": "string", "description": "The name of an action."},
                "arguments": _OBJECT,
                "seat": {"type": "string", "description": "Which seat answers, of several."},
            },
            ["ticket", "decision", "action"],
        ),
    ),
    Tool(
        "look_up",
        f"Return up to {MOST_ROWS} rows of a table of what you know; without one, their names.",
        object_schema(
            {"ticket": _TICKET, "table": _TEXT, "first_row": _COUNT, "seat": _TEXT}, ["ticket"]
        ),
    ),
    Tool(
        "close_session",
        "End the session. Default actions play what is left, and the secret is revealed.",
        object_schema({"ticket": _TICKET}, ["ticket"]),
    ),
)
