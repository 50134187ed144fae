"""Checks of tool arguments from outside, and the actions of all seats as tools, by unique names."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import frozen

from desim.adapters.seat.action_tools import Tool, tools_of
from desim.adapters.seat.setup import Setup
from desim.adapters.seat.stepped_session import as_json
from desim.errors import UsageError, possible
from desim.short_repr import short_repr


def checked(name: Any, arguments: Any) -> dict[str, Any]:
    """Return the arguments of a call, which may have none.

    Raises:
        UsageError: The arguments are not an object.
    """
    if arguments is None:
        return {}
    if not isinstance(arguments, Mapping):
        raise UsageError(f"the arguments of {short_repr(name)} are no object")
    return dict(arguments)


def only(given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Check that all arguments are known.

    Raises:
        UsageError: An argument is unknown.
    """
    for key in given:
        if key not in known:
            raise UsageError(f"argument {short_repr(key)} was given; {possible(key, known)}")


def string(given: Mapping[str, Any], key: str) -> str:
    """Return an argument that is a string.

    Raises:
        UsageError: The argument is not a string.
    """
    if not isinstance(given[key], str):
        raise UsageError(f"{key} {short_repr(given[key])} was given; it is a string")
    return str(given[key])


def row_number(given: Mapping[str, Any]) -> int:
    """Return the number of the first row; 0 if it is not given.

    Raises:
        UsageError: The number is not a whole number of at least 0.
    """
    row = given.get("first_row", 0)
    if type(row) is not int or row < 0:
        raise UsageError(
            f"first_row {short_repr(row)} was given; it is a whole number of at least 0"
        )
    return row


#: Characters that not every client accepts in a tool's name, and the most that it may have.
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
    """Return a name, with underscores appended until it is free."""
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
