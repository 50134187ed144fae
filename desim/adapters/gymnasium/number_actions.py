"""The actions of a role as a vector of numbers, for learners that take no other spaces."""

from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np
from attrs import frozen
from gymnasium import spaces

from desim.adapters.gymnasium.space_parts import (
    Either,
    Enumeration,
    Fields,
    Real,
    SpacePart,
    Whole,
)
from desim.adapters.gymnasium.spaces import ActionSpace
from desim.errors import UsageError, WrongAction
from desim.schema import TAG
from desim.short_repr import short_repr

#: A number of at most so many values is an entry of a `MultiDiscrete` space.
_MOST_VALUES = 1_000

#: A number whose bounds are further apart has no usual range and cannot be scaled.
_WIDEST = 2.0**53


@frozen
class _Entry:
    """One entry of the vector.

    Attributes:
        low: The lowest value.
        high: The highest value.
        count: How many values it has; 0 for every number between the bounds.
    """

    low: float
    high: float
    count: int

    def scaled(self, number: float) -> float:
        """Return the value, or its index, of a number from -1 to 1."""
        share = (number + 1) / 2
        if self.count:
            return min(int(share * self.count), self.count - 1)
        return self.low + share * (self.high - self.low)


#: Takes the values, or indices, of the entries of a part in order, and returns its plain value.
_Reader = Callable[[Iterator[float]], Any]


class NumberActions:
    """The actions whose fields are numbers, truth values and enumerations, as one vector.

    Its first entry is the action where there are several; the entries of the fields of each follow.
    Only those of the chosen action count. The space is `MultiDiscrete` if every entry has at most
    1,000 values, and else a `Box` from -1 to 1, scaled to the bounds of each field; the values of
    an enumeration have equal parts of it. A field of several kinds of numbers is read as the first.

    Args:
        actions: The space of all actions.
        role: The role, for errors.

    Attributes:
        space: The Gymnasium space.

    Raises:
        UsageError: No action has numbers within bounds alone.
    """

    def __init__(self, actions: ActionSpace, role: str) -> None:
        self._readers: dict[str, _Reader] = {}
        self._entries: list[_Entry] = []
        for name in actions.tags:
            self._add(name, actions.parts.get(name))
        if not self._readers:
            raise UsageError(
                f"no action of {role!r} has numbers within bounds alone; give "
                'action="options", or "fields"'
            )
        self._tags = list(self._readers)
        if len(self._tags) > 1:
            self._entries.insert(0, _counted(len(self._tags)))
        counts = [each.count for each in self._entries]
        self.is_discrete = all(0 < count <= _MOST_VALUES for count in counts)
        self.space = (
            spaces.MultiDiscrete(counts)
            if self.is_discrete
            else spaces.Box(-1, 1, shape=(len(counts),), dtype=np.float32)
        )

    def decode(self, member: Any) -> dict[str, Any]:
        """Return the tagged object of a member of the space.

        Raises:
            WrongAction: The value is not a member.
        """
        numbers = self._checked(member)
        if not self.is_discrete:
            numbers = [each.scaled(x) for each, x in zip(self._entries, numbers, strict=True)]
        left = iter(numbers)
        chosen = self._tags[int(next(left))] if len(self._tags) > 1 else self._tags[0]
        read = {name: reader(left) for name, reader in self._readers.items()}
        return {**read[chosen], TAG: chosen}

    def mask(self, possible: Collection[str]) -> Any:
        """Return which values of each entry may be given, all entries in one array.

        Args:
            possible: The actions that a question takes; empty for all.
        """
        mask = np.ones(sum(each.count for each in self._entries), dtype=bool)
        allowed = [not possible or name in possible for name in self._tags]
        if len(self._tags) > 1 and any(allowed):
            mask[: len(allowed)] = allowed
        return mask

    def _checked(self, member: Any) -> list[float]:
        """Return the numbers of a member of the space."""
        try:
            vector = np.asarray(member, np.float64)
        except (TypeError, ValueError, OverflowError):
            vector = np.empty(0)
        low, high = (0, self.space.nvec - 1) if self.is_discrete else (-1, 1)
        fits = vector.shape == self.space.shape and np.all((vector >= low) & (vector <= high))
        if not fits or (self.is_discrete and np.any(vector % 1)):
            raise WrongAction(f"{short_repr(member)} was given; the space is {self.space}")
        numbers: list[float] = vector.tolist()
        return numbers

    def _add(self, name: str, part: Fields | None) -> None:
        entries: list[_Entry] = []
        reader = _reader(part, entries) if part is not None else lambda _: {}
        if reader is not None:
            self._readers[name] = reader
            self._entries += entries


def _counted(count: int) -> _Entry:
    return _Entry(0, count - 1, count)


def _reader(part: SpacePart, entries: list[_Entry]) -> _Reader | None:
    """Add the entries of a part and return its reader; None if it holds more than numbers."""
    match part:
        case Whole() if part.high - part.low < _WIDEST:
            entries.append(_counted(int(part.high - part.low) + 1))
            return lambda left: int(part.low) + int(next(left))
        case Real() if part.high - part.low < _WIDEST:
            entries.append(_Entry(part.low, part.high, 0))
            return lambda left: float(next(left))
        case Enumeration():
            entries.append(_counted(len(part.values)))
            return lambda left: part.values[int(next(left))]
        case Either():
            return _either(part, entries)
        case Fields():
            return _fields(part, entries)
        case _:
            return None


def _fields(part: Fields, entries: list[_Entry]) -> _Reader | None:
    readers = {name: _reader(each, entries) for name, each in part.parts.items()}
    known = {name: each for name, each in readers.items() if each is not None}
    if len(known) < len(readers):
        return None
    return lambda left: {name: each(left) for name, each in known.items()}


def _either(part: Either, entries: list[_Entry]) -> _Reader | None:
    """Read the first kind of number; with None an entry before it says whether there is one."""
    optional = len(part.kinds) > len(part.parts)
    for each in part.parts.values():
        own: list[_Entry] = []
        reader = _reader(each, own)
        if reader is None:
            continue
        entries += [_counted(2), *own] if optional else own
        return _optional(reader) if optional else reader
    return None


def _optional(reader: _Reader) -> _Reader:
    def read(left: Iterator[float]) -> Any:
        given = next(left)
        value = reader(left)
        return value if given else None

    return read
