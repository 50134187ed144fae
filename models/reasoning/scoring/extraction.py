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

_FINISH = re.compile(r"Finish\[([^\]]*)\]")

_SENTENCE = r"[Tt]he final answer is"
_BOXED = re.compile(rf"{_SENTENCE}:?\s*\$?\\boxed\{{")
_STATED = re.compile(rf"{_SENTENCE}:?\s*([^.\n]+)")


def extract(reply: str) -> str:
    """Return the answer that a reply states, or the marker without one."""
    found = (search(reply) for search in (_json_field, _finish, _quoted, _boxed, _stated))
    return next((answer for answer in found if answer is not None), MARKER)


def _json_field(reply: str) -> str | None:
    parsed = parsed_object(reply)
    if parsed is None:
        return None
    try:
        return str(parsed.get(_FIELD, MARKER))
    except (ValueError, RecursionError):
        return MARKER


def parsed_object(text: str) -> dict[str, Any] | None:
    """Return a text that is a JSON object as a dict, else None."""
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):  # a number of 5,000 digits is a ValueError too
        return None
    return parsed if isinstance(parsed, dict) else None


def _finish(reply: str) -> str | None:
    """Return the contents of the last `Finish[...]` of one line."""
    # Up to the last bracket of a line each search finds its end, so that nothing is read twice.
    lines = (line[: line.rfind("]") + 1] for line in reply.split("\n"))
    return _last([found for line in lines for found in _FINISH.findall(line)])


def _quoted(reply: str) -> str | None:
    """Return the last value of the field by pattern: double quotes, single quotes, no quotes."""
    for pattern in (_DOUBLE, _SINGLE):
        if (value := _last(pattern.findall(reply))) is not None:
            return value
    bare = _last(_BARE.findall(reply))
    return None if bare is None else bare.strip()


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
    stated = _last(_STATED.findall(reply)) or ""
    return stated.replace("$", "").strip() or None


def _last(found: list[str]) -> str | None:
    return found[-1] if found else None
