"""The wire type of a frozen class: a msgspec struct with its fields, constraints and texts.

msgspec reads attrs classes too, but ignores unknown keys and aliases there, and takes no union of
them. A wire type refuses unknown keys, has the names that the constructor takes, and carries the
tag by which the classes of a union are told apart.
"""

import re
from functools import cache
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

import attrs
import msgspec
from msgspec import UNSET, Meta, Struct

from desim.errors import SchemaError
from desim.schema.constraints import constrained
from desim.schema.docstrings import attribute_texts, summary
from desim.schema.recursion import check_not_recursive, field_types
from desim.schema.unions import is_union, union_of

__all__ = ["TAG", "tag", "wire_kind", "wire_type"]

#: The key that names the class of a tagged object.
TAG = "do"


@cache
def tag(cls: type) -> str:
    """Return a class name in snake_case: `AssignAll` is `assign_all`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", cls.__name__).lower()


@cache
def wire_type(cls: type, *, tagged: bool) -> type[Struct]:
    """Return the wire type of an attrs class; its attribute `__attrs_class__` is that class.

    Raises:
        SchemaError: A class that is tagged has a field of the name that holds the tag, or a class
            contains itself, or the type of a field is unknown.
    """
    check_not_recursive(cls)
    hints = field_types(cls, include_extras=True)
    texts = attribute_texts(cls)
    fields: list[Any] = []
    for each in attrs.fields(cls):
        if not each.init:
            continue
        kind = constrained(wire_kind(hints.get(each.name, Any)), each.validator)
        if each.name in texts:
            kind = Annotated[kind, Meta(description=texts[each.name])]
        fields.append((each.alias, kind, *_default(each)))
    if tagged and any(name == TAG for name, *_ in fields):
        raise SchemaError(f"{cls.__name__} has a field {TAG!r}, the key that holds a class's name")
    named = {"tag": tag(cls), "tag_field": TAG} if tagged else {}
    return msgspec.defstruct(
        cls.__name__,
        fields,
        namespace={"__doc__": summary(cls), "__attrs_class__": cls},
        kw_only=True,
        forbid_unknown_fields=True,
        frozen=True,
        **named,  # type: ignore[arg-type]
    )


def wire_kind(kind: Any) -> Any:
    """Replace every attrs class inside a type by its wire type; in a union these are tagged."""
    if isinstance(kind, type) and attrs.has(kind):
        return wire_type(kind, tagged=False)
    if get_origin(kind) is Annotated:
        return Annotated[(wire_kind(get_args(kind)[0]), *kind.__metadata__)]
    if not get_args(kind) or get_origin(kind) is Literal:
        return kind
    args = get_args(kind)
    if is_union(kind):
        several = sum(isinstance(a, type) and attrs.has(a) for a in args) > 1
        return union_of(
            wire_type(a, tagged=several) if attrs.has(a) else wire_kind(a) for a in args
        )
    return get_origin(kind)[tuple(wire_kind(a) if a is not ... else a for a in args)]


def _default(each: "attrs.Attribute[Any]") -> tuple[Any, ...]:
    if each.default is attrs.NOTHING:
        return ()
    if isinstance(each.default, int | float | str | NoneType):
        return (each.default,)
    # Any other default may be mutable or a factory: the attrs class itself fills it in.
    return (UNSET,)
