r"""Removes a key from texts of the server: as it is, `\u`-escaped, or percent-encoded."""

import re
from collections.abc import Callable

__all__ = ["SHORTEST_KEY", "Redact", "redactor"]

#: A shorter key, such as `none` or `4`, is no secret and may be part of any reply.
SHORTEST_KEY = 8

#: Removes the key from a text.
Redact = Callable[[str], str]


def redactor(key: str) -> Redact:
    r"""Return a function that replaces a key by `[key]`.

    >>> redactor("sk-12345")(r"bad key \u0073k-12345, sk%2D12345")
    'bad key [key], [key]'
    """
    if len(key) < SHORTEST_KEY:
        return lambda text: text
    pattern = re.compile("".join(_written(character) for character in key))
    return lambda text: pattern.sub("[key]", text)


def _written(character: str) -> str:
    """Return a pattern of the ways in which an ASCII character of a key is written."""
    code, plain = f"(?i:{ord(character):02x})", re.escape(character)
    # Text within text doubles backslashes and percent signs; bounded, for a text full of them.
    backslash = rf"\\{{1,8}}(?:u00{code}|x{code}|{plain})"
    percent = rf"%(?:25){{0,3}}{code}"
    entity = rf"&#(?:{ord(character)}|[xX]0{{0,6}}{code});"
    return f"(?:{plain}|{backslash}|{percent}|{entity})"
