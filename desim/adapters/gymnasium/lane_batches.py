"""Observations and actions of many lanes as members of batched Gymnasium spaces."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import msgspec
import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import concatenate, create_empty_array

from desim.adapters.gymnasium.space_parts import (
    Either,
    Enumeration,
    Fields,
    Flag,
    Real,
    SpacePart,
    Whole,
    Words,
)
from desim.adapters.gymnasium.spaces import ActionSpace, ObservationSpace
from desim.errors import WrongAction, possible, sentence
from desim.lanes.lane_columns import CLASS, Array, Columns
from desim.lanes.lane_protocols import NoLanes
from desim.schema import TAG, Codec, encode
from desim.short_repr import short_repr

#: The texts of columns that hold numbers of texts, by field.
Texts = Mapping[str, tuple[str, ...]]

#: Numbers of lanes, or all of them.
Places = Array | slice


# -- observations ----------------------------------------------------------------------------------


class ObservationBatch:
    """The observations of some lanes, a member of the batched space, kept from step to step.

    Args:
        observed: The space of one observation.
        count: The number of lanes.

    Raises:
        NoLanes: The role observes several classes.
    """

    def __init__(self, observed: ObservationSpace, count: int) -> None:
        part = observed.part
        if not isinstance(part, Fields):
            raise NoLanes("a role that observes several classes has no batched observations")
        self._flat = np.zeros((count, len(part.columns))) if observed.flat else None
        self._scale = observed.scale
        self._entries: dict[str, _Entry] = {}
        #: By field, a value that all rows have.
        self._everywhere: dict[str, Any] = {}
        width = 0
        for name, each in part.parts.items():
            view = None
            if self._flat is not None:
                view = self._flat[:, width : width + len(each.columns)]
                width += len(each.columns)
            self._entries[name] = _entry(each, count, view)

    def write(self, seen: Columns, texts: Texts, lanes: Places, rows: Places) -> None:
        """Take over what some lanes observe.

        Args:
            seen: The observations.
            texts: The texts of columns that hold their numbers.
            lanes: The lanes, by their numbers in *seen*.
            rows: The numbers of the same lanes in the batch; a slice stands for all of them.
        """
        for name, entry in self._entries.items():
            column = seen[name]
            if _is_column(column):
                entry.write(column, lanes, rows, texts.get(name))
                self._everywhere.pop(name, None)
            elif name not in self._everywhere or self._everywhere[name] != column:
                entry.fill(column, rows, texts.get(name))
                self._everywhere.pop(name, None)
                if isinstance(rows, slice):
                    self._everywhere[name] = column

    def member(self) -> Any:
        """Return a new member of the batched space."""
        if self._flat is not None:
            return self._scale(self._flat)
        return {name: entry.batch() for name, entry in self._entries.items()}

    def row(self, row: int) -> Any:
        """Return a new member of the space of one lane."""
        if self._flat is not None:
            return self._scale(self._flat[row])
        return {name: entry.row(row) for name, entry in self._entries.items()}


class _Entry(ABC):
    """One field of the observations."""

    @abstractmethod
    def write(self, column: Any, lanes: Places, rows: Places, texts: Sequence[str] | None) -> None:
        """Take over the entries of lanes of a column."""

    @abstractmethod
    def fill(self, value: Any, rows: Places, texts: Sequence[str] | None) -> None:
        """Take over one value for all rows."""

    @abstractmethod
    def batch(self) -> Any:
        """Return a new member of the field's batched space."""

    @abstractmethod
    def row(self, row: int) -> Any:
        """Return a new member of the field's space."""


class _Numbers(_Entry):
    """Numbers or truth values, one array; the checks of the class have bounded them."""

    def __init__(self, part: SpacePart, count: int, view: Array) -> None:
        self._part = part
        whole = isinstance(part, Whole | Flag)
        self._array = np.zeros(count, np.int64 if whole else np.float64) if view is None else view

    def write(self, column: Any, lanes: Places, rows: Places, _: Sequence[str] | None) -> None:
        self._array[rows] = _taken(column, lanes)

    def fill(self, value: Any, rows: Places, _: Sequence[str] | None) -> None:
        self._array[rows] = value

    def batch(self) -> Any:
        return self._array.copy()

    def row(self, row: int) -> Any:
        return self._part.encode(self._array[row].item())


class _Members(_Entry):
    """Values of any other kind: the different members, and the number of each row's."""

    def __init__(self, part: SpacePart, count: int) -> None:
        self._part = part
        self._members = [part.blank()]
        self._numbers = np.zeros(count, np.int64)
        self._texts: tuple[str, ...] | None = None

    def write(self, column: Any, lanes: Places, rows: Places, texts: Sequence[str] | None) -> None:
        self._put(*_different(_taken(column, lanes), texts), rows)

    def fill(self, value: Any, rows: Places, texts: Sequence[str] | None) -> None:
        self._put(*_different([value], texts), rows)

    def batch(self) -> Any:
        if self._texts is not None:
            return self._texts
        space = self._part.space
        different = concatenate(space, self._members, create_empty_array(space, len(self._members)))
        batch = _repeated(space, different, self._numbers)
        self._texts = batch if isinstance(self._part, Words) else None
        return batch

    def row(self, row: int) -> Any:
        return deepcopy(self._members[self._numbers[row]])

    def _put(self, values: Sequence[Any], numbers: Array, rows: Places) -> None:
        if isinstance(rows, slice):
            self._members = []
        elif len(self._members) > len(self._numbers):
            used, self._numbers = np.unique(self._numbers, return_inverse=True)
            self._members = [self._members[number] for number in used.tolist()]
        self._numbers[rows] = numbers + len(self._members)
        self._members += [self._part.encode(each) for each in values]
        self._texts = None


class _Rows(_Entry):
    """Values of any other kind as the numbers of a flat observation."""

    def __init__(self, part: SpacePart, view: Array) -> None:
        self._part, self._view = part, view

    def write(self, column: Any, lanes: Places, rows: Places, texts: Sequence[str] | None) -> None:
        if self._part.columns:
            self._put(*_different(_taken(column, lanes), texts), rows)

    def fill(self, value: Any, rows: Places, texts: Sequence[str] | None) -> None:
        if self._part.columns:
            self._put(*_different([value], texts), rows)

    def batch(self) -> Any:
        return self._view.copy()

    def row(self, row: int) -> Any:
        return self._view[row].copy()

    def _put(self, values: Sequence[Any], numbers: Array, rows: Places) -> None:
        self._view[rows] = np.array([self._part.numbers(each) for each in values])[numbers]


def _entry(part: SpacePart, count: int, view: Array | None) -> _Entry:
    if isinstance(part, Whole | Real | Flag):
        return _Numbers(part, count, view if view is None else view[:, 0])
    return _Members(part, count) if view is None else _Rows(part, view)


def _different(column: Any, texts: Sequence[str] | None) -> tuple[list[Any], Array]:
    """Return the different plain values of a column, and the number of each entry's."""
    values = column.tolist() if isinstance(column, np.ndarray) else column
    named = (texts[one] if texts is not None and isinstance(one, int) else one for one in values)
    found: dict[bytes, int] = {}
    numbers = np.array([found.setdefault(encode(one), len(found)) for one in named], np.int64)
    return [msgspec.json.decode(one) for one in found], numbers


def _repeated(space: Any, different: Any, numbers: Array) -> Any:
    """Return a batched member whose rows are numbered ones of a batched member."""
    if isinstance(space, spaces.Dict):
        return {name: _repeated(each, different[name], numbers) for name, each in space.items()}
    if isinstance(space, spaces.Tuple):
        pairs = zip(space, different, strict=True)
        return tuple(_repeated(each, batch, numbers) for each, batch in pairs)
    if isinstance(space, spaces.Text):
        return tuple(different[number] for number in numbers.tolist())
    return different[numbers]


def _is_column(value: Any) -> bool:
    """Return whether a value is a column, and not one value for all lanes."""
    return isinstance(value, list) or bool(getattr(value, "ndim", 0))


def _taken(column: Any, lanes: Places) -> Any:
    """Return some entries of a column: an array, or a sequence that makes entries when read."""
    if isinstance(column, np.ndarray):
        return column[lanes]
    places = range(len(column))[lanes] if isinstance(lanes, slice) else lanes.tolist()
    return [column[lane] for lane in places]


# -- actions ---------------------------------------------------------------------------------------


class ActionBatch:
    """Reads members of the batched space of a role's actions.

    Args:
        actions: The space of one action.
        codec: The schema of the role's actions.
        count: The number of lanes.
        texts: The texts whose numbers lanes take, by field.
    """

    def __init__(self, actions: ActionSpace, codec: Codec, count: int, texts: Texts) -> None:
        self._parts, self._codec, self._count = actions.parts, codec, count
        self._texts = texts
        self._tags = list(codec.classes)

    def columns(self, given: Any) -> dict[str, Any]:
        """Return the fields of the actions, one entry a lane, and under `do` the class's number.

        Args:
            given: A member of the batched space, or a tagged object whose fields are arrays, such
                as `{"do": "order", "quantity": array}`.

        Raises:
            WrongAction: The value is neither of these.
            NoLanes: A field has no column.
        """
        try:
            do = given[TAG]
            fields = self._tagged(given) if isinstance(do, str) else self._decoded(given, do)
        except (KeyError, TypeError, ValueError, IndexError, OverflowError) as fault:
            raise WrongAction(
                f"{short_repr(given)} is not in the action space of {self._count} lanes: "
                f"{sentence(fault)}; {self._codec.expected()}"
            ) from None
        for name, column in fields.items():
            if np.ndim(column) and np.shape(column) != (self._count,):
                raise WrongAction(
                    f"{name!r} has the shape {np.shape(column)}; it has an entry for each of "
                    f"{self._count} lanes"
                )
        return fields

    def _tagged(self, given: Mapping[str, Any]) -> dict[str, Any]:
        name = given[TAG]
        if name not in self._tags:
            raise WrongAction(f"action {name!r} was given; {possible(name, self._tags)}")
        fields = {each: self._column(each, given[each]) for each in given if each != TAG}
        return fields | self._numbered(self._tags.index(name))

    def _decoded(self, given: Mapping[str, Any], do: Any) -> dict[str, Any]:
        numbers = np.asarray(do)
        if numbers.shape != (self._count,) or numbers.dtype.kind not in "iu":
            raise TypeError(f"{TAG!r} has no whole number for each lane")
        if numbers.min() < 0 or numbers.max() >= len(self._tags):
            raise ValueError(f"{TAG!r} is not from 0 to {len(self._tags) - 1}")
        fields: dict[str, Any] = {}
        for number, name in enumerate(self._tags):
            chosen = numbers == number
            if name in self._parts and chosen.any():
                for field, part in self._parts[name].parts.items():
                    column = self._column(field, _column(part, given[name][field]), chosen)
                    fields[field] = _merged(chosen, column, fields.get(field, column))
        return fields | self._numbered(numbers)

    def _column(self, field: str, column: Any, chosen: Array | None = None) -> Any:
        """Return a column with the numbers of texts, in the chosen lanes."""
        if field not in self._texts:
            return np.asarray(column) if isinstance(column, list | tuple) else column
        texts = [column] * self._count if isinstance(column, str) else column
        used = [True] * self._count if chosen is None else chosen.tolist()
        known = {text: number for number, text in enumerate(self._texts[field])}
        for text, here in zip(texts, used, strict=True):
            if here and text not in known:
                raise NoLanes(f"{field}={text!r} has no lanes; {possible(str(text), known)}")
        return np.array([known.get(text, 0) for text in texts])

    def _numbered(self, number: Any) -> dict[str, Any]:
        """Return the column of the class, which a role with one class does not have."""
        if len(self._tags) == 1:
            return {}
        return {CLASS: np.broadcast_to(np.asarray(number, np.int64), (self._count,))}


def taken_rows(fields: Mapping[str, Any], rows: Places) -> dict[str, Any]:
    """Return the entries of some rows; a value for all of them stays one."""
    return {
        name: _taken(column, rows) if _is_column(column) else column
        for name, column in fields.items()
    }


def _column(part: SpacePart, member: Any) -> Any:
    """Return the values of a batched member of a part's space."""
    if isinstance(part, Either):
        whole_or_real = part.parts.keys() == {"integer", "number"}
        return _mixed(part, member) if whole_or_real else _of_union(part, member)
    reader = next((each for kind, each in _READERS.items() if isinstance(part, kind)), None)
    if reader is None:
        raise NoLanes(f"a field of the kind {type(part).__name__.lower()} has no column")
    return reader(part, member)


def _mixed(part: Either, member: Any) -> Any:
    """Return whole numbers and fractions: whole numbers alone as such."""
    kinds = _of_kind(member["kind"], "iu")
    named = {name: kinds == number for number, (name, _) in enumerate(part.kinds)}
    if named["integer"].all():
        return _of_kind(member["integer"], "iu")
    numbers = _of_kind(member["number"], "iuf")
    if named["number"].all():
        return numbers
    return np.where(named["integer"], _of_kind(member["integer"], "iu"), numbers)


def _of_union(part: Either, member: Mapping[str, Any]) -> list[Any]:
    if not all(isinstance(each, tuple(_READERS)) for each in part.parts.values()):
        raise NoLanes("a union of classes has no column")
    names = ["kind", *part.parts]
    rows = zip(*(member[name] for name in names), strict=True)
    return [part.decode(dict(zip(names, row, strict=True))) for row in rows]


def _of_kind(member: Any, kinds: str) -> Array:
    found = np.asarray(member)
    if found.dtype.kind not in kinds:
        raise TypeError(f"{short_repr(member)} holds other values than the space")
    return found


def _merged(chosen: Array, column: Any, before: Any) -> Any:
    """Return a column in the chosen lanes, and another one in the others."""
    if column is before:
        return column
    if isinstance(column, list) or isinstance(before, list):
        pairs = zip(chosen.tolist(), column, before, strict=True)
        return [new if mine else old for mine, new, old in pairs]
    return np.where(chosen, column, before)


def _flags(_: SpacePart, member: Any) -> Array:
    return _of_kind(member, "iu") == 1


def _wholes(_: SpacePart, member: Any) -> Array:
    return _of_kind(member, "iu")


def _reals(_: SpacePart, member: Any) -> Array:
    return _of_kind(member, "iuf").astype(np.float64)


def _each(part: SpacePart, member: Any) -> list[Any]:
    return [part.decode(one) for one in member]


#: Functions that read the batched members of kinds of values; a flag is an enumeration too.
_READERS: dict[type[SpacePart], Callable[[SpacePart, Any], Any]] = {
    Flag: _flags,
    Whole: _wholes,
    Real: _reals,
    Enumeration: _each,
    Words: _each,
}
