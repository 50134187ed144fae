"""A role's actions as tools or as a strict schema, as an endpoint takes them.

Both are made from the JSON Schema of the action classes; see `desim.schema.described`.
"""

from collections.abc import Mapping
from typing import Any

from desim.schema.described import Schema


def as_tools(schemas: Mapping[str, Schema]) -> list[Schema]:
    """Return one tool for each action."""
    return [_tool(name, schema) for name, schema in schemas.items()]


def _tool(name: str, schema: Schema) -> Schema:
    """Return one tool; the description of its schema becomes the tool's."""
    parameters = {key: value for key, value in schema.items() if key != "description"}
    about = schema.get("description", "")
    return {
        "type": "function",
        "function": {"name": name, "description": about, "parameters": parameters},
    }


def answer_schema(schemas: Mapping[str, Schema]) -> Schema:
    """Return the strict schema of one tagged object out of several.

    A strict schema is an object at its root, so a choice is wrapped as
    `{"action": {"do": ..., ...}}`; a single action is not.
    """
    choices = [_tagged(name, schema) for name, schema in schemas.items()]
    if len(choices) == 1:
        return strict(choices[0])
    return strict(as_object({"action": {"anyOf": choices}}))


def as_object(properties: Mapping[str, Schema]) -> Schema:
    """Return the schema of an object that requires these properties."""
    return {"type": "object", "properties": dict(properties), "required": [*properties]}


def _tagged(name: str, schema: Schema) -> Schema:
    properties = {"do": {"type": "string", "enum": [name]}, **schema["properties"]}
    return {**schema, "properties": properties, "required": ["do", *schema["required"]]}


def strict(schema: Schema) -> Schema:
    """Make a schema strict: every property required, no other allowed, an optional one nullable."""
    result = {key: _strict_inside(each) for key, each in schema.items() if key != "default"}
    if schema.get("type") == "object" and "properties" in schema:
        needed = schema.get("required", ())
        result["properties"] = {
            name: strict(each) if name in needed else _nullable(strict(each))
            for name, each in schema["properties"].items()
        }
        result |= {"required": [*schema["properties"]], "additionalProperties": False}
    return result


def _strict_inside(value: Any) -> Any:
    if isinstance(value, list):
        return [_strict_inside(each) for each in value]
    return strict(value) if isinstance(value, dict) else value


def _nullable(schema: Schema) -> Schema:
    choices = schema.get("anyOf", [schema])
    null = {"type": "null"}
    return schema if null in choices else {"anyOf": [*choices, null]}
