"""The vendors' own packages as judges of what is sent: their request types, closed."""

from typing import Any


def request_validator(params: Any) -> Any:
    """Return a validator of a `TypedDict` of requests, which refuses unknown fields everywhere.

    Objects of reply classes, which the vendors' types take besides, are not plain JSON.
    """
    from pydantic import TypeAdapter
    from pydantic_core import SchemaValidator

    return SchemaValidator(_closed(TypeAdapter(params).core_schema))


def _closed(schema: Any) -> Any:
    if isinstance(schema, list | tuple):
        return type(schema)(_closed(each) for each in schema)
    if not isinstance(schema, dict):
        return schema
    match schema.get("type"):
        case "model":
            return {
                "type": "is-instance",
                "cls": schema["cls"],
                **({"ref": schema["ref"]} if "ref" in schema else {}),
            }
        case "generator":  # it would be validated when it is read
            schema = {k: v for k, v in schema.items() if k != "serialization"} | {"type": "list"}
        case "typed-dict":
            schema = {k: v for k, v in schema.items() if k != "config"}
            schema["extra_behavior"] = "forbid"
    return {name: _closed(each) for name, each in schema.items()}
