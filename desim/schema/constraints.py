"""Bounds of attrs' own validators as msgspec constraints, which JSON Schema can express.

Every validator also runs when the instance is built, so that one without a counterpart here is
checked then.
"""

from types import NoneType
from typing import Annotated, Any, Literal

import attrs
from attrs.validators import and_, ge, in_, le, matches_re, max_len, min_len, optional
from msgspec import Meta

from desim.schema.unions import is_union, members, union_of

__all__ = ["constrained"]

_BOUNDS = {">=": "ge", ">": "gt", "<=": "le", "<": "lt"}

# attrs exports functions that return its validators; their classes are found by calling them.
_AND: Any = type(and_(ge(0), le(1)))
_OPTIONAL: Any = type(optional(ge(0)))
_NUMBER: Any = type(ge(0))
_MIN_LENGTH: Any = type(min_len(1))
_MAX_LENGTH: Any = type(max_len(1))
_PATTERN: Any = type(matches_re("x"))
_CHOICE: Any = type(in_((1,)))


def constrained(kind: Any, validator: Any) -> Any:
    """Return a type with the constraints that a field's validator states."""
    return _limited(kind, _limits(validator))


def _limits(validator: Any) -> dict[str, Any]:  # noqa: PLR0911 (one line a kind)
    """Return arguments of `msgspec.Meta`, and under `options` the values of attrs' `in_`."""
    match validator:
        case _ if isinstance(validator, _AND):
            parts = attrs.astuple(validator, recurse=False)[0]
            return {k: v for part in parts for k, v in _limits(part).items()}
        case _ if isinstance(validator, _OPTIONAL):
            return _limits(validator.validator)
        case _ if isinstance(validator, _NUMBER):
            return {_BOUNDS[validator.compare_op]: validator.bound}
        case _ if isinstance(validator, _MIN_LENGTH):
            return {"min_length": validator.min_length}
        case _ if isinstance(validator, _MAX_LENGTH):
            return {"max_length": validator.max_length}
        case _ if isinstance(validator, _PATTERN):
            # attrs matches the whole string; JSON Schema searches in it.
            return {"pattern": f"^(?:{validator.pattern.pattern})$"}
        case _ if isinstance(validator, _CHOICE):
            return _choices(validator.options)
        case _:
            return {}


def _choices(options: Any) -> dict[str, Any]:
    """Return the options of attrs' `in_` where JSON Schema can list them."""
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
