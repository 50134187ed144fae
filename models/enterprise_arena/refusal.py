"""Refused commands: one sentence that gives the reason, with near misses for an unknown name."""

from collections.abc import Collection
from difflib import get_close_matches

from desim.short_repr import short_repr

__all__ = ["CommandRefused", "quoted", "unknown"]

_LONGEST = 80


class CommandRefused(Exception):
    """A tool cannot return what was requested; the text becomes the reply to the command."""


def quoted(given: object) -> str:
    """Return the repr of *given*, cut to 80 characters."""
    text = short_repr(given, _LONGEST)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def unknown(kind: str, given: str, names: Collection[str]) -> str:
    """Return a sentence that an unknown name was given, with near misses regardless of case."""
    plain = {name.casefold(): name for name in reversed(list(names))}
    # Cut, because comparing a very long text is slow, and it resembles no name anyway.
    near = get_close_matches(given[:_LONGEST].casefold(), plain, n=3)
    hint = f"; did you mean {' or '.join(repr(plain[name]) for name in near)}?" if near else ""
    return f"there is no {kind} {quoted(given)}{hint}"
