"""Observations or actions of many lanes: the fields of their class as arrays, one entry a lane."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

#: An array of numpy with one entry a lane.
Array: TypeAlias = Any


class Columns(Mapping[str, Array]):
    """The fields of an observation or action class, one entry a lane.

    A field is an item and an attribute, and a property of the class is computed from the arrays, so
    that a rule written for one observation works on all lanes: `stage.position` of the Beer Game.

    Args:
        kind: The class.
        arrays: The fields by name. A field with one value in all lanes may be that value.

    Attributes:
        kind: As given.
    """

    __slots__ = ("_arrays", "kind")

    def __init__(self, kind: Any, arrays: Mapping[str, Array]) -> None:
        self.kind = kind
        self._arrays = dict(arrays)

    def read_only(self) -> "Columns":
        """Return the columns with arrays that cannot be written; no array is copied."""
        arrays = dict(self._arrays)
        for name, array in arrays.items():
            if isinstance(array, np.ndarray):
                arrays[name] = view = array.view()
                view.flags.writeable = False
        return Columns(self.kind, arrays)

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __getattr__(self, name: str) -> Array:
        # `_arrays` itself is missing while an instance is copied or unpickled.
        if name != "_arrays":
            if name in self._arrays:
                return self._arrays[name]
            found = getattr(self.kind, name, None)
            if isinstance(found, property) and found.fget is not None:
                return found.fget(self)
        raise AttributeError(f"{self.kind.__name__} has no field {name!r}")

    def row(self, lane: int) -> Any:
        """Return the observation or action of one lane, by its number from 0."""
        return self.kind(**{name: _entry(column, lane) for name, column in self._arrays.items()})


def _entry(column: Array, lane: int) -> Any:
    return column[lane].item() if getattr(column, "ndim", 0) else column
