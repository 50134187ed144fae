"""A role's observations and actions in words: the schema of each action, menus, lists of fields.

All of it is made from the JSON Schema of the frozen classes, for readers that see no Python: a
language model, an agent behind a protocol.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from types import UnionType
from typing import Any

from desim.schema.codecs import Codec, json_schema
from desim.schema.wire_types import TAG, members, tag

Schema = dict[str, Any]

#: Keywords that are not sent: grammars of local servers do not support every pattern, and a title
#: adds nothing. Answers are checked against the whole schema anyway.
_LEFT_OUT = ("title", "pattern", "discriminator")

#: Bounds from this size on are not sent: they make grammars long and exclude nothing.
_LARGE = 10**12


def action_schemas(codec: Codec, known: Collection[str] = ()) -> dict[str, Schema]:
    """Return the JSON Schema of every action by name, without its tag and without references.

    Args:
        codec: The role's actions.
        known: Names of the actions to return; empty stands for all.
    """
    whole = codec.json_schema()
    defs = whole.get("$defs", {})
    schemas: dict[str, Schema] = {}
    for name, cls in codec.classes.items():
        if not known or name in known:
            schema = _resolved(defs[cls.__name__], defs, ())
            schema["properties"].pop("do")
            schema["required"] = [key for key in schema["required"] if key != "do"]
            schemas[name] = schema
    return schemas


def menu(schemas: Mapping[str, Schema], key: str = "do") -> str:
    """Return one line for each action and one for each argument, for a model without tools.

    Args:
        schemas: The actions.
        key: The key under which an answer names its action.
    """
    lines: list[str] = []
    for name, schema in schemas.items():
        lines.append(f'- {{"{key}": "{name}"}}: {schema.get("description", "")}')
        needed = schema.get("required", ())
        for argument, each in schema["properties"].items():
            about = each.get("description", "")
            optional = "" if argument in needed else ", optional"
            lines.append(f'    "{argument}" ({_type_name(each)}{optional}): {about}')
    return "\n".join(lines)


#: Returns what is added to the line of a field: by class name, name of the field, and its text.
FieldNote = Callable[[str, str, str], str]


def _no_note(*_: str) -> str:
    return ""


@lru_cache(maxsize=256)
def field_lines(observation: type | UnionType, note: FieldNote = _no_note) -> str:
    """Return one line for each field of an observation, then those of the classes within it.

    The fields of a union's classes have a heading with the tag of the class.

    Args:
        observation: The class, or a union of classes.
        note: Returns what is added to the line of a field.
    """
    whole = json_schema(observation)
    defs = dict(whole.get("$defs", {}))
    classes = members(observation)
    own = [(cls, defs.pop(cls.__name__, whole)) for cls in classes]
    within = [f"Each {name}:\n{_lines(schema, name, note)}" for name, schema in defs.items()]
    if len(classes) == 1:
        return "\n".join([_lines(own[0][1], classes[0].__name__, note), *within])
    return "\n".join([*(_with_heading(cls, schema, note) for cls, schema in own), *within])


def _with_heading(cls: type, schema: Schema, note: FieldNote) -> str:
    """Return the fields of one of a union's classes below its tag and what it stands for."""
    about = f" ({text.rstrip('.')})" if (text := schema.get("description", "")) else ""
    fields = {key: each for key, each in schema["properties"].items() if key != TAG}
    lines = _lines({"properties": fields}, cls.__name__, note)
    return f'Where "{TAG}" is "{tag(cls)}"{about}:\n{lines}'


def _lines(schema: Schema, cls: str, note: FieldNote) -> str:
    texts = {
        name: each.get("description", "") for name, each in schema.get("properties", {}).items()
    }
    return "\n".join(f"- {name}: {text}{note(cls, name, text)}" for name, text in texts.items())


def _type_name(schema: Schema) -> str:
    """Return a schema's type in a word or two."""
    if "enum" in schema:
        return " or ".join(repr(each) for each in schema["enum"])
    if "anyOf" in schema:
        kinds = [_type_name(each) for each in schema["anyOf"] if each.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if schema.get("type") == "array":
        return f"list of {_type_name(schema.get('items', {}))}"
    return str(schema.get("type", "any JSON value"))


def _resolved(schema: Any, defs: Mapping[str, Any], inside: Sequence[str]) -> Any:
    """Replace references by what they refer to; one that contains itself by an empty schema.

    Args:
        schema: A schema or a part of one.
        defs: Definitions by name.
        inside: Names of the definitions that are being resolved.
    """
    if isinstance(schema, list):
        return [_resolved(each, defs, inside) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return {} if name in inside else {**_resolved(defs[name], defs, (*inside, name)), **rest}
    return {
        key: _properties(each, defs, inside)
        if key == "properties"
        else _resolved(each, defs, inside)
        for key, each in schema.items()
        if key not in (*_LEFT_OUT, "$defs") and not _large_bound(key, each)
    }


def _properties(
    properties: Mapping[str, Any], defs: Mapping[str, Any], inside: Sequence[str]
) -> Schema:
    """Resolve all properties: their names are not keywords, so none is left out."""
    return {name: _resolved(each, defs, inside) for name, each in properties.items()}


def _large_bound(key: str, value: Any) -> bool:
    return key in ("minimum", "maximum") and abs(value) >= _LARGE
