"""Values as Gymnasium spaces: numbers, enumerations, texts; lists, objects, unions of them.

A part converts plain JSON values to members of its space and back. The parts of an action refuse a
value that their space does not hold; those of an observation fit it in: numbers are clipped to the
bounds, texts and lists are cut, characters beyond `CHARSET` are replaced by U+FFFD.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
from gymnasium import spaces

from desim.errors import SchemaError, UsageError
from desim.schema.convert import check_finite
from desim.short_repr import short_repr

#: Stands for a character that is not in `CHARSET`.
_UNKNOWN = "�"

#: The characters of texts: printable ASCII, line ends, tabs, Latin-1, and common signs.
CHARSET = "".join(
    [
        "\t\n",
        *map(chr, range(0x20, 0x7F)),
        *map(chr, range(0xA0, 0x100)),
        "–—‘’“”•…€→≤≥≠≈√∞−ΔΣμπσ",  # noqa: RUF001 (signs that texts of worlds contain)
        _UNKNOWN,
    ]
)
_CHARACTERS = frozenset(CHARSET)

#: A whole number of at most so many values is one of a `Discrete` space, larger ones of a `Box`.
_FEW = 256

#: An escaped or plain character of a pattern, and its repetitions.
_ATOM = re.compile(r"(\\d|\\w|\\[^\w]|[^\\\[\](){}.|?*+^$])(?:\{(\d+)(?:,(\d+))?\})?")
_CLASSES = {r"\d": "0123456789", r"\w": "abcdefghijklmnopqrstuvwxyz0123456789_"}

Columns = list[tuple[float, float]]

#: Objects that the expressions of a compiled function refer to, by name.
Names = dict[str, Any]

_NAMES = {
    "array": np.array,
    "int64": np.int64,
    "i8": np.dtype(np.int64),
    "f8": np.dtype(np.float64),
}


class _Scalar(spaces.Box):
    """One number, an array without dimensions."""

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        # Box returns a numpy scalar for integers without dimensions, which `contains` warns of.
        return np.asarray(super().sample(mask, probability), dtype=self.dtype)


class _Matching(spaces.Text):
    r"""Texts that match a sequence of characters and repetitions, as `\d{1,2}/\d{4}`."""

    def __init__(self, atoms: Sequence[tuple[str, int, int]], pattern: str) -> None:
        self.atoms, self.pattern = tuple(atoms), re.compile(pattern)
        shortest = sum(low for _, low, _ in atoms)
        longest = sum(high for _, _, high in atoms)
        super().__init__(max_length=longest, min_length=shortest, charset=CHARSET)

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        if mask is not None or probability is not None:
            return str(super().sample(mask, probability))
        return "".join(
            str(self.np_random.choice(list(characters)))
            for characters, low, high in self.atoms
            for _ in range(int(self.np_random.integers(low, high + 1)))
        )

    def contains(self, x: Any) -> bool:
        return bool(super().contains(x)) and self.pattern.search(x) is not None


class SpacePart(ABC):
    """One value of an action or an observation.

    `encode` and `numbers` are compiled once from the expressions of the part and of its fields,
    because a step that walks the parts takes three times as long.

    Attributes:
        space: The Gymnasium space.
        columns: The bounds of the numbers that the value has in a flat observation.
    """

    space: Any
    columns: Columns

    @cached_property
    def encode(self) -> Callable[[Any], Any]:
        """The function that returns a new member of the space for a plain value."""
        return _compiled(self.encoded)

    @cached_property
    def numbers(self) -> Callable[[Any], list[float]]:
        """The function that returns a plain value as the numbers of a flat observation."""
        return _compiled(lambda value, names: f"[{self.numbered(value, names)}]")

    @abstractmethod
    def encoded(self, value: str, names: Names) -> str:
        """Return the expression of a new member of the space.

        Args:
            value: The expression of the plain value.
            names: Receives the objects that the expression refers to.
        """

    @abstractmethod
    def numbered(self, value: str, names: Names) -> str:
        """Return the expressions of the columns of a flat observation; arguments as `encoded`."""

    @abstractmethod
    def decode(self, member: Any) -> Any:
        """Return the plain value of a member of the space.

        Raises:
            KeyError, TypeError, ValueError, OverflowError: The value is not a member.
        """

    @abstractmethod
    def blank(self) -> Any:
        """Return a new member of the space that stands for no value."""

    @abstractmethod
    def accepts(self, value: Any) -> bool:
        """Return whether a plain value is of this kind; distinguishes the members of a union."""


class _Number(SpacePart):
    """A number within bounds."""

    kind: type

    def __init__(self, low: float, high: float, *, fit: bool) -> None:
        self.low, self.high, self.fit = low, high, fit
        self.columns = [(float(low), float(high))]

    def within(self, value: Any) -> Any:
        """Return the value, clipped to the bounds if the part fits values in."""
        if self.low <= value <= self.high:
            return value
        if not self.fit:
            raise UsageError(
                f"{short_repr(value)} was given; the space holds {self.low} to {self.high}. Give "
                '`bounds="schema"`, or the tagged object itself'
            )
        return min(max(value, self.low), self.high)

    def numbered(self, value: str, names: Names) -> str:
        """Return the expression of the value within the bounds, which most values are."""
        within = _named(self.within, names)
        return f"(x if {self.low!r} <= (x := {value}) <= {self.high!r} else {within}(x))"

    def blank(self) -> Any:
        return self.encode(self.kind(min(max(0, self.low), self.high)))


class Whole(_Number):
    """A whole number: `Discrete` where it has few values, else a `Box` of int64."""

    kind = int

    def __init__(self, low: int, high: int, *, fit: bool) -> None:
        super().__init__(low, high, fit=fit)
        self.few = high - low < _FEW
        self.space = (
            spaces.Discrete(high - low + 1, start=low)
            if self.few
            else _Scalar(low, high, shape=(), dtype=np.int64)
        )

    def encoded(self, value: str, names: Names) -> str:
        number = self.numbered(value, names)
        return f"int64({number})" if self.few else f"array({number}, i8)"

    def decode(self, member: Any) -> int:
        return _whole(member)

    def accepts(self, value: Any) -> bool:
        return type(value) is int


class Real(_Number):
    """A number: a `Box` of float64."""

    kind = float

    def __init__(self, low: float, high: float, *, fit: bool) -> None:
        super().__init__(low, high, fit=fit)
        self.space = _Scalar(low, high, shape=(), dtype=np.float64)

    def encoded(self, value: str, names: Names) -> str:
        return f"array({self.numbered(value, names)}, f8)"

    def decode(self, member: Any) -> float:
        return float(np.asarray(member).item())

    def accepts(self, value: Any) -> bool:
        return type(value) in (int, float)


class Enumeration(SpacePart):
    """One of a few listed values: `Discrete`."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = tuple(values)
        self.space = spaces.Discrete(len(self.values))
        self.columns = [(0.0, 1.0)] * len(self.values)

    def encoded(self, value: str, names: Names) -> str:
        return f"int64({_named(self.values.index, names)}({value}))"

    def decode(self, member: Any) -> Any:
        return self.values[index_of(member, len(self.values))]

    def blank(self) -> Any:
        return np.int64(0)

    def numbered(self, value: str, names: Names) -> str:
        return ", ".join(f"{value} == {_named(each, names)}" for each in self.values)

    def accepts(self, value: Any) -> bool:
        return any(type(value) is type(each) and value == each for each in self.values)


class Flag(Enumeration):
    """False or true: `Discrete(2)`; one number of a flat observation."""

    def __init__(self) -> None:
        super().__init__((False, True))
        self.columns = [(0.0, 1.0)]

    def numbered(self, value: str, names: Names) -> str:
        return value


class Words(SpacePart):
    """A text: `Text`; no number of a flat observation."""

    def __init__(self, most: int, fewest: int = 0, pattern: str = "", *, fit: bool) -> None:
        atoms = _atoms(pattern)
        self.fit = fit
        self.space = (
            _Matching(atoms, pattern)
            if atoms
            else spaces.Text(max_length=most, min_length=fewest, charset=CHARSET)
        )
        self.columns = []

    def encoded(self, value: str, names: Names) -> str:
        return f"{_named(self.fitted, names)}({value})"

    def fitted(self, value: Any) -> str:
        """Return the text of a value.

        Raises:
            UsageError: The space of an action does not hold it.
        """
        text = str(value)
        if self.fit:
            text = text[: self.space.max_length]
            return (
                text
                if _CHARACTERS.issuperset(text)
                else "".join(each if each in _CHARACTERS else _UNKNOWN for each in text)
            ).ljust(self.space.min_length)
        if not self.space.contains(text):
            raise UsageError(
                f"{short_repr(text)} was given, {len(text):,} characters; the space holds texts "
                f"of {self.space.max_length:,} of the characters of CHARSET: give more `max_text`, "
                "or the tagged object itself"
            )
        return text

    def decode(self, member: Any) -> Any:
        if not isinstance(member, str):
            raise TypeError(f"{short_repr(member)} is no text")
        return str(member)

    def blank(self) -> str:
        if isinstance(self.space, _Matching):
            return "".join(characters[0] * low for characters, low, _ in self.space.atoms)
        return " " * int(self.space.min_length)

    def numbered(self, value: str, names: Names) -> str:
        return ""

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str)


class Json(Words):
    """A value of any type as JSON in a text; a text that is not JSON is taken as it is."""

    def fitted(self, value: Any) -> str:
        # An action is written in ASCII, so that no character of it is beyond `CHARSET`.
        text = msgspec.json.encode(value).decode() if self.fit else json.dumps(value)
        return super().fitted(text)

    def decode(self, member: Any) -> Any:
        text = super().decode(member)
        try:
            value = msgspec.json.decode(text)
            check_finite(value)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return text
        return value

    def accepts(self, value: Any) -> bool:
        return True


class Entries(SpacePart):
    """A list: the most entries that it may have, and a mask of the present ones."""

    def __init__(self, item: SpacePart, most: int, fewest: int = 0, *, fit: bool) -> None:
        self.item, self.most, self.fewest, self.fit = item, most, fewest, fit
        self.space = spaces.Dict(
            {
                "mask": spaces.MultiBinary(most),
                "entries": spaces.Tuple([item.space] * most),
            }
        )
        self.columns = [(0.0, 1.0)] * most + item.columns * most

    def encoded(self, value: str, names: Names) -> str:
        return f"{_named(self._entries, names)}({value})"

    def decode(self, member: Any) -> list[Any]:
        # Required entries of a list are taken regardless of the mask.
        mask = member["mask"]
        return [
            self.item.decode(each)
            for number, each in enumerate(member["entries"])
            if number < self.fewest or mask[number]
        ]

    def blank(self) -> dict[str, Any]:
        return self._filled([])

    def numbered(self, value: str, names: Names) -> str:
        return f"*{_named(self._numbers, names)}({value})"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, list)

    def _entries(self, value: Any) -> dict[str, Any]:
        return self._filled([self.item.encode(each) for each in self._cut(value)])

    def _numbers(self, value: Any) -> list[float]:
        known = self._cut(value)
        rest = self.most - len(known)
        each = [number for entry in known for number in self.item.numbers(entry)]
        none = [0.0] * (rest * len(self.item.columns))
        return [1.0] * len(known) + [0.0] * rest + each + none

    def _cut(self, value: Sequence[Any]) -> Sequence[Any]:
        if len(value) > self.most and not self.fit:
            raise UsageError(
                f"{len(value):,} entries were given; the space holds {self.most:,}: give more "
                "`max_entries`, or the tagged object itself"
            )
        return value[: self.most]

    def _filled(self, members: list[Any]) -> dict[str, Any]:
        mask = np.zeros(self.most, dtype=np.int8)
        mask[: len(members)] = 1
        rest = (self.item.blank() for _ in range(self.most - len(members)))
        return {"mask": mask, "entries": (*members, *rest)}


class Fields(SpacePart):
    """An object: a `Dict` with one entry for each field."""

    def __init__(self, parts: Mapping[str, SpacePart]) -> None:
        self.parts = dict(parts)
        self.space = spaces.Dict({name: part.space for name, part in parts.items()})
        self.columns = [bounds for part in parts.values() for bounds in part.columns]

    def encoded(self, value: str, names: Names) -> str:
        entries = (f"{n!r}: {p.encoded(f'{value}[{n!r}]', names)}" for n, p in self.parts.items())
        return f"{{{', '.join(entries)}}}"

    def decode(self, member: Any) -> dict[str, Any]:
        return {name: part.decode(member[name]) for name, part in self.parts.items()}

    def blank(self) -> dict[str, Any]:
        return {name: part.blank() for name, part in self.parts.items()}

    def numbered(self, value: str, names: Names) -> str:
        columns = (part.numbered(f"{value}[{n!r}]", names) for n, part in self.parts.items())
        return ", ".join(filter(None, columns))

    def accepts(self, value: Any) -> bool:
        if not isinstance(value, dict) or value.keys() != self.parts.keys():
            return False
        kind = self.parts.get("do")
        return kind is None or kind.accepts(value["do"])


class Either(SpacePart):
    """A value of one of several kinds: the number of its kind, and an entry for each kind.

    Args:
        parts: By name; None stands for null, which has no entry.
    """

    def __init__(self, parts: Mapping[str, SpacePart | None]) -> None:
        self.kinds = list(parts.items())
        self.parts = {name: part for name, part in self.kinds if part is not None}
        entries = {name: part.space for name, part in self.parts.items()}
        self.space = spaces.Dict({"kind": spaces.Discrete(len(self.kinds)), **entries})
        self.columns = [(0.0, 1.0)] * len(self.kinds)
        self.columns += [_with_zero(each) for part in self.parts.values() for each in part.columns]

    def encoded(self, value: str, names: Names) -> str:
        return f"{_named(self._entry, names)}({value})"

    def decode(self, member: Any) -> Any:
        name, part = self.kinds[index_of(member["kind"], len(self.kinds))]
        return None if part is None else part.decode(member[name])

    def blank(self) -> dict[str, Any]:
        blanks = {name: part.blank() for name, part in self.parts.items()}
        return {"kind": np.int64(0), **blanks}

    def numbered(self, value: str, names: Names) -> str:
        return f"*{_named(self._numbers, names)}({value})"

    def accepts(self, value: Any) -> bool:
        return any(value is None if p is None else p.accepts(value) for _, p in self.kinds)

    def _entry(self, value: Any) -> dict[str, Any]:
        number, part = self._kind_of(value)
        return {
            "kind": np.int64(number),
            **{
                name: each.encode(value) if each is part else each.blank()
                for name, each in self.parts.items()
            },
        }

    def _numbers(self, value: Any) -> list[float]:
        number, part = self._kind_of(value)
        found = [float(number == each) for each in range(len(self.kinds))]
        for each in self.parts.values():
            found += each.numbers(value) if each is part else [0.0] * len(each.columns)
        return found

    def _kind_of(self, value: Any) -> tuple[int, SpacePart | None]:
        for number, (_, part) in enumerate(self.kinds):
            if value is None if part is None else part.accepts(value):
                return number, part
        raise SchemaError(f"{short_repr(value)} is of no kind of the space")


def _compiled(expression: Callable[[str, Names], str]) -> Callable[[Any], Any]:
    """Return the function of one argument, `value`, whose result an expression states."""
    names = dict(_NAMES)
    source = f"lambda value: {expression('value', names)}"
    function: Callable[[Any], Any] = eval(source, names)  # noqa: S307 (made of a class's own schema)
    return function


def _named(thing: Any, names: Names) -> str:
    """Return the name under which an expression refers to an object."""
    name = f"n{len(names)}"
    names[name] = thing
    return name


def _whole(member: Any) -> int:
    """Return a whole number that may be an array of one number."""
    number = np.asarray(member).item()
    if type(number) is not int:
        raise TypeError(f"{short_repr(member)} is no whole number")
    return number


def index_of(member: Any, count: int) -> int:
    """Return a whole number from 0 to less than *count*."""
    number = _whole(member)
    if not 0 <= number < count:
        raise ValueError(f"{short_repr(number)} is not from 0 to {count - 1}")
    return number


def _atoms(pattern: str) -> list[tuple[str, int, int]]:
    """Return the characters of a pattern with their repetitions; empty for any other pattern."""
    inner = pattern.removeprefix("^(?:").removesuffix(")$")
    atoms: list[tuple[str, int, int]] = []
    at = 0
    while found := _ATOM.match(inner, at):
        character, low, high = found.groups()
        times = int(low or 1), int(high or low or 1)
        atoms.append((_CLASSES.get(character, character[-1]), *times))
        at = found.end()
    return atoms if at == len(inner) else []


def _with_zero(bounds: tuple[float, float]) -> tuple[float, float]:
    """Return bounds that hold 0, which stands for no value."""
    return min(bounds[0], 0.0), max(bounds[1], 0.0)
