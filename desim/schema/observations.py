"""Observations of a role that observes several classes: which one it is, and its tag in JSON.

A role's observation is one class as a rule, and is written without a tag. Where it is a union of
classes, every observation has a tag, as the JSON Schema of the union says.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import attrs
import msgspec

from desim.schema.class_types import members
from desim.schema.codecs import encode, encode_tagged
from desim.schema.wire_types import TAG, tag


@cache
def has_tags(kind: Any) -> bool:
    """Return whether observations of a class, or of a union of classes, are written with a tag."""
    return len(members(kind)) > 1


def encode_observation(observation: Any, kind: Any) -> bytes:
    """Return an observation of a role as JSON, with its tag where the role has several classes."""
    return encode_tagged(observation) if has_tags(kind) else encode(observation)


def plain_observation(observation: Any, kind: Any) -> Any:
    """Return an observation of a role as the JSON values of a record."""
    return msgspec.json.decode(encode_observation(observation, kind))


def class_of(observation: Any, kind: Any) -> Any:
    """Return the class of an observation, an instance or what a record holds of it.

    Args:
        observation: The observation.
        kind: The role's class, or union of classes; returned if no class of a union fits.
    """
    if not has_tags(kind):
        return kind
    if isinstance(observation, Mapping):
        named = observation.get(TAG)
        return next((cls for cls in members(kind) if tag(cls) == named), kind)
    return type(observation) if attrs.has(type(observation)) else kind
