"""Frozen classes to tagged objects, back again, and to JSON Schema; arguments from text.

An action `Order(quantity=12)` is written `{"do": "order", "quantity": 12}`, `do` being the class
name in snake_case.
"""

from desim.schema.codecs import Codec as Codec
from desim.schema.codecs import check_observation as check_observation
from desim.schema.codecs import class_of as class_of
from desim.schema.codecs import codec as codec
from desim.schema.codecs import encode as encode
from desim.schema.codecs import encode_observation as encode_observation
from desim.schema.codecs import encode_tagged as encode_tagged
from desim.schema.codecs import from_plain as from_plain
from desim.schema.codecs import has_tags as has_tags
from desim.schema.codecs import json_schema as json_schema
from desim.schema.codecs import plain_observation as plain_observation
from desim.schema.codecs import tagged as tagged
from desim.schema.codecs import to_plain as to_plain
from desim.schema.convert import type_check as type_check
from desim.schema.wire_types import TAG as TAG
from desim.schema.wire_types import members as members
from desim.schema.wire_types import tag as tag
