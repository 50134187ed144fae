"""Presets of a model: named sets of parameters."""

import inspect
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

import attrs

from desim.catalog.changes import changed
from desim.core.model import Model
from desim.errors import UsageError, possible
from desim.schema import encode, to_plain
from desim.schema.arguments import build
from desim.short_repr import short_repr

T = TypeVar("T")


def presets(cls: type) -> tuple[str, ...]:
    """Return the names of a model's presets, the default first; `default` if it declares none."""
    return tuple(_known(cls))


def from_preset(cls: type[T], name: str = "", changes: Mapping[str, Any] | None = None) -> T:
    """Build a model from one of its presets.

    Args:
        cls: The model's class; its `presets` map names to changes of parameters.
        name: The preset; empty for the first.
        changes: Parameters by name that replace those of the preset; dots lead to fields of objects
            inside a parameter.

    Raises:
        UsageError: The preset or a parameter does not exist, or a value is refused.
    """
    given: Any = changes or {}
    texts = [name or "", *given] if isinstance(given, Mapping) else [given]
    if not isinstance(cls, type) or not all(isinstance(each, str) for each in texts):
        call = short_repr((cls, name, changes))
        raise UsageError(f"from_preset{call}: give a model's class, a name, values by parameter")
    known = _known(cls)
    name = name or next(iter(known))
    if name not in known:
        raise UsageError(f"{cls.__name__} has no preset {name!r}; {possible(name, known)}")
    given = {**known[name], **given}
    whole = {parameter: value for parameter, value in given.items() if "." not in parameter}
    # A signature takes five times as long as the rest, and most episodes change no parameter.
    names = list(inspect.signature(cls).parameters) if whole else []
    for parameter in whole:
        if parameter not in names:
            hint = possible(parameter, names)
            raise UsageError(f"{cls.__name__} has no parameter {parameter!r}; {hint}")
    built = build(cls, whole)
    inside = {parameter: value for parameter, value in given.items() if parameter not in whole}
    return changed(built, inside, read_texts=False) if inside else built


def encoded_parameters(model: Any) -> bytes:
    """Return the parameters of a model as JSON.

    Raises:
        UsageError: The model is not a frozen class of plain values.
    """
    try:
        return encode(model)
    except TypeError as fault:
        cls = type(model)
        text = (
            f"{cls.__name__} cannot be written as JSON ({fault}); a model is a frozen attrs class"
        )
        mend = "" if attrs.has(cls) else ": write @attrs.frozen above it, its parameters as fields"
        raise UsageError(f"{text} of plain values{mend}") from None


def nearest_preset(model: Any) -> str:
    """Return the preset with the fewest different parameters; the first of several."""
    if len(names := presets(type(model))) == 1:
        return names[0]  # not built, as a class without presets may have no defaults
    mine, known = to_plain(model), _plain_presets(type(model))  # type: ignore[arg-type] # classes do hash
    return min(known, key=lambda name: sum(mine[key] != known[name][key] for key in mine))


@cache
def _plain_presets(cls: type) -> dict[str, dict[str, Any]]:
    """Build every preset once, because a sweep compares the model of each episode with them."""
    return {name: to_plain(from_preset(cls, name)) for name in presets(cls)}


def _known(cls: type) -> Mapping[str, Mapping[str, Any]]:
    known: Mapping[str, Mapping[str, Any]] = getattr(cls, "presets", Model.presets)
    if not isinstance(known, Mapping) or not known:
        text = "they map names to changed parameters, at least one"
        raise UsageError(f"{cls.__name__} has presets={short_repr(known)}; {text}")
    return known
