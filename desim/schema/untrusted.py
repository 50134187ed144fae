"""JSON that comes from outside: standard JSON of bounded depth, without repeated keys.

Python's reader also accepts NaN and infinity, a key that comes twice in one object, half of a
surrogate pair, and any depth that its stack allows. Other readers refuse these or read something
else, so a text that holds one is refused here. Callers limit its size when they read it.
"""

import json
import math
from collections import Counter
from typing import Any, NoReturn

from desim.short_repr import short_repr

#: Levels of objects and lists, at most; what desim writes has fewer than ten.
DEEPEST = 100


def decode_json(data: bytes | str) -> Any:
    """Return the plain value of a JSON text, in UTF-8 if it is bytes; a `ValueError` as above."""
    text = data.decode() if isinstance(data, bytes) else data
    try:
        value = json.loads(
            text,
            object_pairs_hook=_without_repeated_keys,
            parse_constant=refuse_constant,
            parse_float=_finite,
        )
        _check_depth(value, DEEPEST)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError(f"more than {DEEPEST} levels of objects and lists") from None
    except UnicodeEncodeError:
        raise ValueError("it holds half of a surrogate pair, which UTF-8 cannot encode") from None
    return value


def check_keys(data: bytes) -> None:
    """Raise a `ValueError` if an object of a JSON text has a key twice; typed decoders do not."""
    json.loads(data, object_pairs_hook=_without_repeated_keys)


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


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{short_repr(text)} is too large a number")
    return value
