"""Observations and actions in words, for readers without Python, from their JSON Schema."""

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from types import UnionType
from typing import Any

from desim.schema.codecs import Codec, json_schema
from desim.schema.wire_types import TAG, members, tag

Schema = dict[str, Any]

#: Keywords that are not sent: grammars of local servers do not support every pattern, and a title
#: adds nothing. Answers are checked against the whole schema anyway.
_LEFT_OUT = ("title", "pattern", "discriminator", "$defs")

#: Bounds from this size on are not sent: they make grammars long and exclude nothing.
_LARGE = 10**12


def action_schemas(codec: Codec, known: Collection[str] = ()) -> dict[str, Schema]:
    """Return the JSON Schema of all or the *known* actions by name, without tags and references."""
    defs = codec.json_schema().get("$defs", {})
    schemas: dict[str, Schema] = {}
    for name, cls in codec.classes.items():
        if not known or name in known:
            schema = _resolved(defs[cls.__name__], defs)
            schema["properties"].pop(TAG)
            schema["required"].remove(TAG)
            schemas[name] = schema
    return schemas


def _resolved(schema: Any, defs: Mapping[str, Any]) -> Any:
    """Replace references by what they refer to, and leave out what is not sent."""
    if isinstance(schema, list):
        return [_resolved(each, defs) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return {**_resolved(defs[schema["$ref"].rsplit("/", 1)[-1]], defs), **rest}
    sent = {}
    for key, each in schema.items():
        is_large = key in ("minimum", "maximum") and abs(each) >= _LARGE
        if key == "properties":  # their names are no keywords, so none is left out
            sent[key] = {name: _resolved(one, defs) for name, one in each.items()}
        elif key not in _LEFT_OUT and not is_large:
            sent[key] = _resolved(each, defs)
    return sent


def menu(schemas: Mapping[str, Schema], key: str = TAG) -> str:
    """Return one line for each action, which an answer names under *key*, and each argument."""
    lines: list[str] = []
    for name, schema in schemas.items():
        lines.append(f'- {{"{key}": "{name}"}}: {schema.get("description", "")}')
        needed = schema.get("required", ())
        for argument, each in schema["properties"].items():
            optional = "" if argument in needed else ", optional"
            about = each.get("description", "")
            lines.append(f'    "{argument}" ({_type_name(each)}{optional}): {about}')
    return "\n".join(lines)


def _type_name(schema: Schema) -> str:
    if "enum" in schema:
        return " or ".join(repr(each) for each in schema["enum"])
    if "anyOf" in schema:
        kinds = [_type_name(each) for each in schema["anyOf"] if each.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if schema.get("type") == "array":
        return f"list of {_type_name(schema.get('items', {}))}"
    return str(schema.get("type", "any JSON value"))


#: Returns what is added to the line of a field: by class name, name of the field, and its text.
FieldNote = Callable[[str, str, str], str]


@lru_cache(maxsize=256)
def field_lines(observation: type | UnionType, note: FieldNote = lambda *_: "") -> str:
    """Return one line for each field of an observation, then those of the classes within it.

    The fields of a union's classes have a heading with the tag of the class.
    """
    whole = json_schema(observation)
    defs = dict(whole.get("$defs", {}))
    is_union = len(members(observation)) > 1
    blocks = []
    for cls in members(observation):
        schema = defs.pop(cls.__name__, whole)
        heading = ""
        if is_union:
            schema["properties"].pop(TAG)
            about = f" ({text.rstrip('.')})" if (text := schema.get("description", "")) else ""
            heading = f'Where "{TAG}" is "{tag(cls)}"{about}:\n'
        blocks.append(heading + _lines(schema, cls.__name__, note))
    within = (f"Each {name}:\n{_lines(schema, name, note)}" for name, schema in defs.items())
    return "\n".join([*blocks, *within])


def _lines(schema: Schema, cls: str, note: FieldNote) -> str:
    texts = {n: each.get("description", "") for n, each in schema.get("properties", {}).items()}
    return "\n".join(f"- {name}: {text}{note(cls, name, text)}" for name, text in texts.items())
