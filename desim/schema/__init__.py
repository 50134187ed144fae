"""Frozen classes to tagged objects, back again, and to JSON Schema; arguments from text.

An action `Order(quantity=12)` is written `{"do": "order", "quantity": 12}`, `do` being the class
name in snake_case.
"""

from desim.schema.codecs import (
    Codec,
    check_observation,
    codec,
    encode,
    from_plain,
    json_schema,
    tagged,
    to_plain,
)
from desim.schema.type_check import type_check
from desim.schema.unions import members
from desim.schema.wire_types import TAG, tag

__all__ = [
    "TAG",
    "Codec",
    "check_observation",
    "codec",
    "encode",
    "from_plain",
    "json_schema",
    "members",
    "tag",
    "tagged",
    "to_plain",
    "type_check",
]
