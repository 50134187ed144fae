"""An agent that speaks the Model Context Protocol, with a server in this process."""

import asyncio
from collections.abc import Mapping
from typing import Any

from support.adapters import Case

#: What must be installed.
REQUIRES = ("mcp",)


def carries(case: Case) -> bool:
    """Return whether the adapter can play a case."""
    return True


def play(
    case: Case, seed: int, answers: Mapping[str, list[dict[str, Any]]]
) -> tuple[float, str | None]:
    """Play the answers through the adapter; return the score and the ledger digest."""
    return asyncio.run(_play(case, seed, answers))


async def _play(
    case: Case, seed: int, answers: Mapping[str, list[dict[str, Any]]]
) -> tuple[float, str | None]:
    from support.mcp_agent import in_memory

    from desim.adapters.mcp.episodes import Episodes
    from desim.adapters.mcp.toolset import ToolSet

    episodes = Episodes(case.setup())
    names = {
        (seat, tool.name): name
        for name, (tool, seats) in ToolSet(episodes).actions.items()
        for seat in seats
    }
    left = {seat: iter(each) for seat, each in answers.items()}
    async with in_memory(episodes) as agent:
        seen = await agent.call("begin_episode", seed=seed)
        while not seen["done"]:
            seats = list(seen["observations"]) if len(case.seats) > 1 else list(case.seats)
            for seat in seats:
                arguments = dict(next(left[seat]))
                tool = names[seat, arguments.pop("do")]
                chosen = {"seat": seat} if len(case.seats) > 1 else {}
                seen = await agent.call(tool, **arguments, **chosen)
    return seen["ended"]["score"], seen["ended"]["ledger_digest"]
