"""Names and numbers as people read them."""

import re
from typing import Any

__all__ = ["NONE", "humanised", "is_moment", "told"]

#: Stands where there is nothing.
NONE = "\N{EN DASH}"

#: Decimals of numbers that are not whole, and from here on fewer of them say enough.
_DECIMALS, _LARGE = 4, 1e3
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?")


def humanised(name: str) -> str:
    """Write a field or a class for people.

    >>> humanised("incoming_order"), humanised("SimResume")
    ('Incoming order', 'Sim resume')
    """
    words = "".join(f" {c.lower()}" if c.isupper() else c for c in name).replace("_", " ").split()
    text = " ".join(words)
    return text[:1].upper() + text[1:]


def is_moment(value: Any) -> bool:
    """Say whether a value is an ISO date and time."""
    return isinstance(value, str) and _MOMENT.fullmatch(value) is not None


def told(value: Any) -> str:  # noqa: PLR0911 (one line a kind)
    """Write a plain value in a line: numbers with thousands separators, nothing as a dash.

    >>> told(-0.0)
    '0'
    >>> told([{"start_at": 1000, "end": None}, 0.5])
    '(start at 1,000, end \N{EN DASH}), 0.5'
    """
    match value:
        case None | "" | []:
            return NONE
        case dict() if not value:
            return NONE
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return _fraction(value)
        case str():
            return value.replace("T", " ").split(".")[0] if is_moment(value) else value
        case list():
            return ", ".join(
                f"({told(each)})" if isinstance(each, dict) else told(each) for each in value
            )
        case dict():
            return ", ".join(f"{humanised(str(k)).lower()} {told(v)}" for k, v in value.items())
        case _:
            return str(value)


def _fraction(value: float) -> str:
    if value.is_integer():
        return f"{int(value):,}"
    if abs(value) >= _LARGE:
        return f"{value:,.2f}"
    return f"{value:,.{_DECIMALS}f}".rstrip("0") if abs(value) >= 10**-_DECIMALS else f"{value:.4g}"
