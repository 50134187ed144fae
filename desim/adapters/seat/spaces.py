"""The Gymnasium spaces of plain values, and the functions that walk a value and its space.

| a value | its space |
|---|---|
| a whole number of at most 256 values, or of more | `Discrete`, `Number` of int64 |
| any other number | `Number` of float64 |
| a truth value, one of a few listed values | `Enumeration` |
| a text, also one that is a pattern of digits | `Text`, `Digits` |
| a list of one kind | `Entries`: a `Tuple` of fixed length, and the mask of those present |
| an object | `Fields` |
| one of several kinds, or null | `Either`: the number of the kind, an entry for each but null |
| a value of any type | `Json` |
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from gymnasium import spaces

from desim.errors import SchemaError
from desim.schema import TAG
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

#: A whole number of at most so many values is one of a `Discrete` space.
_FEW = 256

#: Digits in a pattern with the number that a sample has of them, and a pattern of them alone.
_DIGITS = re.compile(r"\\d\{(?:\d+,)?(\d+)\}")
_OF_DIGITS = re.compile(rf"(?:{_DIGITS.pattern}|[\w/: -])+")

Bounds = tuple[float, float]

# -- kinds of spaces -------------------------------------------------------------------------------


class Number(spaces.Box):
    """One number, an array without dimensions."""

    def __init__(self, low: float, high: float, dtype: type) -> None:
        super().__init__(low, high, shape=(), dtype=dtype)
        self.bounds = low, high

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """Return a number as an array; Box returns whole ones as scalars, which it warns of."""
        return np.asarray(super().sample(mask, probability), dtype=self.dtype)


class Enumeration(spaces.Discrete):
    """One of a few listed values, by its number."""

    def __init__(self, values: Sequence[Any]) -> None:
        super().__init__(len(values))
        self.values = tuple(values)
        self.is_flag = {type(each) for each in values} == {bool}


class Digits(spaces.Text):
    r"""A text of digits in a pattern such as `\d{1,2}/\d{4}`, as its samples are."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        super().__init__(max_length=len(self.blank()), charset=CHARSET)

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Return a text of the pattern."""
        if mask is not None or probability is not None:
            return str(super().sample(mask, probability))
        return _DIGITS.sub(self._drawn, self.pattern)

    def blank(self) -> str:
        """Return the text whose digits are 0."""
        return _DIGITS.sub(lambda found: "0" * int(found[1]), self.pattern)

    def _drawn(self, found: re.Match[str]) -> str:
        return "".join(map(str, self.np_random.integers(10, size=int(found[1]))))


class Json(spaces.Text):
    """A value of any type as JSON in a text; a text that is not JSON is taken as it is."""


class Entries(spaces.Dict):
    """A list: the most entries that it may have, and a mask of the present ones."""

    def __init__(self, item: Any, most: int, fewest: int) -> None:
        mask = spaces.MultiBinary(most)
        super().__init__({"mask": mask, "entries": spaces.Tuple([item] * most)})
        self.item, self.most, self.fewest = item, most, fewest
        self.width = len(columns(item))


class Fields(spaces.Dict):
    """An object; `parts` has the spaces of its fields in their own order."""

    def __init__(self, parts: Mapping[str, Any]) -> None:
        super().__init__(dict(parts))
        self.parts = dict(parts)


class Either(spaces.Dict):
    """A value of one of several kinds.

    Args:
        kinds: The space of each kind by its name; None stands for a kind without an entry.
        key: The name of the entry with the number of the kind.
    """

    def __init__(self, kinds: Mapping[str, Any], key: str = "kind") -> None:
        self.kinds, self.names, self.key = dict(kinds), list(kinds), key
        self.parts = {name: part for name, part in kinds.items() if part is not None}
        super().__init__({key: spaces.Discrete(len(kinds)), **self.parts})
        self.widths = {name: len(columns(part)) for name, part in self.parts.items()}

    def kind_of(self, value: Any) -> str:
        """Return the name of a plain value's kind."""
        for name, part in self.kinds.items():
            if value is None if part is None else accepts(part, value):
                return name
        raise SchemaError(f"{short_repr(value)} is of no kind of the space")


def whole_number(low: int, high: int) -> Any:
    """Return the space of whole numbers within bounds."""
    few = high - low < _FEW
    return spaces.Discrete(high - low + 1, start=low) if few else Number(low, high, np.int64)


def text(most: int, fewest: int = 0, pattern: str = "") -> Any:
    """Return the space of texts of so many characters; that of a pattern if it is one of digits."""
    inner = pattern.removeprefix("^(?:").removesuffix(")$")
    if _OF_DIGITS.fullmatch(inner):
        return Digits(inner)
    return spaces.Text(max_length=most, min_length=fewest, charset=CHARSET)


# -- walking a value and its space -----------------------------------------------------------------


def encode(space: Any, value: Any) -> Any:
    """Return a new member of a space for a plain value, which is fitted in.

    Numbers are clipped, texts and lists are cut, and characters beyond `CHARSET` are replaced.
    """
    match space:
        case Enumeration():
            return np.int64(space.values.index(value))
        case spaces.Discrete():
            return np.int64(_within(space, value))
        case spaces.Box():
            return np.array(_within(space, value), space.dtype)
        case spaces.Text():
            return _fitted(space, value)
        case Entries():
            return _filled(space, [encode(space.item, each) for each in value[: space.most]])
        case Either():
            return encode_kind(space, space.kind_of(value), value)
    return {name: encode(part, value[name]) for name, part in space.parts.items()}


def decode(space: Any, member: Any) -> Any:
    """Return the plain value of a member of a space.

    Raises:
        KeyError, IndexError, TypeError, ValueError, OverflowError: The value is not a member; the
            bounds of numbers and texts are not checked.
    """
    match space:
        case Enumeration():
            return space.values[_index(member, len(space.values))]
        case spaces.Discrete():
            return _whole(member)
        case spaces.Box():
            whole = space.dtype == np.int64
            return _whole(member) if whole else float(np.asarray(member).item())
        case spaces.Text():
            return _text_value(space, member)
        case Entries():  # required entries are taken regardless of the mask
            mask = member["mask"]
            entries = enumerate(member["entries"])
            return [decode(space.item, e) for n, e in entries if n < space.fewest or mask[n]]
        case Either():
            return decode_kind(space, member)[1]
    return {name: decode(part, member[name]) for name, part in space.parts.items()}


def encode_kind(space: Either, kind: str, value: Any) -> dict[str, Any]:
    """Return a new member for a value whose kind is known; otherwise as `encode`."""
    entries = {
        name: encode(part, value) if name == kind else blank(part)
        for name, part in space.parts.items()
    }
    return {space.key: np.int64(space.names.index(kind)), **entries}


def decode_kind(space: Either, member: Any) -> tuple[str, Any]:
    """Return the kind and the value of a member; otherwise as `decode`."""
    name = space.names[_index(member[space.key], len(space.names))]
    return name, decode(space.parts[name], member[name]) if name in space.parts else None


def blank(space: Any) -> Any:
    """Return a new member of a space that stands for no value."""
    match space:
        case Enumeration():
            return np.int64(0)
        case spaces.Discrete() | spaces.Box():
            return encode(space, 0)
        case spaces.Text():
            return space.blank() if isinstance(space, Digits) else " " * space.min_length
        case Entries():
            return _filled(space, [])
    blanks = {name: blank(part) for name, part in space.parts.items()}
    return {space.key: np.int64(0), **blanks} if isinstance(space, Either) else blanks


def accepts(space: Any, value: Any) -> bool:
    """Return whether a plain value is of the kind of a space; distinguishes members of a union."""
    match space:
        case Enumeration():
            return any(type(value) is type(one) and value == one for one in space.values)
        case spaces.Discrete():
            return type(value) is int
        case spaces.Box():
            return type(value) is int or (type(value) is float and space.dtype == np.float64)
        case Json():
            return True
        case spaces.Text():
            return isinstance(value, str)
        case Entries():
            return isinstance(value, list)
    tags = space.parts.get(TAG)
    return isinstance(value, dict) and (tags is None or accepts(tags, value.get(TAG)))


# -- flat observations -----------------------------------------------------------------------------


def columns(space: Any) -> list[Bounds]:
    """Return the bounds of the numbers that a value has in a flat observation.

    A truth value is one number, a listed value, a kind and a mask have one for each possibility,
    and a text has none.
    """
    match space:
        case Enumeration():
            return [(0.0, 1.0)] * (1 if space.is_flag else len(space.values))
        case spaces.Discrete() | spaces.Box():
            low, high = _bounds(space)
            return [(float(low), float(high))]
        case spaces.Text():
            return []
        case Entries():
            return [(0.0, 1.0)] * space.most + columns(space.item) * space.most
        case Either():
            found = [bounds for part in space.parts.values() for bounds in columns(part)]
            # Numbers of the other kinds are 0.
            wide = [(min(low, 0.0), max(high, 0.0)) for low, high in found]
            return [(0.0, 1.0)] * len(space.kinds) + wide
    return [bounds for part in space.parts.values() for bounds in columns(part)]


def numbers(space: Any, value: Any) -> list[float]:
    """Return a plain value as the numbers of a flat observation; what is absent counts 0."""
    match space:
        case Enumeration():
            return [value] if space.is_flag else [value == one for one in space.values]
        case spaces.Discrete() | spaces.Box():
            return [_within(space, value)]
        case spaces.Text():
            return []
        case Entries():
            known = value[: space.most]
            rest = space.most - len(known)
            found = [1.0] * len(known) + [0.0] * rest
            for entry in known:
                found += numbers(space.item, entry)
            return found + [0.0] * (rest * space.width)
        case Either():
            kind = space.kind_of(value)
            found = [float(name == kind) for name in space.names]
            for name, part in space.parts.items():
                found += numbers(part, value) if name == kind else [0.0] * space.widths[name]
            return found
    return [one for name, part in space.parts.items() for one in numbers(part, value[name])]


# -- single values ---------------------------------------------------------------------------------


def _bounds(space: Any) -> Bounds:
    if isinstance(space, Number):
        return space.bounds
    return int(space.start), int(space.start + space.n - 1)


def _within(space: Any, value: Any) -> Any:
    """Return a number, or the nearest one within the bounds of its space."""
    low, high = _bounds(space)
    return value if low <= value <= high else min(max(value, low), high)


def _whole(member: Any) -> int:
    """Return a whole number that may be an array of one number."""
    number = np.asarray(member).item()
    if type(number) is not int:
        raise TypeError(f"{short_repr(member)} is no whole number")
    return number


def _index(member: Any, count: int) -> int:
    number = _whole(member)
    if not 0 <= number < count:
        raise ValueError(f"{short_repr(number)} is not from 0 to {count - 1}")
    return number


def _fitted(space: Any, value: Any) -> str:
    """Return the text of a value, cut to what its space holds."""
    text = msgspec.json.encode(value).decode() if isinstance(space, Json) else str(value)
    if not _CHARACTERS.issuperset(text):
        if isinstance(space, Json):
            text = json.dumps(value)  # of ASCII alone
        text = "".join(each if each in _CHARACTERS else _UNKNOWN for each in text)
    return text[: space.max_length].ljust(space.min_length)


def _text_value(space: Any, member: Any) -> Any:
    """Return the value of a text."""
    if not isinstance(member, str):
        raise TypeError(f"{short_repr(member)} is no text")
    if not isinstance(space, Json):
        return str(member)
    try:
        value = msgspec.json.decode(member)
        check_finite(value)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return str(member)
    return value


def _filled(space: Any, members: list[Any]) -> dict[str, Any]:
    """Return the member of a list for those of its entries."""
    mask = np.zeros(space.most, dtype=np.int8)
    mask[: len(members)] = 1
    rest = (blank(space.item) for _ in range(space.most - len(members)))
    return {"mask": mask, "entries": (*members, *rest)}
