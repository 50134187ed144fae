"""The number that a text states: reference SPEC section 3.2, README items 3 to 5."""

import re
from functools import lru_cache

from desim.sandbox import ProgramLimits, run_program
from models.reasoning.item import LETTERS

_LIMITS = ProgramLimits(seconds=1.0)

_NUMBER = re.compile(r"[+-]?\d[\d,.]*")

#: A fence with a word or nothing behind it, a line break, and the code up to the next fence.
_FENCED = re.compile(r"```\w*[ \t\r]*\n(.*?)```", re.DOTALL)

#: Signs around a number that are left out.
SIGNS = str.maketrans("", "", ",$%")


def predicted_number(text: str) -> float | None:
    """Return the value of an answer's last program, else its number in brackets, else the first.

    A program that fails or returns anything but a number is ignored.
    """
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
    """Return the value of a program's last statement as a number, or None; runs in the sandbox."""
    return run_program(source, limits=_LIMITS).number


def last_fenced_block(text: str) -> str | None:
    """Return the code of the last fenced block without outer white space, None without a block."""
    blocks = _FENCED.findall(text)
    return str(blocks[-1]).strip() if blocks else None


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
