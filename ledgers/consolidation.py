"""Consolidation: the books of several companies added up in the book of their group."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from ledgers.book import Book
from ledgers.chart import Chart
from ledgers.entry import Entry, Memo

__all__ = ["Consolidation"]

#: Returns the group's account for an account of a company.
Account: TypeAlias = Callable[[str], str]

#: Returns the kind of an entry of a company in the group's book; empty for one that is left out.
Kind: TypeAlias = Callable[[str, Entry], str]


class Consolidation:
    """Posts what companies have posted, period by period.

    Args:
        chart: The group's accounts.
        account: Maps the accounts of the companies to them.
        kind: Maps the entries of a company, by its name, to kinds of the group's entries.
        digits: Decimals of the group's book, at least those of every company's.

    Attributes:
        book: The group's book; its tick is the period.
    """

    def __init__(self, chart: Chart, account: Account, kind: Kind, digits: int = 2) -> None:
        self.book = chart.book(digits, "group")
        self._account = account
        self._kind = kind
        self._read: Counter[str] = Counter()

    def post(self, period: int, books: Mapping[str, Book]) -> None:
        """Post what is new in the books: one entry for each company and kind.

        Args:
            period: Not before that of the last call.
            books: By company, always the same ones.

        Raises:
            LedgerError: An account of a company belongs to no account of the group, or as `Book`.
        """
        for company, book in books.items():
            entries = book.journal[self._read[company] :]
            unit = 10 ** (self.book.digits - book.digits)
            for kind, lines in self._sums(company, entries).items():
                amounts = {code: amount * unit for code, amount in lines.items() if amount}
                if amounts:
                    memo = Memo(f"{company}: {kind}", kind, {"company": company})
                    self.book.post(period, memo, amounts)
            self._read[company] += len(entries)

    def _sums(self, company: str, entries: Sequence[Entry]) -> dict[str, Counter[str]]:
        """Return the sums of entries by kind and account of the group."""
        sums: dict[str, Counter[str]] = defaultdict(Counter)
        for entry in entries:
            if kind := self._kind(company, entry):
                for code, amount in entry.amounts.items():
                    sums[kind][self._account(code)] += amount
        return sums
