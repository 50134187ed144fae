"""Instances of frozen classes to the structs that mirror them, to JSON, and back."""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import attrs
import msgspec
from msgspec import UNSET, Struct

from desim.mirror import TAG, members, mirror, mirrored, tag

__all__ = [
    "as_read",
    "as_told",
    "build",
    "infinite",
    "loose",
    "plain_numbers",
    "plain_scalar",
    "refuse_infinite",
    "sentence",
    "writer",
]


def plain_scalar(value: Any) -> Any:
    """Turn a number of numpy into one of Python's.

    Raises:
        TypeError: It is something else, which JSON cannot hold.
    """
    if getattr(value, "shape", None) == () and callable(item := getattr(value, "item", None)):
        return item()
    raise TypeError(f"a value of type {type(value).__name__} cannot be written as JSON")


# Without a hook: an action that holds a number of numpy has to be turned into one without.
_encode = msgspec.json.Encoder().encode

_SCALARS = {int, float, str, bool, NoneType}


@cache
def writer(cls: type) -> Callable[[Any], bytes]:
    """Return the fastest way to write an instance as a tagged object."""
    if _flat(cls):
        head, empty = f'{{"{TAG}":"{tag(cls)}"'.encode(), f'{{"{TAG}":"{tag(cls)}"}}'.encode()

        def write(action: Any) -> bytes:
            body = _encode(action)
            return empty if body == b"{}" else head + b"," + body[1:]

        return write
    return lambda action: _encode(_mirror_of(action, frozenset((cls,))))


def _decorated(cls: type) -> bool:
    """Whether attrs made this class itself; a mere subclass of one is unknown to msgspec."""
    return "__attrs_attrs__" in vars(cls)


def _flat(cls: type) -> bool:
    """Whether no field can hold another attrs class and every name is its alias."""
    hints = get_type_hints(cls)
    return _decorated(cls) and all(
        mirrored(hints.get(f.name, Any)) == hints.get(f.name, Any) and f.init and f.alias == f.name
        for f in attrs.fields(cls)
    )


def as_told(value: Any) -> Any:
    """Mirror an instance that msgspec alone would write otherwise than its schema says."""
    cls: Any = type(value)
    return value if _told(cls) else _mirror_of(value)


@cache
def _told(cls: type) -> bool:
    """Whether msgspec writes instances as they are read: every field, and no class to be tagged."""
    if not attrs.has(cls):
        return True
    if not _decorated(cls):
        return False
    try:
        kinds = get_type_hints(cls)
    except NameError:
        return True
    return all(
        f.init and f.alias == f.name and not beside and all(map(_told, _held(kinds.get(f.name))))
        for f, beside in zip(attrs.fields(cls), _beside(cls).values(), strict=True)
    )


def _held(kind: Any) -> Iterator[type]:
    """Yield the attrs classes inside a type."""
    if isinstance(kind, type) and attrs.has(kind):
        yield kind
    for inner in get_args(kind):
        yield from _held(inner)


@cache
def _beside(cls: type) -> dict[str, frozenset[type]]:
    """Return by field the classes that share a union with others and are therefore tagged."""
    hints = get_type_hints(cls)
    return {f.name: frozenset(_alternatives(hints.get(f.name, Any))) for f in attrs.fields(cls)}


def _alternatives(kind: Any) -> Iterator[type]:
    inside = get_args(kind)
    if get_origin(kind) in (Union, UnionType):
        classes = [a for a in inside if isinstance(a, type) and attrs.has(a)]
        yield from classes if len(classes) > 1 else ()
    for inner in inside:
        yield from _alternatives(inner)


def _mirror_of(value: Any, alternatives: frozenset[type] = frozenset()) -> Any:
    """Turn attrs instances into structs; those of `alternatives` are tagged."""
    cls: Any = type(value)
    if attrs.has(cls):
        inside = _beside(cls)
        return mirror(cls, tagged=cls in alternatives)(
            **{
                f.alias: _mirror_of(getattr(value, f.name), inside[f.name])
                for f in attrs.fields(cls)
                if f.init
            }
        )
    if isinstance(value, list | tuple):
        return [_mirror_of(v, alternatives) for v in value]
    if isinstance(value, Mapping):
        return {k: _mirror_of(v, alternatives) for k, v in value.items()}
    return value


def loose(cls: type) -> tuple[str, ...]:
    """Name the fields that may be read as something else than was given: all but plain scalars."""
    hints = get_type_hints(cls)
    kinds = {f.alias: {*members(hints.get(f.name, Any))} for f in attrs.fields(cls) if f.init}
    # A number stays what it is where both kinds are welcome; for a float alone, 3 becomes 3.0.
    exact = (_SCALARS - {float}, _SCALARS)
    return tuple(name for name, kind in kinds.items() if not kind <= exact[int in kind])


def plain_numbers(action: Any) -> Any:
    """Return an action with numbers of numpy, with which policies reckon, turned into Python's."""
    fields = {f.alias: getattr(action, f.name) for f in attrs.fields(type(action)) if f.init}
    foreign = {n: v for n, v in fields.items() if getattr(v, "shape", None) == ()}
    return attrs.evolve(action, **{n: plain_scalar(v) for n, v in foreign.items()})


def as_read(action: Any, struct: Struct, loose: tuple[str, ...]) -> Any:
    """Return the action as a replay will read it: with 3.0 where 3 was given for a float."""
    for name in loose:
        given = type(getattr(action, name, None))
        if given not in _SCALARS or given is not type(getattr(struct, name)):
            return build(struct)
    return action


def build(value: Any, path: str = "$") -> Any:
    """Turn structs back into the attrs classes they mirror; their own validators run here."""
    if isinstance(value, Struct):
        given = {name: getattr(value, name) for name in value.__struct_fields__}
        built = {n: build(v, f"{path}.{n}") for n, v in given.items() if v is not UNSET}
        try:
            return value.__mirrors__(**built)  # type: ignore[attr-defined]
        except (TypeError, ValueError) as fault:
            raise ValueError(f"{sentence(fault)} - at `{path}`") from None
    if isinstance(value, list | tuple | set | frozenset):
        return type(value)(build(v, f"{path}[{n}]") for n, v in enumerate(value))
    if isinstance(value, dict):
        return {k: build(v, f"{path}.{k}") for k, v in value.items()}
    return value


def _not_finite(value: Any, path: str) -> Iterator[str]:
    """Yield the paths of every nan and infinity."""
    if isinstance(value, float):
        if not math.isfinite(value):
            yield path
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _not_finite(inner, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _not_finite(inner, f"{path}[{index}]")
    elif attrs.has(type(value)):
        for each in attrs.fields(type(value)):
            yield from _not_finite(getattr(value, each.name), f"{path}.{each.name}")


def infinite(value: Any) -> str:
    """Name the first nan or infinity inside a value; empty where there is none."""
    path = next(_not_finite(value, "$"), None)
    return f"not a finite number - at `{path}`" if path else ""


def refuse_infinite(value: Any) -> None:
    """Insist that every number inside a value is finite.

    Raises:
        ValueError: One is not; the text holds its path.
    """
    if why := infinite(value):
        raise ValueError(why)


def sentence(fault: Exception) -> str:
    """Return what an exception has to say to a person."""
    # attrs passes the text first and the pieces behind it; Unicode's errors begin with a codec.
    told = fault.args and not isinstance(fault, UnicodeError)
    return str(fault.args[0]) if told else str(fault)
