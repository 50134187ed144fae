"""JSON that comes from outside: standard JSON of bounded depth, without repeated keys.

msgspec refuses NaN, infinity, half of a surrogate pair and numbers too large for a float. Callers
limit the size of a text when they read it.
"""

import json
from collections import Counter
from typing import Any, NoReturn

import msgspec

from desim.short_repr import short_repr

#: Levels of objects and lists, at most; what desim writes has fewer than ten.
DEEPEST = 100


def decode_json(data: bytes | str) -> Any:
    """Return the plain value of a JSON text, in UTF-8 if bytes; a `ValueError` if it is refused."""
    text = data.decode() if isinstance(data, bytes) else data
    try:
        check_keys(text)  # first: its errors have a line and a column
        value = msgspec.json.decode(text)
        _check_depth(value, DEEPEST)
    except RecursionError:
        raise ValueError(f"more than {DEEPEST} levels of objects and lists") from None
    return value


def check_keys(data: bytes | str) -> None:
    """Raise a `ValueError` if an object of a JSON text has a key twice; msgspec does not."""
    json.loads(data, object_pairs_hook=_without_repeated_keys, parse_constant=refuse_constant)


def refuse_constant(name: str) -> NoReturn:
    """Raise a `ValueError` for NaN and Infinity; for readers of their own."""
    raise ValueError(f"{name} is not a number of JSON")


def _check_depth(value: Any, levels: int) -> None:
    if isinstance(value, dict | list):
        if not levels:
            raise RecursionError
        for each in value.values() if isinstance(value, dict) else value:
            _check_depth(each, levels - 1)


def _without_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key {short_repr(twice)} comes twice in one object")
    return found
