"""A tool as a method of a class: its signature with type hints, and a docstring in Google's form.

Libraries that make a tool of a Python function read both. Constraints that a type hint cannot
express, such as bounds, are in the text of the argument; the schema checks them anyway.
"""

import inspect
from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import Any, Literal

from desim.adapters.seat.action_tools import Tool

_PLAIN: Mapping[str, Any] = {
    "integer": int,
    "number": float,
    "string": str,
    "boolean": bool,
    "null": None,
    "object": dict[str, Any],
    "array": list[Any],
}

#: Keywords that a type hint cannot express, and the words for them.
_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "below {}",
    "minLength": "at least {:,} characters",
    "maxLength": "at most {:,} characters",
    "minItems": "at least {:,} items",
    "maxItems": "at most {:,} items",
}


def hint(schema: Mapping[str, Any]) -> Any:
    """Return the type hint of a JSON Schema without references; `Any` if it states no type."""
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    if "anyOf" in schema:
        return _either([hint(each) for each in schema["anyOf"]])
    kind = schema.get("type")
    if isinstance(kind, list):
        return _either([_PLAIN[each] for each in kind])
    if kind == "array" and (inside := _items(schema)):
        return list[_either([hint(each) for each in inside])]  # type: ignore[misc] # made at run time
    return _PLAIN.get(str(kind), Any)


def signature(tool: Tool) -> inspect.Signature:
    """Return the signature of a tool as a method: arguments by keyword, a text in return."""
    required = tool.parameters.get("required", ())
    arguments = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hint(schema),
            default=inspect.Parameter.empty if name in required else schema.get("default"),
        )
        for name, schema in tool.parameters["properties"].items()
    ]
    self = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    return inspect.Signature([self, *arguments], return_annotation=str)


def docstring(tool: Tool, returns: str) -> str:
    """Return a docstring: what the tool does, its arguments, and what it returns."""
    lines = [_line(tool.description) or tool.name]
    if properties := tool.parameters["properties"]:
        lines += ["", "Args:"]
        lines += [f"    {name}: {_argument(each)}" for name, each in properties.items()]
    return "\n".join([*lines, "", "Returns:", f"    {returns}"])


def _either(hints: list[Any]) -> Any:
    """Return a union; `Any` if one of its types is `Any`."""
    return Any if Any in hints else reduce(or_, hints)


def _items(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the schemas of an array's items; empty if any items are allowed."""
    within = list(schema.get("prefixItems", ()))
    items = schema.get("items")
    return [*within, items] if isinstance(items, Mapping) and items else within


def _argument(schema: Mapping[str, Any]) -> str:
    bounds = [words.format(schema[key]) for key, words in _BOUNDS.items() if key in schema]
    text = _line(schema.get("description", "")) or "No description."
    return f"{text} ({', '.join(bounds)})" if bounds else text


def _line(text: str) -> str:
    """Return a text as one line: in a docstring a new line could begin another argument."""
    return " ".join(text.split())
