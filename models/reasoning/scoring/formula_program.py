"""The program of a formula: the signature of the question with a body under it.

Reference SPEC section 3.3, README item 8.
"""

import re
import textwrap

from models.reasoning.scoring.extraction import parsed_object
from models.reasoning.scoring.numbers import last_fenced_block

__all__ = ["completed", "repaired"]

#: Fields of a JSON object inside an answer that may hold the code.
_FIELDS = ("solution", "completion", "response")

_DATACLASS = "@dataclass"
_IMPORT = "from dataclasses import dataclass, field\n"

_IS_COMPLETE = re.compile(r"(?:class|def)\s")


def repaired(answer: str) -> str:
    """Return the code that an answer holds in JSON, in quotes, with escaped breaks or in a fence.

    A fenced block loses its outer white space, and so the indentation of its first line alone.
    """
    code = answer
    parsed = parsed_object(answer.strip()) or {}
    for name in _FIELDS:
        if isinstance(parsed.get(name), str):
            code = parsed[name]
            break
    bare = code.strip()
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'":
        code = bare[1:-1]
    if "\n" not in code:
        code = code.replace("\\n", "\n").replace("\\t", "\t")
    block = last_fenced_block(code)
    return code if block is None else block


def completed(question: str, body: str, indent: int | None) -> str:
    """Return the program of a signature and a body.

    Args:
        question: The signature, with whatever stands before it.
        body: The code under it, or a whole program, which is returned alone.
        indent: Spaces before the body, 4 in a function and 8 in a method; None: it stands as it is.
    """
    if _is_complete(body):
        program = body.strip()
    elif indent is None:
        program = f"{question.rstrip()}\n{body.rstrip()}"
    else:
        plain = textwrap.dedent(body.strip("\r\n"))
        program = f"{question.rstrip()}\n{textwrap.indent(plain, ' ' * indent).rstrip()}"
    needs_import = _DATACLASS in program and "from dataclasses" not in program
    return f"{_IMPORT}{program}\n" if needs_import else f"{program}\n"


def _is_complete(body: str) -> bool:
    plain = body.strip()
    return _DATACLASS in plain or _IS_COMPLETE.match(plain) is not None
