"""A server of the package `mcp` that answers with plain values; for its releases 1.x and 2.x."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from attrs import frozen
from mcp import types
from mcp.server.lowlevel import Server
from mcp.shared import exceptions

from desim.adapters.mcp.documents import Documents
from desim.adapters.mcp.episodes import Episodes
from desim.adapters.mcp.toolset import ToolSet
from desim.errors import UsageError
from desim.version import __version__

__all__ = ["server_of"]

#: The header that names the session of a request over HTTP.
_SESSION_HEADER = "mcp-session-id"


@frozen
class _Method:
    """A method of the protocol.

    Attributes:
        name: Its name.
        request: The class of the request, by which 1.x finds the handler.
        params: The class of its parameters, by which 2.x checks them.
        result: The class of the result.
        answer: Returns the result as plain values, for a session and the parameters.
    """

    name: str
    request: str
    params: str
    result: str
    answer: Callable[[str | None, Any], Awaitable[Mapping[str, Any]]]


def server_of(episodes: Episodes) -> Any:
    """Return a server that plays episodes; the caller runs it over a transport."""
    tools = ToolSet(episodes)
    documents = Documents(episodes.setup, tools)
    server: Any = Server("desim", version=__version__, instructions=documents.instructions)
    add = _add_to_2 if hasattr(server, "add_request_handler") else _add_to_1
    for method in _methods(tools, documents):
        add(server, method)
    # 2.x would list all tools before every call.
    server.get_tool_input_schema = tools.input_schema
    return server


def _methods(tools: ToolSet, documents: Documents) -> list[_Method]:
    async def list_tools(_: str | None, __: Any) -> dict[str, Any]:
        return {"tools": tools.listed()}

    async def call_tool(client: str | None, params: Any) -> dict[str, Any]:
        return await tools.call(client, params.name, params.arguments)

    async def list_resources(_: str | None, __: Any) -> dict[str, Any]:
        return {"resources": documents.resources()}

    async def read_resource(_: str | None, params: Any) -> dict[str, Any]:
        return documents.read(str(params.uri))

    async def list_prompts(_: str | None, __: Any) -> dict[str, Any]:
        return {"prompts": documents.prompts()}

    async def get_prompt(_: str | None, params: Any) -> dict[str, Any]:
        return documents.prompt(params.name, (params.arguments or {}).get("seed", ""))

    paged = "PaginatedRequestParams"
    return [
        _Method("tools/list", "ListToolsRequest", paged, "ListToolsResult", list_tools),
        _Method(
            "tools/call", "CallToolRequest", "CallToolRequestParams", "CallToolResult", call_tool
        ),
        _Method(
            "resources/list", "ListResourcesRequest", paged, "ListResourcesResult", list_resources
        ),
        _Method(
            "resources/read",
            "ReadResourceRequest",
            "ReadResourceRequestParams",
            "ReadResourceResult",
            read_resource,
        ),
        _Method("prompts/list", "ListPromptsRequest", paged, "ListPromptsResult", list_prompts),
        _Method(
            "prompts/get",
            "GetPromptRequest",
            "GetPromptRequestParams",
            "GetPromptResult",
            get_prompt,
        ),
    ]


def _add_to_2(server: Any, method: _Method) -> None:
    result = getattr(types, method.result)

    async def handle(context: Any, params: Any) -> Any:
        try:
            return result.model_validate(await method.answer(_session(context.request), params))
        except UsageError as fault:  # any other error would lose its sentence
            wrong: Any = exceptions.MCPError  # type: ignore[attr-defined, unused-ignore]  # of 2.x
            raise wrong(code=types.INVALID_PARAMS, message=str(fault)) from None

    server.add_request_handler(method.name, getattr(types, method.params), handle)


def _add_to_1(server: Any, method: _Method) -> None:
    result: Any = getattr(types, method.result)
    wrapped: Any = types.ServerResult  # type: ignore[attr-defined, unused-ignore]  # gone in 2.x

    async def handle(request: Any) -> Any:
        session = _session(server.request_context.request)
        return wrapped(result.model_validate(await method.answer(session, request.params)))

    server.request_handlers[getattr(types, method.request)] = handle


def _session(request: Any) -> str | None:
    """Return the session of a request: one for all that do not come over HTTP.

    None over HTTP without a session, as in the protocol of 2026-07-28.
    """
    return "" if request is None else request.headers.get(_SESSION_HEADER)
