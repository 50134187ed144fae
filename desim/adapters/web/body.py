"""Checks that the body of a request is standard JSON of bounded depth."""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from desim.short_repr import short_repr

#: Levels of objects and lists, at most; actions have fewer than ten.
DEEPEST = 100

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')

#: All bytes but brackets.
_OTHERS = bytes(set(range(256)) - set(b"[]{}"))


def json_fault(body: bytes) -> str:
    """Return a sentence on why a body is refused; empty if it is accepted.

    Refused are bodies that are not JSON, NaN and infinity, also as a number that is too large; half
    of a surrogate pair, which cannot be sent back; a key given twice in one object, which readers
    resolve differently; and more than `DEEPEST` levels.
    """
    try:
        value = json.loads(
            body.decode(),
            object_pairs_hook=_without_repeated_keys,
            parse_constant=_no_number,
            parse_float=_finite,
        )
        if b"\\ud" in body.lower():
            json.dumps(value, ensure_ascii=False).encode()
    except ValueError as fault:
        return f"the body is not JSON: {short_repr(str(fault))[1:-1]}"
    except RecursionError:
        return _TOO_DEEP
    return _TOO_DEEP if _depth(body) > DEEPEST else ""


_TOO_DEEP = f"the body has more than {DEEPEST} levels of objects and lists"


def _depth(valid: bytes) -> int:
    """Return the levels of a JSON text; its strings are closed, so they can be cut out."""
    brackets = np.frombuffer(_STRING.sub(b"", valid).translate(None, _OTHERS), np.uint8)
    if not brackets.size:
        return 0
    opens = (brackets == ord("[")) | (brackets == ord("{"))
    return int(np.cumsum(np.where(opens, 1, -1)).max())


def _without_repeated_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key {short_repr(twice)} comes twice in one object")
    return found


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{short_repr(text)} is too large a number")
    return value
