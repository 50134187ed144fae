"""The msgspec struct that stands for a frozen class: same fields, constraints, defaults, texts."""

import inspect
import re
from functools import cache, reduce
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import attrs
import msgspec
from msgspec import UNSET, Meta, Struct

from desim.errors import SchemaError

__all__ = ["TAG", "members", "mirror", "mirrored", "tag", "union"]

#: The key that names the class of a tagged object.
TAG = "do"


@cache
def tag(cls: type) -> str:
    """Return a class name in snake_case: `AssignAll` is `assign_all`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", cls.__name__).lower()


def members(does: Any) -> tuple[Any, ...]:
    """Return the classes of a union, or the one class."""
    return get_args(does) if get_origin(does) in (Union, UnionType) else (does,)


@cache
def mirror(cls: type, *, tagged: bool) -> type[Struct]:
    """Make the struct with the fields, constraints, defaults and texts of an attrs class."""
    hints = get_type_hints(cls, include_extras=True)
    texts = _attribute_texts(cls)
    fields: list[Any] = []
    for each in attrs.fields(cls):
        if not each.init:
            continue
        kind = _constrained(mirrored(hints.get(each.name, Any)), _constraints(each.validator))
        if each.name in texts:
            kind = Annotated[kind, Meta(description=texts[each.name])]
        fields.append((each.alias, kind, *_default(each)))
    if tagged and any(name == TAG for name, *_ in fields):
        raise SchemaError(f"{cls.__name__} has a field {TAG!r}, the key that holds a class's name")
    named = {"tag": tag(cls), "tag_field": TAG} if tagged else {}
    return msgspec.defstruct(
        cls.__name__,
        fields,
        namespace={"__doc__": _summary(cls), "__mirrors__": cls},
        kw_only=True,
        forbid_unknown_fields=True,
        frozen=True,
        **named,  # type: ignore[arg-type]
    )


def mirrored(kind: Any) -> Any:
    """Replace every attrs class inside a type by its struct."""
    if isinstance(kind, type) and attrs.has(kind):
        return mirror(kind, tagged=False)
    if get_origin(kind) is Annotated:
        return Annotated[(mirrored(get_args(kind)[0]), *kind.__metadata__)]
    if not get_args(kind) or get_origin(kind) is Literal:
        return kind
    args = get_args(kind)
    if get_origin(kind) in (Union, UnionType):
        several = sum(isinstance(a, type) and attrs.has(a) for a in args) > 1
        return union([mirror(a, tagged=several) if attrs.has(a) else mirrored(a) for a in args])
    return get_origin(kind)[tuple(mirrored(a) if a is not ... else a for a in args)]


def union(kinds: list[Any]) -> Any:
    """Return the union of types, of which there is at least one."""
    return reduce(or_, kinds)


def _default(each: "attrs.Attribute[Any]") -> tuple[Any, ...]:
    if each.default is attrs.NOTHING:
        return ()
    # The attrs class fills in its own default, which may run code: absent is all there is to know.
    if isinstance(each.default, int | float | str | NoneType):
        return (each.default,)
    return (UNSET,)


# -- constraints -----------------------------------------------------------------------------------

_NUMBERS = {">=": "ge", ">": "gt", "<=": "le", "<": "lt"}


def _constraints(validator: Any) -> dict[str, Any]:  # noqa: PLR0911 (one line a kind)
    """Read bounds from attrs' own validators; others run when the instance is built."""
    match type(validator).__name__:
        case "_AndValidator":
            return {k: v for part in validator._validators for k, v in _constraints(part).items()}  # noqa: SLF001
        case "_OptionalValidator":
            return _constraints(validator.validator)
        case "_NumberValidator":
            return {_NUMBERS[validator.compare_op]: validator.bound}
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
    """Read the options of attrs' `in_` where JSON Schema can list them."""
    listed = isinstance(options, tuple | list | set | frozenset)
    if not listed or not options or {type(o) for o in options} - {int, str}:
        return {}
    # A set has no order of its own, but a schema should always read the same.
    ordered = sorted(options, key=str) if isinstance(options, set | frozenset) else options
    return {"options": tuple(ordered)}


def _constrained(kind: Any, limits: dict[str, Any]) -> Any:
    if kind is int and "options" not in limits:
        # msgspec bounds whole numbers by whole numbers; attrs' own validator is left for the rest.
        limits = {k: int(v) for k, v in limits.items() if v % 1 == 0}
    if not limits:
        return kind
    if get_origin(kind) in (Union, UnionType):
        return union([a if a is NoneType else _constrained(a, limits) for a in get_args(kind)])
    return Literal[limits["options"]] if "options" in limits else Annotated[kind, Meta(**limits)]


# -- texts -----------------------------------------------------------------------------------------


def _summary(cls: type) -> str | None:
    text = inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0].replace("\n", " ")
    # attrs writes a signature where no text was given; that helps nobody.
    return None if not text or text.startswith("Method generated by attrs") else text


def _attribute_texts(cls: type) -> dict[str, str]:
    """Read the `Attributes:` section of a docstring: name to text."""
    lines = inspect.cleandoc(cls.__doc__ or "").splitlines()
    if "Attributes:" not in lines:
        return {}
    texts: dict[str, str] = {}
    name = ""
    for line in lines[lines.index("Attributes:") + 1 :]:
        if line and not line.startswith(" "):
            break
        if found := re.match(r"    (\w+): (.*)", line):
            name = found[1]
            texts[name] = found[2]
        elif name and line.strip():
            texts[name] += " " + line.strip()
    return texts
