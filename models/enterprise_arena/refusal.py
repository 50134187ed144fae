"""Why a tool could not answer: one sentence, with near misses where a name was not known."""

from collections.abc import Collection
from difflib import get_close_matches

__all__ = ["Refused", "shown", "unknown"]

_LONGEST = 80


class Refused(Exception):
    """A tool cannot answer; the sentence is told to the officer."""


def shown(given: object) -> str:
    """Quote what was given, however long it is."""
    text = repr(given)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def unknown(kind: str, given: str, names: Collection[str]) -> str:
    """Say that a name is not known, and which of the known ones are near, whatever their case."""
    plain = {name.casefold(): name for name in reversed(list(names))}
    # What is much longer than every name resembles none, and would take long to compare.
    near = get_close_matches(given[:_LONGEST].casefold(), plain, n=3)
    hint = f"; did you mean {' or '.join(repr(plain[name]) for name in near)}?" if near else ""
    return f"there is no {kind} {shown(given)}{hint}"
