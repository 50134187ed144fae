"""Immutable values, and functions that are called once for each immutable object.

A model is frozen, and the same object is played by thousands of episodes. What is derived from its
parameters alone is derived once, unless one of them could change.
"""

import datetime as dt
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from functools import wraps
from types import NoneType
from typing import Any, TypeVar
from weakref import ref

import attrs

T = TypeVar("T")
R = TypeVar("R")

_SCALARS = {int, float, str, bytes, bool, NoneType, dt.date, dt.timedelta}


def is_immutable(value: object) -> bool:
    """Return whether a value is a scalar, or a frozen attrs instance or tuple of such values."""
    kind: Any = type(value)
    if kind in _SCALARS or isinstance(value, Enum):
        return True
    if kind is tuple or kind is frozenset:
        return all(map(is_immutable, value))  # type: ignore[call-overload] # one of these two
    try:
        frozen = attrs.inspect(kind).is_frozen
    except attrs.exceptions.NotAnAttrsClassError:
        return False
    return frozen and all(is_immutable(getattr(value, f.name)) for f in attrs.fields(kind))


def once_an_object(function: Callable[[T], R]) -> Callable[[T], R]:
    """Let a function keep its result for each immutable object that it is called with.

    Objects are compared by identity, as a comparison of all parameters takes as long as the work
    that is saved. A result is dropped with its object; that of a mutable object is never kept.
    """
    kept: dict[int, tuple[ref[Any], R]] = {}

    @wraps(function)
    def call(one: T) -> R:
        key = id(one)
        if (found := kept.get(key)) is not None and found[0]() is one:
            return found[1]
        result = function(one)
        if is_immutable(one):
            with suppress(TypeError):  # a class without weak references
                kept[key] = ref(one, lambda _: kept.pop(key, None)), result
        return result

    return call
