"""The actions of all seats as tools, under names that nothing else has."""

import re
from collections.abc import Iterable

from attrs import frozen

from desim.adapters.setup import Setup
from desim.adapters.texts import as_json
from desim.adapters.tools import Tool, tools_of

__all__ = ["ActionTool", "action_tools", "fields_of", "free_name"]

#: Characters of a tool's name that every client accepts, and how many.
_REFUSED, _LONGEST = re.compile(r"[^A-Za-z0-9_-]"), 64


@frozen
class ActionTool:
    """An action as a tool.

    Attributes:
        tool: The action.
        seats: The seats that have it.
    """

    tool: Tool
    seats: tuple[str, ...]


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return a name, with underscores behind it as long as it is taken."""
    names = set(taken)
    while name in names:
        name += "_"
    return name


def action_tools(setup: Setup) -> dict[str, ActionTool]:
    """Return the actions of all seats; equal ones of several seats become one tool."""
    groups: dict[str, tuple[Tool, list[str]]] = {}
    for seat in setup.seats:
        for tool in tools_of(setup, seat).values():
            key = as_json([tool.name, tool.description, dict(tool.parameters)])
            groups.setdefault(key, (tool, []))[1].append(seat)
    tags = [tool.name for tool, _ in groups.values()]
    found: dict[str, ActionTool] = {}
    for tool, seats in groups.values():
        name = tool.name if tags.count(tool.name) == 1 else f"{tool.name}_{seats[0]}"
        allowed = _REFUSED.sub("_", name)[:_LONGEST]
        found[free_name(allowed, found)] = ActionTool(tool, tuple(seats))
    return found


def fields_of(tool: Tool) -> Iterable[str]:
    """Return the names of an action's fields."""
    return tool.parameters["properties"]  # type: ignore[no-any-return]  # of a JSON Schema
