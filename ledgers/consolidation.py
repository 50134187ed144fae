"""Consolidation: the books of several companies added up in the book of their group.

The account of a company with the other companies of its group, in the company's own book.

A balance above zero is owed to this company by its partner (a receivable), one below zero is owed
by this company. The account is added to the book by the first entry, so that a company without a
group has none.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

from ledgers.accounts import Account
from ledgers.book import Book, WrongAmount
from ledgers.chart import Chart
from ledgers.entry import Entry, Memo
from ledgers.errors import LedgerError

#: Returns the group's account for an account of a company.
AccountName: TypeAlias = Callable[[str], str]


#: Returns the kind of an entry of a company in the group's book; empty for one that is left out.
Kind: TypeAlias = Callable[[str, Entry], str]


class Consolidation:
    """Posts the sums of the companies' new entries to the group's book, period by period.

    Args:
        chart: The group's accounts.
        account: Maps the accounts of the companies to them.
        kind: Maps the entries of a company, by its name, to kinds of the group's entries.
        digits: Decimals of the group's book, at least those of every company's.

    Attributes:
        book: The group's book; its tick is the period.
    """

    def __init__(self, chart: Chart, account: AccountName, kind: Kind, digits: int = 2) -> None:
        self.book = chart.book(digits, "group")
        self._account = account
        self._kind = kind
        self._read: Counter[str] = Counter()

    def post(self, period: int, books: Mapping[str, Book]) -> None:
        """Post the new entries of the books: one entry for each company and kind.

        Args:
            period: Tick of the group's book, not before that of the last call.
            books: By company, always the same ones.

        Raises:
            LedgerError: A company's account maps to an unknown account of the group, or `Book.post`
                refuses the entry.
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


#: The account's code, and the kind of its entries. An entry refers to a "partner".
ACCOUNT = "intercompany"


KIND = "intercompany"


class NotEnoughCash(LedgerError):
    """A company was to pay more than the cash that it holds."""


class Intercompany:
    """Cash received from and paid to partners.

    Args:
        book: The company's book.
        cash: The code of its cash account, on which a positive balance is money held.
        kind: The kind with which the account is declared; None adds the code alone.

    Raises:
        ValueError: The kind is another one.
    """

    def __init__(
        self, book: Book, cash: str, kind: Literal["asset", "liability"] | None = None
    ) -> None:
        if kind not in (None, "asset", "liability"):
            raise ValueError(f"kind={kind!r} was given; it is asset, liability or None")
        self._book = book
        self._cash = cash
        self._kind = kind
        self._balances: Counter[str] = Counter()
        # Units of the book in a cent.
        self._unit: int = 10 ** (book.digits - 2)

    @property
    def cash(self) -> int:
        """Cash on hand in whole cents, rounded down."""
        return self._book.held[self._cash] // self._unit

    @property
    def balances(self) -> dict[str, int]:
        """Cents by partner, in the order of their first entries."""
        return dict(self._balances)

    def receive(self, time: int, partner: str, cents: int) -> None:
        """Post cash that a partner has sent.

        Raises:
            WrongAmount: The amount is not a whole number of cents above 0.
            LedgerError: As `Book.transfer`.
        """
        _check(cents)
        self._post(time, f"cash from {partner}", partner, cents)

    def pay(self, time: int, partner: str, cents: int) -> None:
        """Post cash that is sent to a partner.

        Raises:
            NotEnoughCash: The amount is more than the company holds.
            WrongAmount: The amount is not a whole number of cents above 0.
            LedgerError: As `Book.transfer`.
        """
        _check(cents)
        if cents > self.cash:
            raise NotEnoughCash(
                f"{cents} cents were to be paid to {partner}; the cash is {self.cash} cents"
            )
        self._post(time, f"cash to {partner}", partner, -cents)

    def _post(self, time: int, text: str, partner: str, cents: int) -> None:
        book, kind = self._book, self._kind
        memo = Memo(text, KIND, {"partner": partner})  # may refuse the partner
        if ACCOUNT not in book.held:
            book.add_account(Account(ACCOUNT, "Intercompany", kind) if kind else ACCOUNT)
        book.transfer(time, memo, self._cash, ACCOUNT, cents * self._unit)
        self._balances[partner] -= cents


def _check(cents: int) -> None:
    if type(cents) is not int or cents < 1:
        raise WrongAmount(f"{cents!r} cents were given; an amount is a whole number above 0")
