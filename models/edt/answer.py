"""A decision out of a language model's answer: text, or a JSON value of any shape."""

import json
from collections.abc import Mapping
from typing import Any, NoReturn

__all__ = ["extracted", "parsed"]


def extracted(given: Any) -> Mapping[str, Any]:
    """Return the decision object in an answer, as the published code finds it.

    The first balanced braces of a text count; `final_answer` is unwrapped. What holds no object
    gives an empty one, so that every default applies.
    """
    found = _object_in(given) if isinstance(given, str) else given
    if isinstance(found, Mapping) and "final_answer" in found:
        inner = found["final_answer"]
        found = _object_in(inner) if isinstance(inner, str) else inner
    return found if isinstance(found, Mapping) else {}


def parsed(given: Any) -> Any:
    """Return the JSON value of an answer: text is read as JSON, anything else is one already.

    Raises:
        ValueError: The text is no JSON.
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
