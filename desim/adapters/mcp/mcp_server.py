"""A server of the package `mcp` that answers with plain values.

A client can read instructions, resources and a prompt of the world before it plays.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from attrs import frozen
from mcp import types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from desim.adapters.mcp.episodes import Episodes
from desim.adapters.mcp.toolset import ToolSet
from desim.adapters.seat.setup import Setup
from desim.core.model import rules_of
from desim.errors import UsageError, possible
from desim.schema import json_schema
from desim.version import __version__

_PLAY = "play"


class Documents:
    """The texts of a server.

    Attributes:
        instructions: A text on how to play, with the rules of every seat.
    """

    def __init__(self, setup: Setup, tools: ToolSet) -> None:
        self._setup = setup
        self._takes_seeds = tools.takes_seeds
        self._how = _how_to_play(setup, tools)
        rules = {seat: rules_of(setup.model, seat) for seat in setup.seats}
        self.instructions = "\n\n".join([self._how, *_headed(rules)])
        self._resources: dict[str, tuple[dict[str, str], str]] = {}
        for seat in setup.seats:
            self._add("rules", seat, "Rules", "text/plain", rules[seat])
            schema = json.dumps(json_schema(setup.model.roles[seat].observation), indent=1)
            about = "JSON Schema of the observations"
            self._add("observation-schema", seat, about, "application/json", schema)

    def resources(self) -> list[dict[str, str]]:
        """Return every resource without its text."""
        return [about for about, _ in self._resources.values()]

    def read(self, uri: str) -> dict[str, Any]:
        """Return a resource."""
        if uri not in self._resources:
            raise UsageError(
                f"there is no resource {uri[:200]!r}; {possible(uri, self._resources)}"
            )
        about, text = self._resources[uri]
        return {"contents": [{"uri": uri, "mimeType": about["mimeType"], "text": text}]}

    def prompts(self) -> list[dict[str, Any]]:
        """Return every prompt without its text."""
        about = {"name": "seed", "description": "The seed of the episode.", "required": False}
        known = [about] if self._takes_seeds else []
        return [{"name": _PLAY, "description": "Play one episode.", "arguments": known}]

    def prompt(self, name: str, seed: str) -> dict[str, Any]:
        """Return a prompt."""
        if name != _PLAY:
            raise UsageError(f"there is no prompt {name[:200]!r}; {possible(name, [_PLAY])}")
        if seed and not (seed.isascii() and seed.isdigit()):
            raise UsageError(f"seed {seed[:40]!r} was given; it is a whole number of at least 0")
        if seed and not self._takes_seeds:
            raise UsageError("the server chooses the seeds of its episodes (--seeds); give none")
        begin = f"Begin with seed {seed}" if seed else "Begin"
        text = f"{self._how} {begin}, and play to the end."
        return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}

    def _add(self, kind: str, seat: str, title: str, mime: str, text: str) -> None:
        one = len(self._setup.seats) == 1
        uri = f"desim://{kind}" if one else f"desim://{kind}/{seat}"
        named = title if one else f"{title}: {seat}"
        self._resources[uri] = ({"uri": uri, "name": named, "mimeType": mime}, text)


def _how_to_play(setup: Setup, tools: ToolSet) -> str:
    seats = " and ".join(setup.seats)
    each = " for each seat that has one" if len(setup.seats) > 1 else ""
    return (
        f"You play {seats}. {tools.begin} begins an episode and returns the first observation"
        f"{each}. Answer every observation by one tool that is named for an action; it returns the "
        "next observation and the reward. The episode is over when `done` is true. A call that is "
        f"refused changes nothing. After a lost connection {tools.begin} with `resume`, the id of "
        "the episode, goes on with it."
    )


def _headed(rules: dict[str, str]) -> list[str]:
    if len(rules) == 1:
        return list(rules.values())
    return [f"Rules for {seat}:\n{text}" for seat, text in rules.items()]


#: The header that names the session of a request over HTTP.
_SESSION_HEADER = "mcp-session-id"


@frozen
class _Method:
    """A method of the protocol.

    Attributes:
        stem: The beginning of the names of the classes of its request, parameters and result.
        answer: Returns the result as plain values, or a coroutine of it, for a session and the
            parameters.
    """

    stem: str
    answer: Callable[[str | None, Any], Any]

    @property
    def params(self) -> Any:
        """The class of its parameters, by which the package checks them."""
        paged = self.stem.startswith("List")
        return getattr(types, "PaginatedRequestParams" if paged else f"{self.stem}RequestParams")

    async def result(self, session: str | None, params: Any) -> Any:
        """Return the result for a session."""
        answer = self.answer(session, params)
        plain = await answer if isinstance(answer, Awaitable) else answer
        return getattr(types, f"{self.stem}Result").model_validate(plain)


def server_of(episodes: Episodes) -> Any:
    """Return a server that plays episodes; the caller runs it over a transport."""
    tools = ToolSet(episodes)
    documents = Documents(episodes.setup, tools)
    server: Any = Server(
        "desim",
        version=__version__,
        instructions=documents.instructions,
        # Without it all tools would be listed before every call.
        get_tool_input_schema=tools.input_schema,
    )
    for name, method in _methods(tools, documents).items():
        _add(server, name, method)
    return server


def _methods(tools: ToolSet, documents: Documents) -> dict[str, _Method]:
    def call_tool(client: str | None, params: Any) -> Awaitable[Any]:
        return tools.call(client, params.name, params.arguments)

    def get_prompt(_: str | None, params: Any) -> dict[str, Any]:
        return documents.prompt(params.name, (params.arguments or {}).get("seed", ""))

    def read(_: str | None, params: Any) -> dict[str, Any]:
        return documents.read(str(params.uri))

    return {
        "tools/list": _Method("ListTools", lambda *_: {"tools": tools.listed()}),
        "tools/call": _Method("CallTool", call_tool),
        "resources/list": _Method("ListResources", lambda *_: {"resources": documents.resources()}),
        "resources/read": _Method("ReadResource", read),
        "prompts/list": _Method("ListPrompts", lambda *_: {"prompts": documents.prompts()}),
        "prompts/get": _Method("GetPrompt", get_prompt),
    }


def _add(server: Any, name: str, method: _Method) -> None:
    async def handle(context: Any, params: Any) -> Any:
        try:
            return await method.result(_session(context.request), params)
        except UsageError as fault:  # any other error would lose its sentence
            raise MCPError(code=types.INVALID_PARAMS, message=str(fault)) from None

    server.add_request_handler(name, method.params, handle)


def _session(request: Any) -> str | None:
    """Return the session of a request; all requests that do not come over HTTP share one.

    Returns None over HTTP without a session, as in the protocol of 2026-07-28.
    """
    return "" if request is None else request.headers.get(_SESSION_HEADER)
