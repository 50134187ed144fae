"""Numbers in data: numpy scalars become Python's numbers, nan and infinity are refused."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import attrs


def plain_scalar(value: Any) -> Any:
    """Convert a numpy scalar to Python's number or truth value.

    Raises:
        TypeError: The value has another type, which JSON cannot hold.
    """
    if getattr(value, "shape", None) == () and callable(item := getattr(value, "item", None)):
        return item()
    raise TypeError(f"a value of type {type(value).__name__} cannot be written as JSON")


def plain_numbers(action: Any) -> Any:
    """Return an action whose numpy scalars, which policies often return, are Python's numbers."""
    fields = {f.alias: getattr(action, f.name) for f in attrs.fields(type(action)) if f.init}
    foreign = {n: v for n, v in fields.items() if getattr(v, "shape", None) == ()}
    return attrs.evolve(action, **{n: plain_scalar(v) for n, v in foreign.items()})


def not_finite(value: Any) -> str:
    """Return a text that names the first nan or infinity inside a value; empty without one."""
    try:
        path = next(_not_finite(value, "$"), None)
    except RecursionError:
        return "nested too deeply"
    return f"not a finite number - at `{path}`" if path else ""


def check_finite(value: Any) -> None:
    """Check that every number inside a value is finite.

    Raises:
        ValueError: A number is not finite; the text holds its path.
    """
    if why := not_finite(value):
        raise ValueError(why)


def _not_finite(value: Any, path: str) -> Iterator[str]:
    """Yield the path of every nan and infinity."""
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
