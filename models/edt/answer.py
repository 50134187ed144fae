"""The decision object in an answer, which is a text or a JSON value of any shape."""

import json
from collections.abc import Mapping
from typing import Any, NoReturn

__all__ = ["extracted", "parsed"]


def extracted(given: Any) -> Mapping[str, Any]:
    """Return the decision object in an answer, as the published code extracts it.

    In a text it is the first part in balanced braces; `final_answer` is unwrapped. An answer
    without an object gives an empty one, so that every default applies.
    """
    value = _object_in(given) if isinstance(given, str) else given
    if isinstance(value, Mapping) and "final_answer" in value:
        inner = value["final_answer"]
        value = _object_in(inner) if isinstance(inner, str) else inner
    return value if isinstance(value, Mapping) else {}


def parsed(given: Any) -> Any:
    """Return the JSON value of an answer; a text is parsed, any other value is returned as it is.

    Raises:
        ValueError: The text is not valid JSON.
    """
    return json.loads(given, parse_constant=_no_number) if isinstance(given, str) else given


def _object_in(text: str) -> Any:
    whole = _loaded(text)
    return whole if isinstance(whole, Mapping) else _loaded(_first_braces(text))


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _first_braces(text: str) -> str:
    """Return the text from the first opening brace to the one that closes it; empty if none."""
    start = text.find("{")
    depth, quoted, escaped = 0, False, False
    for at in range(max(start, 0), len(text)):
        letter = text[at]
        if quoted:
            quoted, escaped = escaped or letter != '"', letter == "\\" and not escaped
        elif letter == '"':
            quoted = True
        elif letter in "{}":
            depth += 1 if letter == "{" else -1
            if not depth:
                return text[start : at + 1]
    return ""


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
