"""What a role does, told to a model: tools, a strict schema of the answer, or a menu in words.

All three are made from the JSON Schema of the role's action classes.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from desim.schema import Codec, json_schema

__all__ = ["Schema", "actions", "fields_of", "menu", "strict", "tools", "wrapped"]

Schema = dict[str, Any]

#: Left out of what a model is sent: grammars of local servers do not take every pattern, and a
#: title says nothing. Answers are checked against the whole schema anyway.
_LEFT_OUT = ("title", "pattern", "discriminator")

#: Beyond these a bound says nothing, and makes grammars long.
_FAR = 10**12


def actions(codec: Codec, known: Collection[str] = ()) -> dict[str, Schema]:
    """Return the JSON Schema of every action by name, without its tag and without references.

    Args:
        codec: What the role does.
        known: Only these; empty stands for all.
    """
    whole = codec.json_schema()
    defs = whole.get("$defs", {})
    found: dict[str, Schema] = {}
    for name, cls in codec.classes.items():
        if not known or name in known:
            plain = _plain(defs[cls.__name__], defs, ())
            plain["properties"].pop("do")
            plain["required"] = [key for key in plain["required"] if key != "do"]
            found[name] = plain
    return found


def tools(told: Mapping[str, Schema]) -> list[Schema]:
    """Return one tool an action."""
    return [tool(name, schema) for name, schema in told.items()]


def tool(name: str, schema: Schema) -> Schema:
    """Return one tool; its schema's description becomes the tool's."""
    parameters = {key: value for key, value in schema.items() if key != "description"}
    about = schema.get("description", "")
    return {
        "type": "function",
        "function": {"name": name, "description": about, "parameters": parameters},
    }


def wrapped(told: Mapping[str, Schema], tag: str = "do") -> Schema:
    """Return the schema of one tagged object out of several: `{"action": {"do": ..., ...}}`.

    A strict schema is an object at its root, so a choice is wrapped; a single action is not.
    """
    choices = [_tagged(name, schema, tag) for name, schema in told.items()]
    if len(choices) == 1:
        return strict(choices[0])
    return strict(as_object({"action": {"anyOf": choices}}))


def as_object(properties: Mapping[str, Schema]) -> Schema:
    """Return the schema of an object with these properties."""
    return {"type": "object", "properties": dict(properties), "required": [*properties]}


def _tagged(name: str, schema: Schema, tag: str) -> Schema:
    properties = {tag: {"type": "string", "enum": [name]}, **schema["properties"]}
    return {**schema, "properties": properties, "required": [tag, *schema["required"]]}


def strict(schema: Schema) -> Schema:
    """Make a schema strict: every property required, no other allowed, an optional one nullable."""
    told = {key: _strict(each) for key, each in schema.items() if key != "default"}
    if schema.get("type") == "object" and "properties" in schema:
        needed = schema.get("required", ())
        told["properties"] = {
            name: strict(each) if name in needed else _nullable(strict(each))
            for name, each in schema["properties"].items()
        }
        told |= {"required": [*schema["properties"]], "additionalProperties": False}
    return told


def _strict(value: Any) -> Any:
    if isinstance(value, list):
        return [_strict(each) for each in value]
    return strict(value) if isinstance(value, dict) else value


def _nullable(schema: Schema) -> Schema:
    choices = schema.get("anyOf", [schema])
    null = {"type": "null"}
    return schema if null in choices else {"anyOf": [*choices, null]}


def menu(told: Mapping[str, Schema], tag: str = "do") -> str:
    """Return a line an action and one an argument, for a model that reads no tools."""
    lines: list[str] = []
    for name, schema in told.items():
        lines.append(f'- {{"{tag}": "{name}"}}: {schema.get("description", "")}')
        needed = schema.get("required", ())
        for key, each in schema["properties"].items():
            about = each.get("description", "")
            must = "" if key in needed else ", optional"
            lines.append(f'    "{key}" ({_kind(each)}{must}): {about}')
    return "\n".join(lines)


def fields_of(sees: type) -> str:
    """Return a line a field of what a role sees, then those of the classes within it."""
    whole = json_schema(sees)
    defs = dict(whole.get("$defs", {}))
    own = defs.pop(sees.__name__, whole)
    within = [f"Each {name}:\n{_lines(schema)}" for name, schema in defs.items()]
    return "\n".join([_lines(own), *within])


def _lines(schema: Schema) -> str:
    told = schema.get("properties", {}).items()
    return "\n".join(f"- {name}: {each.get('description', '')}" for name, each in told)


def _kind(schema: Schema) -> str:
    """Name a schema's type in a word or two."""
    if "enum" in schema:
        return " or ".join(repr(each) for each in schema["enum"])
    if "anyOf" in schema:
        kinds = [_kind(each) for each in schema["anyOf"] if each.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return str(schema.get("type", "any JSON value"))


def _plain(schema: Any, defs: Mapping[str, Any], inside: Sequence[str]) -> Any:
    """Put what is referred to in place of the reference; what contains itself ends as anything."""
    if isinstance(schema, list):
        return [_plain(each, defs, inside) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return {} if name in inside else {**_plain(defs[name], defs, (*inside, name)), **rest}
    return {
        key: _named(each, defs, inside) if key == "properties" else _plain(each, defs, inside)
        for key, each in schema.items()
        if key not in (*_LEFT_OUT, "$defs") and not _far(key, each)
    }


def _named(properties: Mapping[str, Any], defs: Mapping[str, Any], inside: Sequence[str]) -> Schema:
    """Go through properties, whose names may be those of keywords."""
    return {name: _plain(each, defs, inside) for name, each in properties.items()}


def _far(key: str, value: Any) -> bool:
    return key in ("minimum", "maximum") and abs(value) >= _FAR
