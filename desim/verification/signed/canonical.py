"""Canonical JSON: one content has one sequence of bytes, and so one digest.

This is RFC 8785 restricted to keys in ASCII, whole numbers below 2^53, texts, truth values, null,
arrays and objects. Decimal numbers are texts, as `repr` writes them, because languages write
floats in different ways.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from desim.errors import BadRecord
from desim.schema.untrusted import decode_json

#: Whole numbers beyond this are not exact in every language.
_LARGEST = (1 << 53) - 1

#: The deepest nesting of a value.
_DEEPEST = 20


def canonical(value: Any) -> bytes:
    """Return a value as canonical JSON.

    >>> canonical({"b": [1, None], "a": "0.5"})
    b'{"a":"0.5","b":[1,null]}'

    Raises:
        BadRecord: It holds a float, a number of 2^53 or more, or a key that is not ASCII text.
    """
    _check(value, _DEEPEST)
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise BadRecord("a text holds half a surrogate pair, which is no character") from None


def read_canonical(content: bytes, name: str) -> Any:
    """Return the value of canonical JSON.

    Args:
        content: The bytes.
        name: Their name in errors: "the manifest".

    Raises:
        BadRecord: They are not canonical JSON.
    """
    try:
        value = decode_json(content)
        if canonical(value) == content:
            return value
    except (ValueError, BadRecord):
        pass
    raise BadRecord(f"{name} is not canonical JSON")


def digest(content: bytes) -> str:
    """Return the SHA-256 of bytes as 64 hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def as_decimal(value: float | None) -> str | None:
    """Return a number as the text that canonical JSON holds; None stays None."""
    return None if value is None else repr(float(value))


def _check(value: Any, depth: int) -> None:
    if depth < 0:
        raise BadRecord(f"the value is nested more than {_DEEPEST} deep")
    match value:
        case bool() | None | str():
            return
        case int():
            if abs(value) > _LARGEST:
                raise BadRecord(f"the number {value:.6g} is not exact in JSON")
        case list() | tuple():
            for each in value:
                _check(each, depth - 1)
        case Mapping():
            for key, each in value.items():
                if not (isinstance(key, str) and key.isascii()):
                    raise BadRecord("a key of an object is not ASCII text")
                _check(each, depth - 1)
        case _:
            raise BadRecord(f"a value of type {type(value).__name__} is not canonical JSON")
