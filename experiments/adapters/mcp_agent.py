"""How does an agent play a beer game that is served by the Model Context Protocol?"""

import asyncio
import sys
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

WORLD = "beer_game --preset poisson --seat retailer --policy order_up_to"
SERVER = StdioServerParameters(
    command=sys.executable, args=["-m", "desim", "serve", *WORLD.split(), "--mcp", "--stdio"]
)


async def call(session: ClientSession, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool and return what it returns."""
    result = await session.call_tool(tool, arguments)
    return result.model_dump(by_alias=True)["structuredContent"]


async def main() -> None:
    """Order what was ordered, to the end of an episode."""
    async with stdio_client(SERVER) as streams, ClientSession(*streams) as session:
        await session.initialize()
        print("tools:", ", ".join(tool.name for tool in (await session.list_tools()).tools))
        seen = await call(session, "begin_episode", seed=7)
        while not seen["done"]:
            stage = seen["observation"]
            order = {"quantity": stage["incoming_order"], "episode": seen["episode"]}
            seen = await call(session, "order", **order)
            if stage["week"] % 13 == 0:
                print(f"week {stage['week']}: backlog {stage['backlog']}, reward {seen['reward']}")
    print(f"score {seen['ended']['score']}, ledgers {seen['ended']['ledger_digest'][:12]}")


if __name__ == "__main__":
    asyncio.run(main())
