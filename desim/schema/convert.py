"""Values of declared types: a quick check, to JSON, and from structs of wire types to instances.

msgspec encodes attrs classes itself, faster than by way of a struct. It does so as the wire type
says, unless a field is private or not in the constructor, a union needs tags, or the class only
inherits from an attrs class; such instances are converted to structs first.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from types import NoneType
from typing import Any

import attrs
import msgspec
from msgspec import UNSET, Struct

from desim.errors import SchemaError, sentence
from desim.schema.wire_types import (
    TAG,
    classes_inside,
    field_types,
    is_class,
    members,
    tag,
    tagged_inside,
    wire_type,
)

# -- numbers ---------------------------------------------------------------------------------------


def plain_scalar(value: Any) -> Any:
    """Convert a numpy scalar to Python's number or truth value; other types raise `TypeError`."""
    if getattr(value, "shape", None) == () and callable(item := getattr(value, "item", None)):
        return item()
    raise TypeError(f"a value of type {type(value).__name__} cannot be written as JSON")


def check_finite(value: Any) -> None:
    """Raise a `ValueError` that names the first nan or infinity inside a value, if there is one."""
    try:
        path = next(_not_finite(value, "$"), None)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if path:
        raise ValueError(f"not a finite number - at `{path}`")


def _not_finite(value: Any, path: str) -> Iterator[str]:
    inside: Iterable[tuple[str, Any]] = ()
    if isinstance(value, float):
        if not math.isfinite(value):
            yield path
    elif isinstance(value, Mapping):
        inside = ((f".{key}", inner) for key, inner in value.items())
    elif isinstance(value, list | tuple):
        inside = ((f"[{index}]", inner) for index, inner in enumerate(value))
    elif attrs.has(type(value)):
        inside = ((f".{f.name}", getattr(value, f.name)) for f in attrs.fields(type(value)))
    for step, inner in inside:
        yield from _not_finite(inner, path + step)


# -- a quick check ---------------------------------------------------------------------------------


@cache
def type_check(kind: Any) -> Callable[[Any], bool]:
    """Return a function that is True only for instances of a class, or a union's, that fit it.

    An observation is checked at every decision; to encode and decode it takes fifty times as long.
    A value for which the function returns False may still fit, and is left to that: one with a
    numpy scalar, an instance of a derived class.
    """
    classes = [cls for cls in members(kind) if is_class(cls)]
    checks = {cls: (scalar_fields(cls), wire_type(cls, tagged=False)) for cls in classes}

    def fits(value: Any) -> bool:
        try:
            scalars, wire = checks[type(value)]
            if not has_exact(value, scalars):
                msgspec.convert(value, wire, from_attributes=True)
        except (KeyError, TypeError, msgspec.ValidationError):
            return False
        return True

    return fits


# -- to JSON ---------------------------------------------------------------------------------------

# Policies often return a numpy scalar.
_encode = msgspec.json.Encoder(enc_hook=plain_scalar).encode


@cache
def writer(cls: type) -> Callable[[Any], bytes]:
    """Return the function that writes an instance of a class as a tagged object."""
    # A nested action goes by way of structs, which keep the fields in their declared order; msgspec
    # writes the fields of an attrs class with slots in alphabetical order.
    if not native(cls) or any(classes_inside(kind) for kind in field_types(cls).values()):
        return lambda action: _encode(to_struct(action, tagged=frozenset((cls,))))
    start, empty = f'{{"{TAG}":"{tag(cls)}",'.encode(), f'{{"{TAG}":"{tag(cls)}"}}'.encode()

    def write(action: Any) -> bytes:
        body = _encode(action)
        return empty if body == b"{}" else start + body[1:]

    return write


@cache
def native(cls: type) -> bool:
    """Return whether msgspec alone writes instances of a class as its wire type says."""
    if not attrs.has(cls):
        return True
    # A class that only inherits its attrs fields is unknown to msgspec.
    if "__attrs_attrs__" not in vars(cls):
        return False
    try:
        kinds = field_types(cls).values()
    except SchemaError:
        return True
    wire_type(cls, tagged=False)  # refuses a class that contains itself
    return (
        all(f.init and f.alias == f.name for f in attrs.fields(cls))
        and not any(map(tagged_inside, kinds))
        and all(native(each) for kind in kinds for each in classes_inside(kind))
    )


def to_struct(value: Any, tagged: frozenset[type] = frozenset()) -> Any:
    """Convert attrs instances, also inside containers, to structs; *tagged* ones have a tag."""
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
    """Return by field its names in the struct and in the instance, and the tagged classes."""
    kinds = field_types(cls)
    return [
        (str(f.alias), f.name, frozenset(tagged_inside(kinds[f.name])))
        for f in attrs.fields(cls)
        if f.init
    ]


# -- from structs ----------------------------------------------------------------------------------

SCALARS = {int, float, str, bool, NoneType}


def scalar_fields(cls: type) -> dict[str, set[Any]] | None:
    """Return the fields of a class of scalars with their types; None for another class."""
    kinds = {name: {*members(kind)} for name, kind in field_types(cls, include_extras=True).items()}
    built = any(each.converter or not each.init for each in attrs.fields(cls))
    return None if built or not all(kind <= SCALARS for kind in kinds.values()) else kinds


def has_exact(value: Any, fields: dict[str, set[Any]] | None) -> bool:
    """Return whether the fields of an instance have exactly these types, so it fits unchanged.

    Validators have checked their limits already. A whole number in a field of floats is not exact.
    """
    for name, kinds in (fields or {}).items():
        if type(getattr(value, name)) not in kinds:
            return False
    return fields is not None


def from_struct(value: Any, path: str = "$") -> Any:
    """Build the attrs instances of structs, also inside containers; a `ValueError` has the path."""
    if isinstance(value, Struct):
        # Most fields are scalars; the call takes longer than the test.
        built = {
            name: given if type(given) in SCALARS else from_struct(given, f"{path}.{name}")
            for name, given in msgspec.structs.asdict(value).items()
            if given is not UNSET
        }
        try:
            return value.__attrs_class__(**built)  # type: ignore[attr-defined]
        except (TypeError, ValueError) as fault:
            raise ValueError(f"{sentence(fault)} - at `{path}`") from None
    if isinstance(value, list | tuple | set | frozenset):
        return type(value)(from_struct(v, f"{path}[{n}]") for n, v in enumerate(value))
    if isinstance(value, dict):
        return {k: from_struct(v, f"{path}.{k}") for k, v in value.items()}
    return value
