"""The tool server of a verifiers task: a process that plays one episode for any harness.

Tried with verifiers 0.4.0.
"""

import asyncio
from typing import Any

import verifiers.v1 as vf

from desim.adapters.seat.setup import Setup
from desim.adapters.seat.tool_session import LOOK_UP, ToolSession, only_seat
from desim.adapters.verifiers.data import RolloutState, WorldData, setup_of
from desim.schema import TAG
from desim.schema.described import action_schemas, menu


class WorldToolset(vf.Toolset[vf.ToolsetConfig, RolloutState]):
    """One episode behind two tools; all actions are calls of `act`."""

    TOOL_PREFIX = None

    async def setup_task(self, task: Any) -> None:
        """Begin the episode of a task."""
        data = WorldData.model_validate(task.model_dump())
        setup = setup_of(data)
        self._exit_stack.enter_context(session := data.begin())
        self.play = ToolSession(setup, session)
        self._calling = asyncio.Lock()  # harnesses send the calls of a reply at once

    @vf.tool
    async def act(self, action: dict[str, Any]) -> str:
        """Carry out one of the actions listed in your instructions, and show what it led to."""
        return await self._call(str(action.get(TAG, "")), action)

    @vf.tool
    async def look_up_table(self, table: str) -> str:
        """Show the last rows of a table of yours; no time passes."""
        return await self._call(LOOK_UP, {"table": table})

    async def _call(self, name: str, arguments: dict[str, Any]) -> str:
        async with self._calling:
            text = await self.play.reply_to(name, arguments)
        self.state.facts = {**self.play.facts(), "stopped": not self.play.done}
        self.state.answers = list(self.play.answers)
        self.state.over = self.play.done
        return text


def served_instructions(setup: Setup, instructions: str) -> str:
    """Return the instructions of a seat, with the actions that `act` takes."""
    actions = menu(action_schemas(setup.codec(only_seat(setup))))
    return f"{instructions}\n\nThe actions that the tool `act` takes:\n{actions}"


if __name__ == "__main__":
    WorldToolset.run()
