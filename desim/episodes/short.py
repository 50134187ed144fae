"""Values in error texts, which never grow with a value."""

from typing import Any

__all__ = ["SHOWN", "cut", "shown"]

#: The longest text of a value in an error, in characters.
SHOWN = 80


def shown(value: Any, most: int = SHOWN) -> str:
    """Return the `repr` of a plain value, cut to a length.

    >>> shown("a" * 100, 10)
    "'aaaaaaaa…"
    """
    try:
        return cut(repr(value), most)
    except (RecursionError, ValueError):  # nested too deep, or a number of too many digits
        return f"a {type(value).__name__}"


def cut(text: str, most: int = 4 * SHOWN) -> str:
    """Return a text, cut to a length."""
    return text if len(text) <= most else text[: most - 1] + "…"
