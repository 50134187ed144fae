"""Views of a journal: the general ledger of an account, and the movements of cash by category.

A period is given by its first and last tick, both included whole; None leaves that end open. A
period that cannot be raises `WrongTime`, an account that the book lacks `UnknownAccount`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from attrs import field, frozen

from ledgers.book import Book
from ledgers.entry import Entry
from ledgers.errors import LedgerError

Key: TypeAlias = str | tuple[str, str]


class Unclassified(LedgerError):
    """A movement of cash has no category in a cash view."""


class LedgerLine(NamedTuple):
    """One line of an account's general ledger; entries are numbered from 1, debits positive."""

    time: int
    number: int
    text: str
    amount: int
    balance: int


class CashLine(NamedTuple):
    """One movement of cash in a category of the view; cash received is positive."""

    time: int
    number: int
    text: str
    category: str
    amount: int


def general_ledger(
    book: Book, account: str, since: int | None = None, until: int | None = None
) -> tuple[LedgerLine, ...]:
    """Return every line of an account in a period, each with the balance after it."""
    entries = _numbered(book, since, until)
    balance = opening(book, account, since)
    lines = []
    for number, entry in entries:
        if account in entry.amounts:
            amount = entry.amounts[account]
            balance += amount
            lines.append(LedgerLine(entry.time, number, entry.text, amount, balance))
    return tuple(lines)


def opening(book: Book, account: str, since: int | None = None) -> int:
    """Return the units on an account at the end of the tick before *since*; 0 for None."""
    now = book.balance(account)  # refuses an unknown account
    return now - now if since is None else book.balance(account, at=since - 1)


def _copied(given: Mapping[Any, str]) -> Mapping[Key, str]:
    return dict(given)


@frozen
class CashView:
    """The movements of cash by category (the direct method).

    Each line of an entry other than cash is the opposite of a part of its cash line. The view
    assigns a category to each such part.

    Args:
        account: The cash account.
        categories: Category by ("J3", "1110"), kind of an entry and other account, or by kind
            alone, or by account alone; the first of these three that is declared applies.
    """

    account: str
    categories: Mapping[Key, str] = field(converter=_copied)

    def lines(
        self, book: Book, since: int | None = None, until: int | None = None
    ) -> tuple[CashLine, ...]:
        """Return the movements of cash in a period, one for each entry and category.

        Raises:
            Unclassified: A movement has no category.
        """
        book.balance(self.account)
        return tuple(
            CashLine(entry.time, number, entry.text, category, amount)
            for number, entry in _numbered(book, since, until)
            for category, amount in self._parts(entry).items()
        )

    def flows(
        self, book: Book, since: int | None = None, until: int | None = None
    ) -> dict[str, int]:
        """Return the sums of `lines` in a period by category; without a movement it is 0."""
        flows = dict.fromkeys(self.categories.values(), 0)
        for line in self.lines(book, since, until):
            flows[line.category] += line.amount
        return flows

    def _parts(self, entry: Entry) -> dict[str, int]:
        parts: dict[str, int] = {}
        if entry.amounts.get(self.account):
            for account, amount in entry.amounts.items():
                if account != self.account and amount:
                    category = self._category(entry, account)
                    parts[category] = parts.get(category, 0) - amount
        return parts

    def _category(self, entry: Entry, account: str) -> str:
        for key in ((entry.kind, account), entry.kind, account):
            if key in self.categories:
                return self.categories[key]
        raise Unclassified(
            f"entry {entry.text!r} at t={entry.time} moves cash against {account!r}, "
            f"for which no category is declared"
        )


def apportion(amount: int, shares: Mapping[str, int]) -> dict[str, int]:
    """Split *amount* by *shares* exactly, by the method of largest remainders (Hamilton's).

    Of equal remainders the first is rounded up.

    Raises:
        LedgerError: A weight is not an `int` or is below 0, or all are 0.
    """
    weights = list(shares.values())
    if any(type(weight) is not int or weight < 0 for weight in weights) or not sum(weights):
        raise LedgerError(f"shares are ints, 0 or more and not all 0, not {dict(shares)!r}")
    total, size = sum(weights), abs(amount)
    parts = {tag: size * weight // total for tag, weight in shares.items()}
    order = sorted(shares, key=lambda tag: -(size * shares[tag] % total))
    for tag in order[: size - sum(parts.values())]:
        parts[tag] += 1
    return {tag: part if amount >= 0 else -part for tag, part in parts.items()}


def _numbered(book: Book, since: int | None, until: int | None) -> Iterator[tuple[int, Entry]]:
    """Return the entries of a period with their numbers; the journal's first entry is 1."""
    span = book.journal.span(since, until)
    return enumerate(book.journal[span.start : span.stop], span.start + 1)
