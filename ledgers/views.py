"""Two ledgers of one journal: the accrual view of an account, and the cash view of the book.

Both are read from the journal when asked for and keep nothing, so that posting pays for neither.  A
period is given by its first and last tick, both of which belong to it whole.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from attrs import field, frozen

from ledgers.book import Book, Entry
from ledgers.journal import LedgerError

__all__ = [
    "CashLine",
    "CashView",
    "LedgerLine",
    "Unclassified",
    "apportion",
    "general_ledger",
    "opening",
]

Key: TypeAlias = str | tuple[str, str]


class Unclassified(LedgerError):
    """Cash moved in a way for which a view has no category."""


class LedgerLine(NamedTuple):
    """One line of an account's general ledger.

    Attributes:
        time: Ticks of the world's clock.
        number: Of the entry in the journal, from 1.
        text: The entry's.
        amount: Units; a debit is positive.
        balance: Of the account after this line.
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
        number: Of the entry in the journal, from 1.
        text: The entry's.
        category: What the cash was for.
        amount: Units; what came in is positive.
    """

    time: int
    number: int
    text: str
    category: str
    amount: int


def general_ledger(
    book: Book, account: str, since: int | None = None, until: int | None = None
) -> tuple[LedgerLine, ...]:
    """Every line of an account in a period, with the balance it leaves behind.

    Raises:
        UnknownAccount: *account* is not in the book.
        WrongTime: The period's ends are no ints, or stand in the wrong order.
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


def _copied(given: Mapping[Any, str]) -> Mapping[Key, str]:
    return dict(given)


def opening(book: Book, account: str, since: int | None = None) -> int:
    """Units on an account before a period: at the end of the tick before it, or none at all.

    Raises:
        UnknownAccount: *account* is not in the book.
        WrongTime: *since* is not an `int`.
    """
    if since is None:
        return 0 * book.balance(account)  # asked for all the same, to refuse an unknown account
    return book.balance(account, at=since - 1)


@frozen
class CashView:
    """The cash ledger: what moved cash, and for what.

    An entry that moves cash says by its other lines where the cash went or came from; each of them
    is the opposite of a part of the cash line.  The view finds a category for every such part.

    Args:
        account: The cash account.
        categories: Category by ("J3", "1110"), name of an entry and account beside cash, or by
            name alone, or by account alone; the first of these three that is there decides.
    """

    account: str
    categories: Mapping[Key, str] = field(converter=_copied)

    def lines(
        self, book: Book, since: int | None = None, until: int | None = None
    ) -> tuple[CashLine, ...]:
        """List the movements of cash in a period, one for each entry and category.

        Raises:
            Unclassified: A movement has no category.
            UnknownAccount: The cash account is not in the book.
            WrongTime: The period's ends are no ints, or stand in the wrong order.
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
        """Add up the movements of a period by category; every category is there, as for `lines`."""
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
        for key in ((entry.name, account), entry.name, account):
            if key in self.categories:
                return self.categories[key]
        raise Unclassified(
            f"entry {entry.text!r} at t={entry.time} moves cash against {account!r}, "
            f"for which no category is declared"
        )


def apportion(amount: int, shares: Mapping[str, int]) -> dict[str, int]:
    """Split *amount* by *shares* exactly, with the method of largest remainders (Hamilton's).

    Args:
        amount: Units, of either sign.
        shares: Weights by tag, 0 or more and not all 0; equal remainders go to the first.

    Raises:
        LedgerError: A weight is no `int` or below 0, or all are 0.
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
    """Number the entries of a span from 1 at the journal's beginning."""
    return enumerate(book.journal[span.start : span.stop], span.start + 1)
