"""Instances of frozen classes to JSON, and structs of their wire types back to instances.

msgspec encodes attrs classes itself, faster than by way of a struct. It does so as the wire type
says, unless a field is private or not in the constructor, a union needs tags, or the class only
inherits from an attrs class; such instances are converted to structs first.
"""

from collections.abc import Callable, Mapping
from functools import cache
from types import NoneType
from typing import Any, get_args, get_type_hints

import attrs
import msgspec
from msgspec import UNSET, Struct

from desim.errors import sentence
from desim.schema.class_types import check_not_recursive, is_union, members
from desim.schema.wire_types import TAG, tag, wire_type

# It has no hook for numpy: an action with a numpy scalar must fail here, because the process that
# receives the action needs Python's number as well.
_encode = msgspec.json.Encoder().encode

_SCALARS = {int, float, str, bool, NoneType}

# -- to JSON ---------------------------------------------------------------------------------------


@cache
def writer(cls: type) -> Callable[[Any], bytes]:
    """Return the function that writes an instance of a class as a tagged object.

    The function raises TypeError where a field holds a numpy scalar.
    """
    # A nested action goes by way of structs, which keep the fields in their declared order; msgspec
    # writes the fields of an attrs class with slots in alphabetical order.
    if not native(cls) or any(_classes(kind) for kind in field_types(cls).values()):
        return lambda action: _encode(to_struct(action, tagged=frozenset((cls,))))
    start, empty = f'{{"{TAG}":"{tag(cls)}",'.encode(), f'{{"{TAG}":"{tag(cls)}"}}'.encode()

    def write(action: Any) -> bytes:
        body = _encode(action)
        return empty if body == b"{}" else start + body[1:]

    return write


def field_types(cls: type) -> dict[str, Any]:
    """Return the resolved types of the fields of a frozen class, without class variables."""
    kinds = get_type_hints(cls)
    return {f.name: kinds.get(f.name) for f in attrs.fields(cls)}


@cache
def native(cls: type) -> bool:
    """Return whether msgspec alone writes instances of a class as its wire type says."""
    if not attrs.has(cls):
        return True
    # A class that only inherits its attrs fields is unknown to msgspec.
    if "__attrs_attrs__" not in vars(cls):
        return False
    try:
        kinds = get_type_hints(cls)
    except NameError:
        return True
    check_not_recursive(cls)
    return all(
        f.init
        and f.alias == f.name
        and not _tagged_inside(kinds.get(f.name))
        and all(map(native, _classes(kinds.get(f.name))))
        for f in attrs.fields(cls)
    )


def to_struct(value: Any, tagged: frozenset[type] = frozenset()) -> Any:
    """Convert attrs instances, also inside containers, to structs of their wire types.

    Args:
        value: An instance, a container of instances, or any other value, which is returned.
        tagged: The classes whose instances become tagged structs.
    """
    cls: Any = type(value)
    if attrs.has(cls):
        fields = {
            alias: to_struct(getattr(value, name), inside)
            for alias, name, inside in _struct_fields(cls)
        }
        return wire_type(cls, tagged=cls in tagged)(**fields)
    if isinstance(value, list | tuple):
        return [to_struct(v, tagged) for v in value]
    if isinstance(value, Mapping):
        return {k: to_struct(v, tagged) for k, v in value.items()}
    return value


@cache
def _struct_fields(cls: type) -> list[tuple[str, str, frozenset[type]]]:
    """Return by field its name in the struct, its name in the instance, and the tagged classes."""
    kinds = get_type_hints(cls)
    return [
        (str(f.alias), f.name, frozenset(_tagged_inside(kinds.get(f.name))))
        for f in attrs.fields(cls)
        if f.init
    ]


def _tagged_inside(kind: Any) -> list[type]:
    """Return the attrs classes that share a union inside a type."""
    here = [a for a in members(kind) if isinstance(a, type) and attrs.has(a)]
    inside = [cls for inner in get_args(kind) for cls in _tagged_inside(inner)]
    return [*(here if is_union(kind) and len(here) > 1 else ()), *inside]


def _classes(kind: Any) -> list[type]:
    """Return the attrs classes inside a type."""
    here = [kind] if isinstance(kind, type) and attrs.has(kind) else []
    return here + [cls for inner in get_args(kind) for cls in _classes(inner)]


# -- from structs ----------------------------------------------------------------------------------


def from_struct(value: Any, path: str = "$") -> Any:
    """Build the attrs instances of structs, also inside containers; their validators run here.

    Raises:
        ValueError: A validator or converter refuses a value; the text holds the path.
    """
    if isinstance(value, Struct):
        built = {}
        for name in value.__struct_fields__:
            given = getattr(value, name)
            if type(given) in _SCALARS:  # most fields; the call takes longer than the test
                built[name] = given
            elif given is not UNSET:
                built[name] = from_struct(given, f"{path}.{name}")
        try:
            return value.__attrs_class__(**built)  # type: ignore[attr-defined]
        except (TypeError, ValueError) as fault:
            raise ValueError(f"{sentence(fault)} - at `{path}`") from None
    if isinstance(value, list | tuple | set | frozenset):
        return type(value)(from_struct(v, f"{path}[{n}]") for n, v in enumerate(value))
    if isinstance(value, dict):
        return {k: from_struct(v, f"{path}.{k}") for k, v in value.items()}
    return value


def convertible_fields(cls: type) -> tuple[str, ...]:
    """Return the fields whose values decoding may convert: all except whole numbers and bools."""
    hints = get_type_hints(cls)
    kinds = {str(f.alias): {*members(hints.get(f.name, Any))} for f in attrs.fields(cls) if f.init}
    # A field of int and float keeps a number as it is; in a field of float alone 3 becomes 3.0.
    # A field of str may hold bytes or an Enum, which JSON writes as a text.
    exact = ({int, bool, NoneType}, {int, float, bool, NoneType})
    return tuple(name for name, kind in kinds.items() if not kind <= exact[int in kind])


def as_read(action: Any, struct: Struct, convertible: tuple[str, ...]) -> Any:
    """Return the action as a replay reads it: with 3.0 where 3 was given for a float.

    Args:
        action: As it was given.
        struct: As it was decoded from the action's JSON.
        convertible: The result of `convertible_fields`.
    """
    for name in convertible:
        given, read = getattr(action, name, None), getattr(struct, name)
        if not _is_scalar_as_read(given, read) and not _is_tuple_as_read(given, read):
            return from_struct(struct)
    return action


def _is_scalar_as_read(given: Any, read: Any) -> bool:
    return type(given) in _SCALARS and type(given) is type(read)


def _is_tuple_as_read(given: Any, read: Any) -> bool:
    """Return whether a tuple of scalars was given, and decoding has kept the type of each."""
    both = type(given) is tuple and type(read) is tuple
    return both and all(map(_is_scalar_as_read, given, read))
