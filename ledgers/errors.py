"""The errors of ledgers, and the checks and sentences that several of them share."""

from collections.abc import Iterable
from difflib import get_close_matches
from unicodedata import category


class LedgerError(ValueError):
    """A ledger refused a call; nothing in it has changed."""


class WrongChart(LedgerError):
    """The names declared for a ledger cannot be used."""


class UnknownAccount(LedgerError):
    """An account was named that the book does not have."""


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


def writable(text: object) -> bool:
    """Return whether *text* is a `str` with a UTF-8 form; a lone surrogate has none."""
    return isinstance(text, str) and (text.isascii() or "Cs" not in map(category, text))


def distinct(kind: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return *names* as a tuple, or raise `WrongChart` for a wrong or repeated name."""
    declared = () if isinstance(names, str) else tuple(names)
    if not declared:
        raise WrongChart(f"declare at least one {kind}, in a list of names, not {names!r}")
    for name in declared:
        if type(name) is not str or not name or not writable(name):
            raise WrongChart(f"the name of an {kind} is a text that can be written, not {name!r}")
    if twice := [name for name in dict.fromkeys(declared) if declared.count(name) > 1]:
        raise WrongChart(f"each {kind} is declared once, but {', '.join(twice)} came twice")
    return declared


def listed(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return *names* as a tuple; a single text is one name, not the list of its letters."""
    return (names,) if isinstance(names, str) else tuple(names)
