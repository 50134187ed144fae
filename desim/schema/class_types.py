"""Classes that contain themselves, which a schema here cannot describe.

Unions of types, written `A | B` or `Union[A, B]`.
"""

from collections.abc import Iterable
from contextlib import suppress
from functools import cache, reduce
from operator import or_
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import attrs

from desim.errors import SchemaError


@cache
def check_not_recursive(kind: Any) -> None:
    """Check that no attrs class inside a type contains itself.

    Wire types and type checks are built from the inside out, which would not end; and a tree of any
    depth would be an observation or an action of any size.

    Raises:
        SchemaError: One does; the text names the classes on the way back to it.
    """
    _check(kind, ())


def field_types(cls: type, *, include_extras: bool = False) -> dict[str, Any]:
    """Return the declared types of a class's fields by name.

    Raises:
        SchemaError: One is written as a text that names nothing where the class is defined.
    """
    try:
        return get_type_hints(cls, include_extras=include_extras)
    except NameError as fault:
        raise SchemaError(f"a type of a field of {cls.__name__} is unknown: {fault}") from None


def _check(kind: Any, outside: tuple[type, ...]) -> None:
    if isinstance(kind, type) and attrs.has(kind):
        if kind in outside:
            names = " -> ".join(cls.__name__ for cls in (*outside[outside.index(kind) :], kind))
            raise SchemaError(
                f"{kind.__name__} contains itself ({names}), which no observation, action or "
                "parameter may; hold the parts in one list and refer to each by its number"
            )
        hints: dict[str, Any] = {}
        with suppress(NameError):  # `field_types` raises an error where the types are needed
            hints = get_type_hints(kind)
        for each in attrs.fields(kind):
            _check(hints.get(each.name, Any), (*outside, kind))
    elif get_origin(kind) is not Literal:
        for inside in get_args(kind):
            _check(inside, outside)


def is_union(kind: Any) -> bool:
    """Return whether a type is a union."""
    return get_origin(kind) in (Union, UnionType)


def members(kind: Any) -> tuple[Any, ...]:
    """Return the types of a union, or the one type."""
    return get_args(kind) if is_union(kind) else (kind,)


def union_of(kinds: Iterable[Any]) -> Any:
    """Return the union of one or more types."""
    return reduce(or_, kinds)
