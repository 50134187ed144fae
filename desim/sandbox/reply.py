"""The answer of a program's process, read as what it is: text from a stranger."""

import json
from typing import Any

from attrs import frozen

_KEYS = {"value", "number", "error", "calls", "unsendable"}
_DEEPEST, _LONGEST_ERROR = 25, 500

#: Bits of whole numbers that a float holds.
_BITS = 1_000


class UnreadableError(ValueError):
    """The answer is not one that our own code in the other process would have written."""


@frozen(kw_only=True)
class Reply:
    """One answer.

    Attributes:
        value: The value, if there is one.
        number: The value as a float, if it is one.
        error: The exception that the program raised; empty without one.
        calls: The answers of calls.
        unsendable: Whether no other process could receive the value.
    """

    value: Any = None
    number: float | None = None
    error: str = ""
    calls: tuple["Reply", ...] = ()
    unsendable: bool = False


def read_reply(data: bytes) -> Reply:
    """Return the answer in a text.

    Raises:
        UnreadableError: The reply cannot be read.
    """
    if not data:
        raise UnreadableError("the program ended without a value")
    try:
        return _reply(json.loads(data.decode("ascii")), nested=False)
    except (ValueError, RecursionError, TypeError, AttributeError) as error:
        raise UnreadableError("the program wrote something unreadable") from error


def _reply(read: dict[str, Any], *, nested: bool) -> Reply:
    calls, error, number = read.get("calls", []), read.get("error", ""), read.get("number")
    forms = isinstance(calls, list) and isinstance(error, str) and isinstance(number, float | None)
    if not forms or not read.keys() <= _KEYS or (nested and calls):
        raise UnreadableError("no answer")
    return Reply(
        value=_plain(read.get("value"), _DEEPEST),
        number=number,
        error=_clean(error)[:_LONGEST_ERROR],
        calls=tuple(_reply(call, nested=True) for call in calls),
        unsendable=read.get("unsendable") is True,
    )


def _plain(value: Any, depth: int) -> Any:
    """Return a value without halves of surrogate pairs; refuse huge integers and depth."""
    if depth < 0 or (isinstance(value, int) and value.bit_length() > _BITS):
        raise UnreadableError("too deep, or a huge integer")
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, list):
        return [_plain(each, depth - 1) for each in value]
    if isinstance(value, dict):
        return {_clean(key): _plain(each, depth - 1) for key, each in value.items()}
    return value


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
