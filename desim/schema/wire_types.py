"""The wire type of a frozen class: a msgspec struct with its fields, constraints and texts.

msgspec reads attrs classes too, but ignores unknown keys and aliases there, and takes no union of
them. A wire type has the bounds of attrs' own validators, which also run in the constructor.
"""

import inspect
import re
from collections.abc import Iterable, Iterator
from functools import cache, reduce
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import attrs
import msgspec
from msgspec import UNSET, Meta, Struct

from desim.errors import SchemaError

#: The key that names the class of a tagged object.
TAG = "do"

_BOUNDS = {">=": "ge", ">": "gt", "<=": "le", "<": "lt"}

# -- types inside types ----------------------------------------------------------------------------


def is_union(kind: Any) -> bool:
    """Return whether a type is a union, in either way of writing it."""
    return get_origin(kind) in (Union, UnionType)


def members(kind: Any) -> tuple[Any, ...]:
    """Return the types of a union, or the one type."""
    return get_args(kind) if is_union(kind) else (kind,)


def union_of(kinds: Iterable[Any]) -> Any:
    """Return the union of one or more types."""
    return reduce(or_, kinds)


def is_class(kind: Any) -> bool:
    """Return whether a type is an attrs class."""
    return isinstance(kind, type) and attrs.has(kind)


def types_inside(kind: Any) -> Iterator[Any]:
    """Yield a type and the types inside it, but not those of a class's fields."""
    yield kind
    if get_origin(kind) is not Literal:
        for each in get_args(kind):
            yield from types_inside(each)


def classes_inside(kind: Any) -> list[type]:
    """Return the attrs classes inside a type."""
    return [*filter(is_class, types_inside(kind))]


def tagged_inside(kind: Any) -> list[type]:
    """Return the attrs classes that share a union inside a type."""
    unions = [[*filter(is_class, get_args(u))] for u in types_inside(kind) if is_union(u)]
    return [cls for shared in unions if len(shared) > 1 for cls in shared]


@cache
def field_types(cls: Any, *, include_extras: bool = False) -> dict[str, Any]:
    """Return the declared types of a class's fields; a `SchemaError` if one names nothing."""
    try:
        hints = get_type_hints(cls, include_extras=include_extras)
    except NameError as fault:
        raise SchemaError(f"a type of a field of {cls.__name__} is unknown: {fault}") from None
    return {each.name: hints.get(each.name, Any) for each in attrs.fields(cls)}


# -- constraints and texts -------------------------------------------------------------------------


def _limits(validator: Any) -> dict[str, Any]:  # noqa: PLR0911 (one line a kind)
    """Return arguments of `msgspec.Meta`, and under `options` the values of attrs' `in_`."""
    match type(validator).__name__:  # attrs exports functions alone
        case "_AndValidator":
            parts = attrs.astuple(validator, recurse=False)[0]
            return {k: v for part in parts for k, v in _limits(part).items()}
        case "_OptionalValidator":
            return _limits(validator.validator)
        case "_NumberValidator":
            return {_BOUNDS[validator.compare_op]: validator.bound}
        case "_MinLengthValidator":
            return {"min_length": validator.min_length}
        case "_MaxLengthValidator":
            return {"max_length": validator.max_length}
        case "_MatchesReValidator":
            # attrs matches the whole string; JSON Schema searches in it.
            return {"pattern": f"^(?:{validator.pattern.pattern})$"}
        case "_InValidator":
            return _choices(validator.options)
        case _:
            return {}


def _choices(options: Any) -> dict[str, Any]:
    listed = isinstance(options, tuple | list | set | frozenset)
    if not listed or not options or {type(o) for o in options} - {int, str}:
        return {}
    # The order of a set differs between processes; a schema is always the same.
    ordered = sorted(options, key=str) if isinstance(options, set | frozenset) else options
    return {"options": tuple(ordered)}


def _limited(kind: Any, limits: dict[str, Any]) -> Any:
    if kind is int and "options" not in limits:
        # msgspec bounds integers by integers only; other bounds are left to the validator itself.
        limits = {k: int(v) for k, v in limits.items() if v % 1 == 0}
    if not limits:
        return kind
    if is_union(kind):
        return union_of(a if a is NoneType else _limited(a, limits) for a in members(kind))
    return Literal[limits["options"]] if "options" in limits else Annotated[kind, Meta(**limits)]


def _summary(cls: type) -> str | None:
    text = inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0].replace("\n", " ")
    # attrs writes a signature where a class has no docstring; that describes nothing.
    return None if not text or text.startswith("Method generated by attrs") else text


def attribute_texts(cls: type) -> dict[str, str]:
    """Return the texts of the `Attributes:` sections of a class and its bases, by name."""
    texts: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        _, _, after = ("\n" + inspect.cleandoc(base.__doc__ or "")).partition("\nAttributes:\n")
        section = re.split(r"^(?=\S)", after, maxsplit=1, flags=re.MULTILINE)[0]
        for each in re.split(r"^    (?=\w+: )", section, flags=re.MULTILINE)[1:]:
            name, _, text = each.partition(": ")
            texts[name] = " ".join(text.split())
    return texts


# -- structs ---------------------------------------------------------------------------------------


@cache
def tag(cls: type) -> str:
    """Return a class name in snake_case: `AssignAll` is `assign_all`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", cls.__name__).lower()


@cache
def wire_type(cls: type, *, tagged: bool) -> type[Struct]:
    """Return the wire type of an attrs class; its attribute `__attrs_class__` is that class."""
    kinds = field_types(cls, include_extras=True)
    texts = attribute_texts(cls)
    fields: list[Any] = []
    for each in attrs.fields(cls):
        if not each.init:
            continue
        try:
            kind = _limited(wire_kind(kinds[each.name]), _limits(each.validator))
        except RecursionError:
            raise SchemaError(
                f"{cls.__name__} contains itself, which no observation, action or parameter may; "
                "hold the parts in one list and refer to each by its number"
            ) from None
        if text := texts.get(each.name):
            kind = Annotated[kind, Meta(description=text)]
        # A default that may be mutable or a factory is filled in by the attrs class itself.
        plain = isinstance(each.default, int | float | str | NoneType)
        default = each.default if plain else UNSET
        required = each.default is attrs.NOTHING
        fields.append((each.alias, kind) if required else (each.alias, kind, default))
    if tagged and any(name == TAG for name, *_ in fields):
        raise SchemaError(f"{cls.__name__} has a field {TAG!r}, the key that holds a class's name")
    named = {"tag": tag(cls), "tag_field": TAG} if tagged else {}
    return msgspec.defstruct(
        cls.__name__,
        fields,
        namespace={"__doc__": _summary(cls), "__attrs_class__": cls},
        kw_only=True,
        forbid_unknown_fields=True,
        gc=False,  # it holds no cycle, and lives for one conversion
        frozen=True,
        **named,  # type: ignore[arg-type]
    )


def wire_kind(kind: Any) -> Any:
    """Replace every attrs class inside a type by its wire type; in a union these are tagged."""
    if is_class(kind):
        return wire_type(kind, tagged=False)
    if get_origin(kind) is Annotated:
        return Annotated[(wire_kind(get_args(kind)[0]), *kind.__metadata__)]
    if not get_args(kind) or get_origin(kind) is Literal:
        return kind
    args = get_args(kind)
    if is_union(kind):
        several = sum(map(is_class, args)) > 1
        return union_of(wire_type(a, tagged=several) if is_class(a) else wire_kind(a) for a in args)
    return get_origin(kind)[tuple(wire_kind(a) if a is not ... else a for a in args)]
