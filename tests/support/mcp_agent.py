"""An agent that plays a served world by the client of the package `mcp`."""

import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.memory import create_client_server_memory_streams
from support.paths import PYTHONPATH

from desim.adapters.mcp import server_of
from desim.adapters.mcp_episodes import Episodes

#: Returns the name and the arguments of a tool for what the last call returned.
Rule = Callable[[Mapping[str, Any]], tuple[str, dict[str, Any]]]


class Refused(Exception):
    """A call whose result is an error; the text is its sentence."""


class Agent:
    """A client's session, which names the episode that it began last in every call.

    Args:
        session: The session of the package.
    """

    def __init__(self, session: ClientSession) -> None:
        self.session = session
        self.instructions = ""
        self.episode: dict[str, str] = {}

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured content.

        Raises:
            Refused: The result is an error.
        """
        named = arguments if tool == "begin_episode" else {**self.episode, **arguments}
        result = plain(await self.session.call_tool(tool, named))
        if result.get("isError"):
            raise Refused(result["content"][0]["text"])
        shown = result["structuredContent"]
        self.episode = {"episode": shown["episode"]} if "episode" in shown else self.episode
        return shown

    async def play(self, rule: Rule, seen: Mapping[str, Any]) -> Mapping[str, Any]:
        """Play an episode to its end and return what the last call returned."""
        while not seen["done"]:
            tool, arguments = rule(seen)
            seen = await self.call(tool, **arguments)
        return seen

    async def tools(self) -> dict[str, dict[str, Any]]:
        """Return the tools by name."""
        return {one["name"]: one for one in plain(await self.session.list_tools())["tools"]}


def plain(result: Any) -> dict[str, Any]:
    """Return a result of the package as it is on the wire."""
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


@contextlib.asynccontextmanager
async def in_memory(episodes: Episodes) -> AsyncIterator[Agent]:
    """Connect an agent with a server in this process."""
    server = server_of(episodes)
    async with (
        create_client_server_memory_streams() as (mine, its),
        anyio.create_task_group() as tg,
    ):
        tg.start_soon(server.run, *its, server.create_initialization_options())
        async with _agent(*mine) as agent:
            yield agent
        tg.cancel_scope.cancel()
    await episodes.close_unused()


@contextlib.asynccontextmanager
async def over_stdio(
    arguments: Sequence[str], *, errors: Path, folder: Path
) -> AsyncIterator[Agent]:
    """Connect an agent with `desim serve --mcp --stdio` and further arguments.

    Args:
        arguments: The arguments.
        errors: The file that receives the server's standard error.
        folder: Where it runs.
    """
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "desim", "serve", *arguments, "--mcp", "--stdio"],
        env={"PYTHONPATH": PYTHONPATH},
        cwd=str(folder),
    )
    with errors.open("w") as log:
        async with stdio_client(server, errlog=log) as (read, write), _agent(read, write) as agent:
            yield agent


@contextlib.asynccontextmanager
async def over_http(address: str, token: str) -> AsyncIterator[Agent]:
    """Connect an agent with a server that listens."""
    async with (
        create_mcp_http_client(headers={"Authorization": f"Bearer {token}"}) as client,
        streamable_http_client(address, http_client=client) as (read, write, *_),
        _agent(read, write) as agent,
    ):
        yield agent


@contextlib.asynccontextmanager
async def _agent(read: Any, write: Any) -> AsyncIterator[Agent]:
    async with ClientSession(read, write) as session:
        agent = Agent(session)
        agent.instructions = plain(await session.initialize())["instructions"]
        yield agent
