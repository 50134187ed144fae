"""One entry of a book, and the memo that says what it is about."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from attrs import field, frozen

from ledgers.errors import LedgerError
from ledgers.names import writable

__all__ = ["Entry", "Memo", "WrongEntry", "checked_text", "text_of"]


class WrongEntry(LedgerError):
    """An entry has no lines, a text without a UTF-8 form, or names an account twice."""


def checked_text(text: object) -> str:
    """Return *text* as a plain `str`.

    Raises:
        WrongEntry: It is not text, or has no UTF-8 form.
    """
    if not isinstance(text, str) or not writable(text):
        raise WrongEntry(f"the text of an entry is a text that can be written, not {text!r}")
    return str(text)


def _plain(text: str) -> str:
    return checked_text(text)


def _copied(references: Mapping[str, str | int]) -> Mapping[str, str | int]:
    return dict(references)


@frozen
class Memo:
    """What an entry is about: its text for people, and the same as data.

    One memo may serve many entries. Statements and views select entries by `kind`, never by their
    text; the digest of a book covers the text, not kind or references.

    Attributes:
        text: What happened, for people.
        kind: The model's own name for entries of this sort: "J3", "payroll".
        references: What the entry refers to, by name: `{"employee": "ann"}`.

    Raises:
        WrongEntry: *text* or *kind* is not text, or has no UTF-8 form.
    """

    text: str = field(converter=_plain)
    kind: str = field(default="", converter=_plain)
    references: Mapping[str, str | int] = field(factory=dict, converter=_copied, hash=False)


def text_of(text: str | Memo) -> str:
    """Return the text of a memo, and a plain text as it is."""
    return text.text if isinstance(text, Memo) else text


class Entry(NamedTuple):
    """One entry of the journal, as it was posted.

    Attributes:
        time: Ticks of the world's clock.
        text: What happened, for people.
        amounts: Integer units of currency by account; they sum to zero.
        kind: The memo's kind; "" for an entry posted with a text alone.
        references: The memo's references; empty for an entry posted with a text alone.
    """

    time: int
    text: str
    amounts: Mapping[str, int]
    kind: str = ""
    references: Mapping[str, str | int] = MappingProxyType({})
