"""The errors that every ledger raises, and the sentences that several of them share."""

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["LedgerError", "WrongChart", "WrongExport", "WrongTime", "unknown", "wrong_time"]


class LedgerError(ValueError):
    """A ledger refused a call; nothing in it has changed."""


class WrongChart(LedgerError):
    """The names declared for a ledger cannot be used."""


class WrongTime(LedgerError):
    """A time is not an `int`, or is before the last entry."""


class WrongExport(LedgerError):
    """A ledger cannot be written in the form that was given."""


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """Return the sentence for a *name* that is not *known*, with the nearest known one if any."""
    names = list(known)
    near = get_close_matches(name, names, 1) if isinstance(name, str) else []
    hint = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(names)}"
    return f"no {kind} is named {name!r}; {hint}"


def wrong_time(time: object, last: float) -> str:
    """Return the sentence for a *time* that cannot follow the time *last*."""
    if type(time) is not int:
        return f"time must be an int, not {time!r} ({type(time).__name__})"
    return f"time must not run backwards: t={time} comes after t={last}"
