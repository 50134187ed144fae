"""Parameters from text and back: `--set KEY=VALUE`, policy arguments, presets."""

import inspect
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import attrs
import msgspec

from desim.errors import SchemaError, UsageError, possible
from desim.schema import from_plain, to_plain

__all__ = [
    "changed",
    "finite",
    "from_preset",
    "nearest_preset",
    "parameters",
    "presets",
    "read_arguments",
    "read_value",
]

T = TypeVar("T")


def presets(cls: type) -> tuple[str, ...]:
    """Return the names of a model's presets, the default first; a model without has `default`."""
    return tuple(getattr(cls, "presets", None) or {"default": {}})


def from_preset(cls: type[T], name: str = "", changes: Mapping[str, Any] | None = None) -> T:
    """Build a model from one of its presets.

    Args:
        cls: The model's class; its `presets` map names to changes of parameters.
        name: Which; empty stands for the first.
        changes: Further parameters by name, over those of the preset.

    Raises:
        UsageError: There is no such preset or parameter, or a value is refused.
    """
    known = getattr(cls, "presets", None) or {"default": {}}
    name = name or next(iter(known))
    if name not in known:
        raise UsageError(f"{cls.__name__} has no preset {name!r}; {possible(name, known)}")
    names = list(inspect.signature(cls).parameters)
    for given in changes or ():
        if given not in names:
            raise UsageError(f"{cls.__name__} has no parameter {given!r}; {possible(given, names)}")
    return build(cls, {**known[name], **(changes or {})})


def nearest_preset(model: Any) -> str:
    """Return the preset from which the fewest parameters differ, the first of equals."""
    mine, known = to_plain(model), _plain_presets(type(model))  # type: ignore[arg-type] # classes do hash
    return min(known, key=lambda name: sum(mine[key] != known[name][key] for key in mine))


@cache
def _plain_presets(cls: type) -> dict[str, dict[str, Any]]:
    """Build every preset once; a sweep asks for each of its episodes."""
    return {name: to_plain(from_preset(cls, name)) for name in presets(cls)}


def changed(model: T, changes: Mapping[str, str]) -> T:
    """Return the model with parameters replaced by values given as text.

    Raises:
        UsageError: There is no such parameter, or the value is refused.
    """
    read = read_arguments(type(model), changes, what=f"{type(model).__name__} has no parameter")
    try:
        return attrs.evolve(model, **read)  # type: ignore[misc]
    except (TypeError, ValueError) as fault:
        raise UsageError(str(fault.args[0] if fault.args else fault)) from None


def build(cls: Callable[..., T], arguments: Mapping[str, Any]) -> T:
    """Call a class with arguments by name; a refused one is told in one sentence."""
    try:
        return cls(**arguments)
    except (TypeError, ValueError) as fault:
        name = getattr(cls, "__name__", str(cls))
        raise UsageError(f"{name}: {fault.args[0] if fault.args else fault}") from None


def finite(_: object, attribute: "attrs.Attribute[Any]", value: Any) -> None:
    """Validate a field: a finite number, and neither True nor False, which count as 1 and 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{attribute.name}={value!r} was given; it is a finite number")


def read_arguments(
    call: Callable[..., Any], texts: Mapping[str, str], what: str = "there is no argument"
) -> dict[str, Any]:
    """Read arguments given as text by the types of a class's or function's signature.

    Raises:
        UsageError: There is no such argument, or its text is no value of its type.
    """
    names = parameters(call)
    hints = _hints(call)
    for name in texts:
        if name not in names:
            raise UsageError(f"{what} {name!r}; {possible(name, names)}")
    return {name: read_value(text, hints.get(name, Any), name) for name, text in texts.items()}


def read_value(text: str, kind: Any, name: str = "value") -> Any:
    """Read one value: numbers may hold underscores, lists and objects are JSON, text stays text.

    Raises:
        UsageError: The text is no value of that type; the name, the text and the type are told.
    """
    for plain in _readings(text, kind):
        try:
            return from_plain(plain, kind, name)
        except SchemaError:
            continue
    raise UsageError(f"{name}={text} was given; {name} is {_kind_name(kind)}")


def _readings(text: str, kind: Any) -> list[Any]:
    """Return what a text may stand for, the likeliest first."""
    readings: list[Any] = []
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    for number in (int, float):
        try:
            readings.append(number(text))
        except ValueError:
            continue
    with suppress(msgspec.DecodeError):
        readings.append(msgspec.json.decode(text))
    words = {"true": True, "false": False, "none": None, "null": None}
    if text.lower() in words:
        readings.append(words[text.lower()])
    # Where text or nothing is what is wanted, "007" is not the number 7.
    if str in kinds and {*kinds} <= {str, NoneType}:
        return [None, text] if None in readings else [text]
    return [*readings, text]


@cache
def parameters(call: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters a user may give by name; `seat` is the framework's to give."""
    packed = {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
    told = inspect.signature(call).parameters.items()
    return {name: p for name, p in told if name != "seat" and p.kind not in packed}


@cache
def _hints(call: Callable[..., Any]) -> dict[str, Any]:
    target = call.__init__ if isinstance(call, type) and not attrs.has(call) else call  # type: ignore[misc]
    try:
        hints = get_type_hints(target)
    except (NameError, TypeError):
        return {}
    # A private field goes by the name its constructor takes.
    fields = attrs.fields(call) if attrs.has(call) else ()  # type: ignore[arg-type]
    return hints | {f.alias: hints[f.name] for f in fields if f.name in hints}


def _kind_name(kind: Any) -> str:
    if get_origin(kind) in (Union, UnionType):
        return " or ".join(_kind_name(k) for k in get_args(kind))
    names = {int: "a whole number", float: "a finite number", bool: "true or false", str: "a text"}
    return names.get(kind, "none" if kind is NoneType else getattr(kind, "__name__", str(kind)))
