"""Arguments from text: `--set KEY=VALUE` of a model, `,key=value` of a policy."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from types import NoneType
from typing import Any, TypeVar, get_type_hints

import attrs
import msgspec

from desim.errors import SchemaError, UsageError, possible, sentence
from desim.schema.codecs import from_plain
from desim.schema.wire_types import is_union, members
from desim.short_repr import shortened

T = TypeVar("T")


def build(cls: Callable[..., T], arguments: Mapping[str, Any]) -> T:
    """Call a class with arguments by name; a `UsageError` if it refuses one."""
    try:
        return cls(**arguments)
    except (TypeError, ValueError) as fault:
        name = getattr(cls, "__name__", str(cls))
        raise UsageError(f"{name}: {sentence(fault)}") from None


def read_arguments(
    call: Callable[..., Any],
    texts: Mapping[str, str],
    what: str = "there is no argument",
    further: Sequence[Callable[..., Any]] = (),
    prefix: str = "",
) -> dict[str, Any]:
    """Read arguments given as text by the types of a class's or function's signature.

    Args:
        call: The class or function.
        texts: Texts by argument.
        what: Start of the error text for an argument that does not exist.
        further: Classes or functions whose parameters are accepted as well.
        prefix: Text before each name in an error, such as "scenario.".

    Raises:
        UsageError: An argument does not exist, or a text is not a value of its type.
    """
    read: dict[str, Any] = {}
    for name, text in texts.items():
        kinds = _kinds(call, *further)
        if name not in kinds:
            known = [f"{prefix}{one}" for one in kinds]
            raise UsageError(f"{what} {prefix + name!r}; {possible(prefix + name, known)}")
        read[name] = read_value(text, kinds[name], prefix + name)
    return read


def read_value(text: str, kind: Any, name: str = "value") -> Any:
    """Read one value of a type: numbers may hold underscores, lists and objects are JSON.

    Raises:
        UsageError: The text is not a value of that type; the text of the error has its *name*.
    """
    for plain in _candidates(text, kind):
        try:
            return from_plain(plain, kind, name)
        except SchemaError:
            continue
    raise UsageError(f"{name}={shortened(text)} was given; {name} is {_kind_name(kind)}")


def _candidates(text: str, kind: Any) -> list[Any]:
    words = {"true": True, "false": False, "none": None, "null": None}
    word = [words[text.lower()]] if text.lower() in words else []
    # A field of text keeps "007", which is not the number 7.
    if str in members(kind) and {*members(kind)} <= {str, NoneType}:
        return [*(one for one in word if one is None), text]
    values: list[Any] = []
    for read in (int, float, msgspec.json.decode):
        with suppress(ValueError, msgspec.DecodeError, RecursionError):
            values.append(read(text))
    return [*values, *word, text]


@cache
def parameters(call: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters that a user may give by name; the framework itself passes `seat`."""
    packed = {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
    every = inspect.signature(call).parameters.items()
    return {name: p for name, p in every if name != "seat" and p.kind not in packed}


def needs_arguments(call: Callable[..., Any]) -> bool:
    """Return whether a class or function cannot be called without arguments."""
    return any(one.default is one.empty for one in parameters(call).values())


@cache
def _kinds(*calls: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of the parameters of classes and functions by name."""
    kinds: dict[str, Any] = {}
    for call in calls:
        hints: dict[str, Any] = {}
        with suppress(NameError, TypeError):
            is_plain = isinstance(call, type) and not attrs.has(call)
            hints = get_type_hints(call.__init__ if is_plain else call)
        # The constructor takes a private field under another name, its alias.
        fields = attrs.fields(call) if attrs.has(call) else ()  # type: ignore[arg-type]
        hints |= {f.alias: hints[f.name] for f in fields if f.name in hints}
        kinds |= {name: hints.get(name, Any) for name in parameters(call)}
    return kinds


def _kind_name(kind: Any) -> str:
    if is_union(kind):
        return " or ".join(_kind_name(k) for k in members(kind))
    names = {int: "a whole number", float: "a finite number", bool: "true or false", str: "a text"}
    return names.get(kind, "none" if kind is NoneType else getattr(kind, "__name__", str(kind)))
