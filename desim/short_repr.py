"""The repr of any value for an error text: short, and without exceptions of its own.

Values in error texts, which never grow with a value.

Text forms of names, numbers and plain values for people; imports nothing of desim.
"""

import builtins
import contextlib
import dataclasses
import reprlib
import sys
import unicodedata
from collections import deque
from collections.abc import ItemsView, Iterable, Iterator, KeysView, ValuesView
from enum import Enum
from itertools import islice
from types import FrameType, SimpleNamespace
from typing import Any

import attrs

#: Levels of containers that are shown; deeper ones are "[...]".
_LEVELS = 6


#: Instructions of Python that `__repr__` of values' own classes may execute for one text; this
#: takes some tenths of a second.
_MOST_STEPS = 300_000


#: Characters of the name of a class.
_LONGEST_NAME = 60


#: The plain types to which the start of a value of a derived class is converted.
_TEXTS: tuple[Any, ...] = (str, bytes, bytearray)


_CONTAINERS: tuple[Any, ...] = (list, tuple, set, frozenset, deque)


#: Views of a dict, which are as large as the dict.
_VIEWS = (KeysView, ValuesView, ItemsView)


#: Exceptions that a `__repr__` may raise; its SystemExit must not end the command.
_RAISED = (Exception, SystemExit)


def short_repr(value: Any, width: int = 120) -> str:
    """Return the repr of a value, cut to about *width* characters; it never raises an exception.

    The time it takes depends on *width* alone, not on the size of strings and containers, also of
    classes derived from these. A `__repr__` written in Python is stopped after 300,000
    instructions; one that spends its time in C, such as the repr of a huge list inside, is not.

    >>> short_repr({"n": 10**5_000}), short_repr("x" * 10**8, width=5)
    ("{'n': <int of 16610 bits>}", "'xxxx…")
    """
    try:
        text = _Short(width).repr(value)
    except _RAISED:
        text = _nameless(value)
    return text if len(text) <= width else text[:width] + "…"


def shortened(text: str, width: int = 400) -> str:
    """Return a text without its middle part if it is longer than *width*.

    >>> shortened("invalid value 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' at `$.name`", 40)
    "invalid value 'xxxxx … xxxxxxx' at `$.name`"
    """
    half = width // 2
    return text if len(text) <= width else f"{text[:half]} … {text[-half:]}"


class _Short(reprlib.Repr):
    """A repr that stops once so many characters are collected; dicts keep their order."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.maxlevel = _LEVELS
        # One more than is shown, so that the cut itself can be seen.
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = width + 1
        self.maxdeque = self.maxarray = self.maxdict = width + 1
        self._width = self._left = width + 1
        self._steps = _MOST_STEPS

    def repr1(self, x: Any, level: int) -> str:
        """Return the repr of a value inside others, or dots once the width is used up."""
        if self._left <= 0:
            return "..."
        self._left -= 2
        return super().repr1(x, level)

    def repr_str(self, x: str, level: int) -> str:  # noqa: ARG002 (reprlib passes it)
        """Return the repr of the start of a string."""
        return self._taken(builtins.repr(x[: self._width]))

    def repr_bytes(self, x: bytes, level: int) -> str:  # noqa: ARG002 (reprlib passes it)
        """Return the repr of the start of bytes."""
        return self._taken(builtins.repr(x[: self._width]))

    def repr_int(self, x: int, level: int) -> str:  # noqa: ARG002 (reprlib passes it)
        """Return the digits of a number, or its length where Python refuses to write it."""
        # Four bits a digit are more than a decimal digit holds.
        few = x.bit_length() <= 4 * self._width
        return self._taken(builtins.repr(x) if few else f"<int of {x.bit_length()} bits>")

    def repr_dict(self, x: dict[Any, Any], level: int) -> str:
        """Return the items in their order."""
        if level <= 0:
            return "{...}"
        pairs = ((self.repr1(k, level - 1), self.repr1(v, level - 1)) for k, v in x.items())
        return "{" + self._joined(f"{key}: {value}" for key, value in pairs) + "}"

    def repr_bytearray(self, x: bytearray, level: int) -> str:  # noqa: ARG002 (reprlib passes it)
        """Return the repr of the start of a bytearray."""
        return self._taken(builtins.repr(x[: self._width]))

    def repr_instance(self, x: Any, level: int) -> str:
        """Return the fields or the content of an instance, the repr of any other value."""
        cls: Any = type(x)
        if (names := _fields(x)) is not None:
            # As attrs names a class that is defined inside a function.
            name = cls.__qualname__.rsplit(">.", 1)[-1]
            fields = (f"{each}={self.repr1(getattr(x, each, '?'), level - 1)}" for each in names)
            return f"{name}({self._joined(fields)})" if level > 0 else f"{name}(...)"
        if isinstance(x, BaseException):
            return f"{_name(x)}({self._joined(self.repr1(each, level - 1) for each in x.args)})"
        plain = _start(x, self._width)
        if plain is None:
            return self._taken(self._own(x)[: self._width])
        inside = self.repr1(plain, level)
        # A derived class without a repr of its own is shown by Python like its base.
        return inside if cls.__repr__ is type(plain).__repr__ else f"{_name(x)}({inside})"

    def _own(self, x: Any) -> str:
        """Return the repr that the class of a value makes itself."""
        try:
            with self._few_steps():
                return builtins.repr(x)
        except (*_RAISED, _EndlessError):
            return _nameless(x)

    @contextlib.contextmanager
    def _few_steps(self) -> Iterator[None]:
        """Stop Python code that executes too many instructions.

        Not by an alarm, which only the main thread can set and which may be set already.
        """

        def count(frame: FrameType, _event: str, _value: Any) -> Any:
            # Instructions, because a loop on one line has no further event of a line.
            frame.f_trace_opcodes = True
            self._steps -= 1
            if self._steps < 0:
                raise _EndlessError
            return count

        before = sys.gettrace()
        sys.settrace(count)
        try:
            yield
        finally:
            sys.settrace(before)

    def _joined(self, parts: Iterable[str]) -> str:
        texts: list[str] = []
        for part in parts:
            texts.append(part)
            if self._left <= 0:
                break
        return ", ".join(texts)

    def _taken(self, text: str) -> str:
        self._left -= len(text)
        return text


def _fields(x: Any) -> list[str] | None:
    """Return the names of the fields that the repr of an instance shows; None for no fields."""
    cls: Any = type(x)
    if attrs.has(cls):
        return [each.name for each in attrs.fields(cls) if each.repr]
    if dataclasses.is_dataclass(cls):
        return [each.name for each in dataclasses.fields(cls) if each.repr]
    if isinstance(x, tuple) and hasattr(cls, "_fields"):
        return list(cls._fields)
    return list(vars(x)) if isinstance(x, SimpleNamespace) else None


def _start(x: Any, most: int) -> Any:
    """Return the start of a text or container of a derived class, as a plain one; else None.

    The methods of the base are called, because those of the class may do anything.
    """
    if isinstance(x, Enum):
        return None
    for text in _TEXTS:
        if isinstance(x, text):
            return text.__getitem__(x, slice(most))
    if isinstance(x, dict):
        return dict(islice(dict.items(x), most))
    for kind in _CONTAINERS:
        if isinstance(x, kind):
            return kind(islice(kind.__iter__(x), most))
    return list(islice(iter(x), most)) if isinstance(x, _VIEWS) else None


class _EndlessError(BaseException):
    """Raised inside a repr that does not end; no Exception, which the repr itself may catch."""


def _nameless(value: Any) -> str:
    return f"<{_name(value)} without a repr>"


def _name(value: Any) -> str:
    # As `type(value).__name__`, which the class of the class may override.
    name: str = type.__dict__["__name__"].__get__(type(value))
    return name[:_LONGEST_NAME]


#: The longest text of a value in an error, in characters.
SHOWN = 80


def shown(value: Any, most: int = SHOWN) -> str:
    """Return the `repr` of a plain value, cut to a length.

    >>> shown("a" * 100, 10)
    "'aaaaaaaa…"
    """
    try:
        return cut(repr(value), most)
    except (RecursionError, ValueError):  # nested too deep, or a number of too many digits
        return f"a {type(value).__name__}"


def cut(text: str, most: int = 4 * SHOWN) -> str:
    """Return a text, cut to a length."""
    return text if len(text) <= most else text[: most - 1] + "…"


def visible_text(text: str) -> str:
    r"""Return a text from outside without characters that steer a terminal or hide others.

    Line ends, tabs and all kinds of spaces stay.

    >>> visible_text(f"red {chr(27)}[31m, {chr(0x202E)}back")
    'red \\x1b[31m, \\u202eback'
    """
    if text.isprintable():
        return text
    return "".join(c if _is_visible(c) else ascii(c)[1:-1] for c in text)


def _is_visible(character: str) -> bool:
    if character.isprintable() or character in "\n\t":
        return True
    return unicodedata.category(character) == "Zs"  # such as the space that does not break
