"""Two views of one journal: the general ledger of an account, and the cash view of the book.

Both are computed from the journal at each call and store nothing, so they do not slow posting. A
period is given by its first and last tick, both included whole.
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
    """One line of an account's general ledger.

    Attributes:
        time: Ticks of the world's clock.
        number: Position of the entry in the journal, from 1.
        text: Text of the entry.
        amount: Units; a debit is positive.
        balance: Balance of the account after this line, units.
    """

    time: int
    number: int
    text: str
    amount: int
    balance: int


class CashLine(NamedTuple):
    """One movement of cash.

    Attributes:
        time: Ticks of the world's clock.
        number: Position of the entry in the journal, from 1.
        text: Text of the entry.
        category: The category of the view.
        amount: Units; cash received is positive.
    """

    time: int
    number: int
    text: str
    category: str
    amount: int


def general_ledger(
    book: Book, account: str, since: int | None = None, until: int | None = None
) -> tuple[LedgerLine, ...]:
    """Return every line of an account in a period, each with the balance after it.

    Args:
        book: The book.
        account: Its code.
        since: First tick of the period; None means from the first entry on.
        until: Last tick of the period, included; None means to the last entry.

    Raises:
        UnknownAccount: *account* is not in the book.
        WrongTime: An end of the period is not an `int`, or the last is before the first.
    """
    span = book.journal.span(since, until)
    balance = opening(book, account, since)
    lines = []
    for number, entry in _numbered(book, span):
        if account in entry.amounts:
            amount = entry.amounts[account]
            balance += amount
            lines.append(LedgerLine(entry.time, number, entry.text, amount, balance))
    return tuple(lines)


def opening(book: Book, account: str, since: int | None = None) -> int:
    """Return the units on an account at the end of the tick before *since*; 0 for None.

    Raises:
        UnknownAccount: *account* is not in the book.
        WrongTime: *since* is not an `int`.
    """
    if since is None:
        return 0 * book.balance(account)  # read although unused: it refuses an unknown account
    return book.balance(account, at=since - 1)


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

        Args:
            book: A book that has the cash account.
            since: First tick of the period; None means from the first entry on.
            until: Last tick of the period, included; None means to the last entry.

        Raises:
            Unclassified: A movement has no category.
            UnknownAccount: The cash account is not in the book.
            WrongTime: An end of the period is not an `int`, or the last is before the first.
        """
        book.balance(self.account)
        return tuple(
            CashLine(entry.time, number, entry.text, category, amount)
            for number, entry in _numbered(book, book.journal.span(since, until))
            for category, amount in self._parts(entry).items()
        )

    def flows(
        self, book: Book, since: int | None = None, until: int | None = None
    ) -> dict[str, int]:
        """Return the sums of `lines` in a period by category; without a movement it is 0.

        Raises:
            LedgerError: See `lines`.
        """
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

    Args:
        amount: Units, of either sign.
        shares: Weights by tag, 0 or more and not all 0; of equal remainders the first is rounded
            up.

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


def _numbered(book: Book, span: range) -> Iterator[tuple[int, Entry]]:
    """Yield the entries of a span with their numbers; the journal's first entry is 1."""
    return enumerate(book.journal[span.start : span.stop], span.start + 1)
