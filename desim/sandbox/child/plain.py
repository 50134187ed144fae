"""Values as JSON text, written without the module json, which takes longer to load than to run."""

from __future__ import annotations

try:
    from _json import encode_basestring_ascii as quoted
except ImportError:  # an interpreter without the accelerator
    from json.encoder import encode_basestring_ascii as quoted

TYPE_CHECKING = False  # typing itself takes 13 ms to load, half as long as a program
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["as_json", "line_of", "quoted", "type_name"]

#: Depth and number of the values in a value.
_DEEPEST, _MOST = 20, 20_000

_LONGEST_LINE = 500
_SPECIAL = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def as_json(value: Any) -> str:
    """Return a value as JSON: mappings, sequences, texts, numbers; all else as its text.

    Raises:
        ValueError: The value is too deep or has too many parts.
    """
    return "".join(_parts(value, _DEEPEST, [_MOST]))


def _parts(value: Any, depth: int, left: list[int]) -> Iterator[str]:
    left[0] -= 1
    if depth < 0 or left[0] < 0:
        raise ValueError("the value is too deep or has too many parts")
    if isinstance(value, dict):
        yield "{"
        for index, (key, each) in enumerate(value.items()):
            yield f"{',' if index else ''}{quoted(str(key))}:"
            yield from _parts(each, depth - 1, left)
        yield "}"
    elif isinstance(value, (list, tuple)):
        yield "["
        for index, each in enumerate(value):
            yield "," if index else ""
            yield from _parts(each, depth - 1, left)
        yield "]"
    else:
        yield _scalar(value)


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        text = float.__repr__(value)
        return _SPECIAL.get(text, text)
    if isinstance(value, int) and value.bit_length() < 1_000:  # noqa: PLR2004 - fits a float
        return int.__repr__(value)
    return quoted(str(value))


def type_name(value: Any) -> str:
    """Return the name of a value's type in brackets."""
    return f"({str(type(value).__name__)[:100]})"


def line_of(error: BaseException) -> str:
    """Return an exception in one line."""
    try:
        text = " ".join(str(error).split())
    except BaseException:  # noqa: BLE001 - the program's own exception may raise again
        text = ""
    name = type(error).__name__
    return f"{name}: {text}"[:_LONGEST_LINE] if text else name[:_LONGEST_LINE]
