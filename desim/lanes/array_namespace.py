"""The array API standard: numpy by default, under the same names in every version."""

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np

from desim.lanes.lane_columns import Array


def namespace(arrays: Any = None) -> Any:
    """Return a namespace of the array API standard; None gives numpy.

    numpy 1 has not got the names of the standard; they are added to its own here.
    """
    if arrays is not None:
        return arrays
    return np if hasattr(np, "concat") else _numpy_1()


def namespace_of(array: Array) -> Any:
    """Return the namespace of an array."""
    if hasattr(array, "__array_namespace__"):
        return array.__array_namespace__()
    if isinstance(array, np.ndarray):
        return namespace()
    return import_module(f"array_api_compat.{type(array).__module__.partition('.')[0]}")


def reduction(function: Any, standard: Any) -> Any:
    """Return numpy's own reduction by a function of two numbers; else the standard's."""
    # The reductions of numpy's namespace take twice as long on a thousand entries.
    return getattr(function, "reduce", standard)


def on_host(column: Array) -> Any:
    """Return an array of any namespace as one of numpy."""
    if isinstance(column, np.ndarray):
        return column
    return column.get() if hasattr(column, "get") else np.from_dlpack(column)


def entries(column: Array) -> list[Any]:
    """Return the entries of an array as Python numbers, in nested lists."""
    found: list[Any] = on_host(column).tolist()
    return found


def _numpy_1() -> Any:
    added = {"concat": np.concatenate, "astype": _astype, "bool": np.bool_, "isdtype": _isdtype}
    return SimpleNamespace(**{**vars(import_module("numpy")), **added})


def _astype(column: Array, kind: Any) -> Array:
    return column.astype(kind)


def _isdtype(given: Any, kinds: str | tuple[str, ...]) -> bool:
    letters = {"integral": "iu", "real floating": "f"}
    return any(
        given.kind in letters[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds)
    )
