"""JSON as language models write it: single quotes, trailing commas, Python's literals.

A value that is cut at the end of the text raises `CutJSON`, other invalid JSON raises `NoJSON`.
"""

import re
from typing import Any

from attrs import define

_SPACE = re.compile(r"\s*")

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")

_WORD = re.compile(r"[A-Za-z_][\w-]*")

_LITERALS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}

#: Digits of a whole number; Python refuses to convert much longer ones.
_DIGITS = 4_000

#: Levels of nesting.
_DEPTH = 100


class NoJSON(ValueError):
    """The text is not JSON, even by the lenient rules."""


class CutJSON(NoJSON):
    """A value that begins as JSON and ends with the text."""


def decode_lenient(text: str, at: int = 0, *, bare_keys: bool = False) -> tuple[Any, int]:
    """Decode the value that begins at a position.

    Args:
        text: The text.
        at: The position of the value's first character.
        bare_keys: Whether keys may be without quotes.

    Returns:
        The value, and the position after it.

    Raises:
        CutJSON: The text ends before the value does.
        NoJSON: The text at the position is not a value, or it is NaN or Infinity, or an object has
            two different values under one key.

    >>> decode_lenient("{'a': [1, 2,],}")
    ({'a': [1, 2]}, 15)
    """
    decoder = _Decoder(text, at, bare_keys)
    return decoder.value(0), decoder.at


@define
class _Decoder:
    """Reads one value, character by character."""

    text: str
    at: int
    bare_keys: bool

    def value(self, depth: int) -> Any:
        """Return the value at the present position."""
        if depth > _DEPTH:
            raise NoJSON("nested too deeply")
        match self.peek():
            case "{":
                return self._object(depth)
            case "[":
                return self._array(depth)
            case "'" | '"':
                return self._string()
        return self._number() if self.peek() in "-0123456789" else self._literal()

    def peek(self) -> str:
        """Skip spaces and return the next character."""
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at
        if self.at >= len(self.text):
            raise CutJSON("the text ends within a value")
        return self.text[self.at]

    def _take(self, *expected: str) -> str:
        found = self.peek()
        if found not in expected:
            raise NoJSON(f"{found!r} at {self.at}; expected {' or '.join(expected)}")
        self.at += 1
        return found

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self._take("{")
        while self.peek() != "}":
            key = self._key()
            self._take(":")
            value = self.value(depth + 1)
            if key in found and found[key] != value:
                raise NoJSON(f"two values for {key!r}")
            found[key] = value
            if self.peek() != "}":
                self._take(",")
        self.at += 1
        return found

    def _key(self) -> str:
        if self.bare_keys and (word := _WORD.match(self.text, self.at)):
            self.at = word.end()
            return word[0]
        if self.peek() not in "'\"":
            raise NoJSON(f"no key at {self.at}")
        return self._string()

    def _array(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self._take("[")
        while self.peek() != "]":
            found.append(self.value(depth + 1))
            if self.peek() != "]":
                self._take(",")
        self.at += 1
        return found

    def _string(self) -> str:
        quote = self._take("'", '"')
        parts: list[str] = []
        while self.at < len(self.text):
            character = self.text[self.at]
            self.at += 1
            if character == quote:
                return "".join(parts)
            parts.append(self._escaped() if character == "\\" else character)
        raise CutJSON("the text ends within a string")

    def _escaped(self) -> str:
        character = self.text[self.at : self.at + 1]
        self.at += 1
        if character != "u":
            return _ESCAPES.get(character, character)
        digits = self.text[self.at : self.at + 4]
        self.at += 4
        try:
            return chr(int(digits, 16))
        except ValueError:
            raise NoJSON(f"no character is \\u{digits}") from None

    def _number(self) -> int | float:
        found = _NUMBER.match(self.text, self.at)
        if found is None or len(found[0]) > _DIGITS:
            raise NoJSON(f"no number at {self.at}")
        self.at = found.end()
        if self.at >= len(self.text):
            raise CutJSON("the text ends within a number")
        return int(found[0]) if found[0].lstrip("-").isdecimal() else float(found[0])

    def _literal(self) -> Any:
        found = _WORD.match(self.text, self.at)
        if found is None or found[0] not in _LITERALS:
            raise NoJSON(f"no value at {self.at}")
        self.at = found.end()
        return _LITERALS[found[0]]
