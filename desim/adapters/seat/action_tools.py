"""A seat's actions as tools: a name, a description, and the JSON Schema of the arguments."""

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from desim.adapters.seat.setup import Setup
from desim.errors import WrongAction, possible
from desim.schema import TAG
from desim.schema.described import action_schemas


@frozen
class Tool:
    """One action of a seat.

    Attributes:
        name: The action's tag, such as `order`.
        description: The effect of the action, in one paragraph.
        parameters: The JSON Schema of its arguments, an object without references.
        action: The frozen class.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    action: type


def tools_of(setup: Setup, seat: str) -> dict[str, Tool]:
    """Return the tools of a seat by name."""
    codec = setup.codec(seat)
    found: dict[str, Tool] = {}
    for name, schema in action_schemas(codec).items():
        parameters = {key: each for key, each in schema.items() if key != "description"}
        found[name] = Tool(name, schema.get("description", ""), parameters, codec.classes[name])
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
