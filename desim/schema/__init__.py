"""Frozen classes to tagged objects, back again, and to JSON Schema; arguments from text.

An action `Order(quantity=12)` is written `{"do": "order", "quantity": 12}`, `do` being the class
name in snake_case.
"""

from desim.schema.codecs import (
    Codec,
    check_observation,
    class_of,
    codec,
    encode,
    encode_observation,
    encode_tagged,
    from_plain,
    has_tags,
    json_schema,
    plain_observation,
    tagged,
    to_plain,
)
from desim.schema.convert import type_check
from desim.schema.wire_types import TAG, members, tag

__all__ = [
    "TAG",
    "Codec",
    "check_observation",
    "class_of",
    "codec",
    "encode",
    "encode_observation",
    "encode_tagged",
    "from_plain",
    "has_tags",
    "json_schema",
    "members",
    "plain_observation",
    "tag",
    "tagged",
    "to_plain",
    "type_check",
]
