"""Unions of types, written `A | B` or `Union[A, B]`."""

from collections.abc import Iterable
from functools import reduce
from operator import or_
from types import UnionType
from typing import Any, Union, get_args, get_origin

__all__ = ["is_union", "members", "union_of"]


def is_union(kind: Any) -> bool:
    """Return whether a type is a union."""
    return get_origin(kind) in (Union, UnionType)


def members(kind: Any) -> tuple[Any, ...]:
    """Return the types of a union, or the one type."""
    return get_args(kind) if is_union(kind) else (kind,)


def union_of(kinds: Iterable[Any]) -> Any:
    """Return the union of one or more types."""
    return reduce(or_, kinds)
