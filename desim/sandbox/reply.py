"""The answer of a program's process, read as what it is: text from a stranger."""

import json
import math
from collections.abc import Mapping
from typing import Any

from attrs import frozen

_KEYS = {"value", "number", "error", "calls", "unsendable"}
_DEEPEST, _LONGEST_ERROR = 25, 500


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
        read = json.loads(data.decode("ascii"))
        return _reply(read, nested=False)
    except (ValueError, RecursionError, TypeError) as error:
        raise UnreadableError("the program wrote something unreadable") from error


def _reply(read: Any, *, nested: bool) -> Reply:
    if not isinstance(read, dict) or not read.keys() <= _KEYS:
        raise UnreadableError("no answer")
    calls, error, number = read.get("calls", []), read.get("error", ""), read.get("number")
    if not isinstance(calls, list) or (nested and calls):
        raise UnreadableError("no calls")
    if not isinstance(error, str) or not isinstance(number, float | None):
        raise UnreadableError("no error, or no number")
    return Reply(
        value=_plain(read.get("value"), _DEEPEST),
        number=number,
        error=_clean(error)[:_LONGEST_ERROR],
        calls=tuple(_reply(call, nested=True) for call in calls),
        unsendable=read.get("unsendable") is True,
    )


def _plain(value: Any, depth: int) -> Any:
    """Return a value without surrogates, huge integers and depth.

    Raises:
        UnreadableError: It has one of the latter.
    """
    if depth < 0:
        raise UnreadableError("too deep")
    match value:
        case str():
            return _clean(value)
        case bool() | float() | None:
            return value
        case int() if math.isfinite(_float(value)):
            return value
        case list():
            return [_plain(each, depth - 1) for each in value]
        case Mapping():
            return {_clean(key): _plain(each, depth - 1) for key, each in value.items()}
    raise UnreadableError("a huge integer")


def _float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
