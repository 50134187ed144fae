"""Statements of a text: final answer, program, number (SPEC 3.1, 3.2, README items 1, 3 to 5).

Every search reads the text once: any reply takes time in proportion to its length.
"""

import json
import re
from functools import lru_cache
from typing import Any

from desim.sandbox import run_program
from models.reasoning.item import LETTERS

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

_NUMBER = re.compile(r"[+-]?\d[\d,.]*")

#: A fence with a word or nothing behind it, a line break, and the code up to the next fence.
_FENCED = re.compile(r"```\w*[ \t\r]*\n(.*?)```", re.DOTALL)

#: Signs around a number that are left out.
SIGNS = str.maketrans("", "", ",$%")


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


def predicted_number(text: str) -> float | None:
    """Return the value of an answer's last program, else its number in brackets, else the first."""
    program = last_fenced_block(text)
    number = None if program is None else number_of(program)
    if number is None:
        number = bracket_number(text)
    return first_number(text) if number is None else number


def first_number(text: str) -> float | None:
    """Return the first number of a text, without exponent or unit; "1.2.3" is none."""
    found = _NUMBER.search(text)
    return to_float(found.group().replace(",", "")) if found else None


# Kept, so that five seeds of one policy run each program once: it has no input, network or clock.
@lru_cache(maxsize=512)
def number_of(source: str) -> float | None:
    """Return the number that a program's last statement has in the sandbox; else None."""
    return run_program(source).number


def last_fenced_block(text: str) -> str | None:
    """Return the code of the last fenced block without outer white space, None without a block."""
    block = _last(_FENCED.findall(text))
    return None if block is None else block.strip()


def bracket_number(text: str) -> float | None:
    """Return the number in double brackets, if exactly one line of the text has such brackets.

    From the first `[[` of a line to its last `]]`, so that two pairs of one line make no number.
    """
    inside = []
    for line in text.split("\n"):
        start, end = line.find("[["), line.rfind("]]")
        if 0 <= start <= end - 2:
            inside.append(line[start + 2 : end].translate(SIGNS).strip())
    if len(inside) != 1:
        return None
    letter = LETTERS.find(inside[0].upper()) if len(inside[0]) == 1 else -1
    return to_float(inside[0]) if letter < 0 else float(letter)


def to_float(text: str) -> float | None:
    """Return the number that Python reads from a text, or None."""
    try:
        return float(text)
    except ValueError:
        return None
