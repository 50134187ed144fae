"""Tools for language models: names, descriptions, the JSON Schema of arguments, their checks."""

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import frozen

from desim.adapters.seat.setup import Setup
from desim.errors import UsageError, WrongAction, possible
from desim.schema import TAG
from desim.schema.described import action_schemas
from desim.short_repr import short_repr


@frozen
class Tool:
    """One action of a seat, or a further tool.

    Attributes:
        name: The action's tag, such as `order`.
        description: The effect of the action, in one paragraph.
        parameters: The JSON Schema of its arguments, an object without references.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]

    @property
    def fields(self) -> Mapping[str, Any]:
        """The JSON Schemas of the arguments by name."""
        return self.parameters["properties"]  # type: ignore[no-any-return]  # of a JSON Schema

    @property
    def required(self) -> list[str]:
        """The names of the arguments that have no default."""
        return list(self.parameters.get("required", ()))


def tools_of(setup: Setup, seat: str) -> dict[str, Tool]:
    """Return the actions of a seat as tools, by name."""
    found: dict[str, Tool] = {}
    for name, schema in action_schemas(setup.codec(seat)).items():
        parameters = {key: each for key, each in schema.items() if key != "description"}
        found[name] = Tool(name, schema.get("description", ""), parameters)
    return found


def tools_of_seats(setup: Setup) -> list[tuple[Tool, tuple[str, ...]]]:
    """Return the different actions of all seats, each with the seats that have it."""
    found: list[tuple[Tool, tuple[str, ...]]] = []
    for seat in setup.seats:
        for tool in tools_of(setup, seat).values():
            at = next((n for n, (known, _) in enumerate(found) if known == tool), None)
            if at is None:
                found.append((tool, (seat,)))
            else:
                found[at] = tool, (*found[at][1], seat)
    return found


def tagged_call(tools: Mapping[str, Tool], name: str, arguments: Any) -> dict[str, Any]:
    """Return the tagged object of a tool call.

    Raises:
        WrongAction: The tool does not exist, or the arguments are not a mapping.
    """
    if name not in tools:
        raise WrongAction(f"there is no tool {name!r}; {possible(name, tools)}")
    if not isinstance(arguments, Mapping):
        raise WrongAction(f"the arguments of {name!r} are no object")
    return {**arguments, TAG: name}


def object_schema(properties: Mapping[str, Any], required: Iterable[str] = ()) -> dict[str, Any]:
    """Return the JSON Schema of the arguments of a tool that is not an action."""
    schema = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return schema | ({"required": list(required)} if required else {})


def checked_arguments(tool: Tool, given: Any) -> dict[str, Any]:
    """Return the arguments of a call of a tool that is not an action, without those that are None.

    Raises:
        UsageError: They are not an object, or one is unknown, missing or of another type.
    """
    if not isinstance(given or {}, Mapping):
        raise UsageError(f"the arguments of {short_repr(tool.name)} are no object")
    found = {key: value for key, value in (given or {}).items() if value is not None}
    for key in found:
        if key not in tool.fields:
            raise UsageError(f"argument {short_repr(key)} was given; {possible(key, tool.fields)}")
    for key, schema in tool.fields.items():
        if key in found:
            _check_argument(key, found[key], schema)
        elif key in tool.required:
            raise UsageError(f"give the {key}{_listed(schema)}")
    return found


def _check_argument(key: str, value: Any, schema: Mapping[str, Any]) -> None:
    if schema["type"] == "string":
        kind, fits = "string", isinstance(value, str)
    else:
        kind = f"whole number of at least {schema['minimum']}"
        fits = type(value) is int and value >= schema["minimum"]
    if not fits:
        raise UsageError(f"{key} {short_repr(value)} was given; it is a {kind}")
    if value not in schema.get("enum", (value,)):
        raise UsageError(f"{key} {short_repr(value)} was given; {possible(value, schema['enum'])}")


def _listed(schema: Mapping[str, Any]) -> str:
    return f": {', '.join(schema['enum'])}" if "enum" in schema else ""
