"""Single values as Gymnasium spaces: numbers, enumerations, texts.

A part converts plain JSON values to members of its space and back. The parts of an action refuse a
value that their space does not hold; those of an observation fit it in: numbers are clipped to the
bounds, texts and lists are cut, characters beyond `CHARSET` are replaced by U+FFFD.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from gymnasium import spaces

from desim.errors import UsageError
from desim.schema.scalars import check_finite
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


class Part(ABC):
    """One value of an action or an observation.

    Attributes:
        space: The Gymnasium space.
        columns: The bounds of the numbers that the value has in a flat observation.
    """

    space: Any
    columns: Columns

    @abstractmethod
    def encode(self, value: Any) -> Any:
        """Return a new member of the space for a plain value.

        Raises:
            UsageError: The space of an action does not hold it.
        """

    @abstractmethod
    def decode(self, member: Any) -> Any:
        """Return the plain value of a member of the space.

        Raises:
            KeyError: The value is not a member.
            TypeError: The value is not a member.
            ValueError: The value is not a member.
            OverflowError: A whole number is too large for a float.
        """

    @abstractmethod
    def blank(self) -> Any:
        """Return a new member of the space that stands for no value."""

    @abstractmethod
    def numbers(self, value: Any) -> list[float]:
        """Return a plain value as the numbers of a flat observation, one for each column."""

    @abstractmethod
    def accepts(self, value: Any) -> bool:
        """Return whether a plain value is of this kind; distinguishes the members of a union."""


class _Number(Part):
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
                f"{short_repr(value)} was given; the space holds {self.low} to {self.high}"
            )
        return min(max(value, self.low), self.high)

    def numbers(self, value: Any) -> list[float]:
        return [float(self.within(value))]

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

    def encode(self, value: Any) -> Any:
        number = self.within(value)
        return np.int64(number) if self.few else np.array(number, dtype=np.int64)

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

    def encode(self, value: Any) -> Any:
        return np.array(self.within(value), dtype=np.float64)

    def decode(self, member: Any) -> float:
        return float(np.asarray(member).item())

    def accepts(self, value: Any) -> bool:
        return type(value) in (int, float)


class Choice(Part):
    """One of a few listed values: `Discrete`."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = tuple(values)
        self.space = spaces.Discrete(len(self.values))
        self.columns = [(0.0, 1.0)] * len(self.values)

    def encode(self, value: Any) -> Any:
        return np.int64(self.values.index(value))

    def decode(self, member: Any) -> Any:
        return self.values[index_of(member, len(self.values))]

    def blank(self) -> Any:
        return np.int64(0)

    def numbers(self, value: Any) -> list[float]:
        return [float(value == each) for each in self.values]

    def accepts(self, value: Any) -> bool:
        return any(type(value) is type(each) and value == each for each in self.values)


class Flag(Choice):
    """False or true: `Discrete(2)`; one number of a flat observation."""

    def __init__(self) -> None:
        super().__init__((False, True))
        self.columns = [(0.0, 1.0)]

    def numbers(self, value: Any) -> list[float]:
        return [float(value)]


class Words(Part):
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

    def encode(self, value: Any) -> str:
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

    def numbers(self, value: Any) -> list[float]:
        return []

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str)


class Json(Words):
    """A value of any type as JSON in a text; a text that is not JSON is taken as it is."""

    def encode(self, value: Any) -> str:
        # An action is written in ASCII, so that no character of it is beyond `CHARSET`.
        text = msgspec.json.encode(value).decode() if self.fit else json.dumps(value)
        return super().encode(text)

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


def _whole(member: Any) -> int:
    """Return a whole number that may be an array of one number."""
    number = np.asarray(member).item()
    if type(number) is not int:
        raise TypeError(f"{short_repr(member)} is no whole number")
    return number


def index_of(member: Any, count: int) -> int:
    """Return a whole number from 0 to less than *count*.

    Raises:
        TypeError: The value is not a whole number.
        ValueError: The number is out of range.
    """
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
