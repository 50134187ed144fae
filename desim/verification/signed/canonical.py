"""Canonical JSON: one content has one sequence of bytes, and so one digest.

This is RFC 8785 restricted to keys without characters beyond U+FFFF, whole numbers below 2^53,
texts, truth values, null, arrays and objects. Decimal numbers are texts, as `repr` writes them,
because languages write floats in different ways. Up to U+FFFF, Python's order of keys is that of
the RFC, which sorts UTF-16; names of worlds and columns may be in any language.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from desim.errors import BadRecord
from desim.schema.untrusted import decode_json
from desim.short_repr import shown

T = TypeVar("T")

#: Whole numbers beyond this are not exact in every language.
_LARGEST = (1 << 53) - 1

#: The last character of keys; behind it the orders of UTF-16 and of code points differ.
_LAST_OF_KEYS = "\uffff"

#: The deepest nesting of a value.
_DEEPEST = 20


def canonical(value: Any) -> bytes:
    """Return a value as canonical JSON.

    >>> canonical({"b": [1, None], "a": "0.5"})
    b'{"a":"0.5","b":[1,null]}'

    Raises:
        BadRecord: It holds a float, a number of 2^53 or more, or a key with a character
            beyond U+FFFF.
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


def converted(plain: Any, kind: type[T], name: str) -> T:
    """Return the object of a class that plain values describe.

    Args:
        plain: The values, as `read_canonical` returns them.
        kind: The class.
        name: Their name in errors: "the manifest".

    Raises:
        BadRecord: They have another form.
    """
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as fault:
        raise BadRecord(f"{name} is not valid: {fault}") from None


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
                raise BadRecord(f"the number {shown(value)} is not exact in JSON")
        case list() | tuple():
            for each in value:
                _check(each, depth - 1)
        case Mapping():
            for key, each in value.items():
                if not isinstance(key, str) or max(key, default="") > _LAST_OF_KEYS:
                    raise BadRecord(f"the key {shown(key)} is no text of characters up to U+FFFF")
                _check(each, depth - 1)
        case _:
            raise BadRecord(f"a value of type {type(value).__name__} is not canonical JSON")
