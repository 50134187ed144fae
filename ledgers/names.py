"""Checks of the texts and names that a ledger is declared with."""

from collections.abc import Iterable

from ledgers.errors import WrongChart

__all__ = ["distinct", "listed", "writable"]


def distinct(kind: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return *names* as a tuple after checking that each is a name and none comes twice.

    Args:
        kind: What is named, for the error text: "account".
        names: The names, in order.

    Raises:
        WrongChart: No names, an empty one, one that is not text, or one declared twice.
    """
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


def writable(text: str) -> bool:
    """Return whether *text* has a UTF-8 form; a lone surrogate has none."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
