"""Observations or actions of many lanes: the fields of their class as arrays, one entry a lane."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self, TypeAlias

from desim.schema import members

#: An array of the array API standard with one entry a lane: numpy, CuPy, torch.
Array: TypeAlias = Any

#: The column with the number of the action's class, where a role has several.
CLASS = "do"


class Columns(Mapping[str, Array]):
    """The fields of an observation or action class, one entry a lane.

    A field is an item and an attribute, and a property of the class is computed from the arrays, so
    that a rule written for one observation works on all lanes: `stage.position` of the Beer Game.

    Args:
        kind: The class; a union of classes for a role with several actions.
        arrays: The fields by name. A field with one value in all lanes may be that value; a text
            that differs is the number of the text in `Lanes.texts`. Where *kind* is a union,
            `do` is the number of the class among `schema.members(kind)`.
        asks: Whether a lane waits for an answer; rows of other lanes hold anything, and what is
            answered there is ignored. None: all lanes wait.

    Attributes:
        kind: As given.
        asks: As given.
    """

    __slots__ = ("_arrays", "asks", "kind")

    def __init__(self, kind: Any, arrays: Mapping[str, Array], asks: Array = None) -> None:
        self.kind = kind
        self.asks = asks
        self._arrays = dict(arrays)

    @classmethod
    def of(
        cls, kind: Any, rows: Sequence[Any], texts: Mapping[str, tuple[str, ...]] | None = None
    ) -> Self:
        """Return instances of an observation or action class as columns; the inverse of `row`.

        Args:
            kind: Their class, or a union of classes.
            rows: At least one; instances of other classes of a union may lack a field.
            texts: As for `row`.

        Raises:
            ValueError: A text is not among those of its column.
        """
        from numpy import asarray

        names = dict.fromkeys(one.name for row in rows for one in type(row).__attrs_attrs__)
        arrays = {name: asarray(_values(rows, name, texts or {})) for name in names}
        classes = members(kind)
        if len(classes) > 1:
            arrays[CLASS] = asarray([classes.index(type(row)) for row in rows])
        return cls(kind, arrays)

    def read_only(self) -> "Columns":
        """Return the columns with numpy arrays that cannot be written; no array is copied."""
        from numpy import ndarray

        arrays = dict(self._arrays)
        for name, array in arrays.items():
            if isinstance(array, ndarray):
                arrays[name] = view = array.view()
                view.flags.writeable = False
        return Columns(self.kind, arrays, self.asks)

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
        raise AttributeError(f"{getattr(self.kind, '__name__', self.kind)} has no field {name!r}")

    def row(self, lane: int, texts: Mapping[str, tuple[str, ...]] | None = None) -> Any:
        """Return the observation or action of one lane, as an instance of its class.

        Args:
            lane: Its number, from 0.
            texts: The texts of text columns by field, see `Lanes.texts`.
        """
        known = texts or {}
        values = {name: _entry(column, lane) for name, column in self._arrays.items()}
        classes = members(self.kind)
        kind = classes[values.pop(CLASS)] if CLASS in values else classes[0]
        fields = {one.name for one in kind.__attrs_attrs__}
        return kind(
            **{
                name: known[name][value] if name in known and isinstance(value, int) else value
                for name, value in values.items()
                if name in fields
            }
        )


def _values(rows: Sequence[Any], name: str, texts: Mapping[str, tuple[str, ...]]) -> list[Any]:
    """Return a field of instances; those without it have the value of another one."""
    values = [getattr(row, name) for row in rows if hasattr(row, name)]
    found = [getattr(row, name, values[0]) for row in rows]
    return [texts[name].index(value) for value in found] if name in texts else found


def _entry(column: Array, lane: int) -> Any:
    if isinstance(column, list):
        return column[lane]
    if not getattr(column, "ndim", 0):
        return column
    entry = column[lane]
    return entry.item() if hasattr(entry, "item") else entry
