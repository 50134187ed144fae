"""The answer out of the text of a whole reply: reference SPEC section 3.1, README item 1.

Every search reads the text once: a reply of any form takes time in proportion to its length.
"""

import json
import re
from typing import Any

#: The answer extracted from a reply that states none.
MARKER = "No final answer found"

_FIELD = "final_answer"

_DOUBLE = re.compile(rf'"{_FIELD}"\s*:\s*"([^"]*)"')
_SINGLE = re.compile(rf"'{_FIELD}'\s*:\s*'([^']*)'")
#: Up to a comma or a closing brace. A colon must follow at once, so that each space is read once.
_BARE = re.compile(rf"""["']{_FIELD}["']\s*:\s*([^,}}]+)""")

_SENTENCE = r"[Tt]he final answer is"
_BOXED = re.compile(rf"{_SENTENCE}:?\s*\$?\\boxed\{{")
_STATED = re.compile(rf"{_SENTENCE}:?\s*([^.\n]+)")

#: Default that tells a missing field from the value null.
_ABSENT = object()


def extract(reply: str) -> str:
    """Return the answer that a reply states, or the marker without one."""
    value = _json_field(reply)
    if value is not None:
        return value
    for search in (_finish, _quoted, _boxed, _stated):
        found = search(reply)
        if found is not None:
            return found
    return MARKER


def _json_field(reply: str) -> str | None:
    """Return the field of a reply that is a JSON object as text; None if it is anything else."""
    parsed = parsed_object(reply)
    if parsed is None:
        return None
    value = parsed.get(_FIELD, _ABSENT)
    return MARKER if value is _ABSENT else _field_text(value)


def parsed_object(text: str) -> dict[str, Any] | None:
    """Return a text that is a JSON object as a dict, else None."""
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):  # a number of 5,000 digits is a ValueError too
        return None
    return parsed if isinstance(parsed, dict) else None


def _field_text(value: Any) -> str:
    try:
        return str(value)
    except (ValueError, RecursionError):
        return MARKER


def _finish(reply: str) -> str | None:
    """Return the contents of the last `Finish[...]` of one line."""
    found = None
    for line in reply.split("\n"):
        at = line.find("Finish[")
        while at >= 0:
            start = at + len("Finish[")
            end = line.find("]", start)
            if end < 0:
                break
            found = line[start:end]
            at = line.find("Finish[", end)
    return found


def _quoted(reply: str) -> str | None:
    """Return the last value of the field by pattern: double quotes, single quotes, no quotes."""
    for pattern in (_DOUBLE, _SINGLE):
        if values := pattern.findall(reply):
            return str(values[-1])
    if values := _BARE.findall(reply):
        return str(values[-1]).strip()
    return None


def _boxed(reply: str) -> str | None:
    r"""Return the contents of the first `\boxed{...}` after the sentence, if its braces balance."""
    found = _BOXED.search(reply)
    if found is None:
        return None
    depth = 1
    for brace in re.finditer(r"[{}]", reply[found.end() :]):
        depth += 1 if brace.group() == "{" else -1
        if not depth:
            return reply[found.end() : found.end() + brace.start()].strip()
    return None


def _stated(reply: str) -> str | None:
    """Return the text after the last sentence, up to a period or the end of the line."""
    values = _STATED.findall(reply)
    if not values:
        return None
    return str(values[-1]).replace("$", "").strip() or None
