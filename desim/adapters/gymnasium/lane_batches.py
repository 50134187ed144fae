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
    Fields,
    Flag,
    Real,
    SpacePart,
    Whole,
    Words,
)
from desim.adapters.gymnasium.spaces import ActionSpace, ObservationSpace
from desim.errors import WrongAction, possible, sentence
from desim.lanes import Array, Columns, NoLanes
from desim.schema import TAG, Codec, encode
from desim.short_repr import short_repr

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

    def write(self, seen: Columns, lanes: Places, rows: Places) -> None:
        """Take over what some lanes observe.

        Args:
            seen: The observations.
            lanes: The lanes, by their numbers in *seen*.
            rows: The numbers of the same lanes in the batch; a slice stands for all of them.
        """
        for name, entry in self._entries.items():
            column = seen[name]
            if _is_column(column):
                entry.write(column, lanes, rows)
                self._everywhere.pop(name, None)
            elif name not in self._everywhere or self._everywhere[name] != column:
                entry.fill(column, rows)
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
    def write(self, column: Any, lanes: Places, rows: Places) -> None:
        """Take over the entries of lanes of a column."""

    @abstractmethod
    def fill(self, value: Any, rows: Places) -> None:
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

    def write(self, column: Any, lanes: Places, rows: Places) -> None:
        self._array[rows] = _taken(column, lanes)

    def fill(self, value: Any, rows: Places) -> None:
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

    def write(self, column: Any, lanes: Places, rows: Places) -> None:
        self._put(*_different(_taken(column, lanes)), rows)

    def fill(self, value: Any, rows: Places) -> None:
        self._put(*_different([value]), rows)

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

    def write(self, column: Any, lanes: Places, rows: Places) -> None:
        if self._part.columns:
            self._put(*_different(_taken(column, lanes)), rows)

    def fill(self, value: Any, rows: Places) -> None:
        if self._part.columns:
            self._put(*_different([value]), rows)

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


def _different(column: Any) -> tuple[list[Any], Array]:
    """Return the different plain values of a column, and the number of each entry's."""
    values = column.tolist() if isinstance(column, np.ndarray) else column
    found: dict[bytes, int] = {}
    numbers = np.array([found.setdefault(encode(one), len(found)) for one in values], np.int64)
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

    Raises:
        NoLanes: The role has several classes of actions.
    """

    def __init__(self, actions: ActionSpace, codec: Codec, count: int) -> None:
        self._codec, self._count = codec, count
        if len(codec.classes) > 1:
            raise NoLanes("a role with several classes of actions has no batched actions")
        (self._tag,) = codec.classes
        self._parts = actions.parts[self._tag].parts

    def columns(self, given: Any) -> dict[str, Any]:
        """Return the fields of the actions, one entry a lane.

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
        if (name := given[TAG]) != self._tag:
            raise WrongAction(f"action {name!r} was given; {possible(name, [self._tag])}")
        return {each: np.asarray(given[each]) for each in given if each != TAG}

    def _decoded(self, given: Mapping[str, Any], do: Any) -> dict[str, Any]:
        numbers = np.asarray(do)
        if numbers.shape != (self._count,) or numbers.dtype.kind not in "iu":
            raise TypeError(f"{TAG!r} has no whole number for each lane")
        if numbers.any():
            raise ValueError(f"{TAG!r} is not 0")
        return {name: _column(part, given[self._tag][name]) for name, part in self._parts.items()}


def taken_rows(fields: Mapping[str, Any], rows: Places) -> dict[str, Any]:
    """Return the entries of some rows; a value for all of them stays one."""
    return {
        name: _taken(column, rows) if _is_column(column) else column
        for name, column in fields.items()
    }


def _column(part: SpacePart, member: Any) -> Any:
    """Return the values of a batched member of a part's space."""
    if isinstance(part, Either) and part.parts.keys() == {"integer", "number"}:
        return _mixed(part, member)
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


def _of_kind(member: Any, kinds: str) -> Array:
    found = np.asarray(member)
    if found.dtype.kind not in kinds:
        raise TypeError(f"{short_repr(member)} holds other values than the space")
    return found


def _flags(_: SpacePart, member: Any) -> Array:
    return _of_kind(member, "iu") == 1


def _wholes(_: SpacePart, member: Any) -> Array:
    return _of_kind(member, "iu")


def _reals(_: SpacePart, member: Any) -> Array:
    return _of_kind(member, "iuf").astype(np.float64)


#: Functions that read the batched members of kinds of values.
_READERS: dict[type[SpacePart], Callable[[SpacePart, Any], Any]] = {
    Flag: _flags,
    Whole: _wholes,
    Real: _reals,
}
