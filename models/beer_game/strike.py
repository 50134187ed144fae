"""The weeks of a strike, read from a text `FIRST:LAST`."""

import re

from desim.short_repr import short_repr

__all__ = ["read", "weeks"]

_FORM = re.compile(r"([0-9]{1,6}):([0-9]{1,6})")


def read(given: object) -> str | None:
    """Return a strike in its normal text form; None stays None.

    Raises:
        ValueError: *given* is no text of two week numbers from 1, the second not before the first.
    """
    if given is None:
        return None
    found = _FORM.fullmatch(given) if isinstance(given, str) else None
    first, last = map(int, found.groups()) if found else (0, 0)
    if not 1 <= first <= last:
        raise ValueError(
            f"strike={short_repr(given)} was given; it is FIRST:LAST, two weeks from 1, the second "
            "not before the first, or None"
        )
    return f"{first}:{last}"


def weeks(strike: str | None) -> range:
    """Return the weeks of a strike that `read` has returned; none of None."""
    if strike is None:
        return range(0)
    first, last = map(int, strike.split(":"))
    return range(first, last + 1)
