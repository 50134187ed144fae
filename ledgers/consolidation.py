"""The companies of a group: what they owe each other in their own ledgers, and the group's book.

The first exchange adds the account or the place of partners to the ledger of a company.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Literal, TypeAlias

from ledgers.book import Book, WrongAmount
from ledgers.chart import Account, Chart
from ledgers.entry import Entry, Memo, checked_text
from ledgers.errors import LedgerError
from ledgers.stock import Overdrawn, Stock, WrongUnits

#: Returns the group's account for an account of a company.
AccountName: TypeAlias = Callable[[str], str]
#: Returns the kind of an entry of a company in the group's book; empty for one that is left out.
Kind: TypeAlias = Callable[[str, Entry], str]

#: The account with partners, the kind of its entries, each of which refers to a "partner", and the
#: outside place of their goods.
ACCOUNT = KIND = PLACE = "intercompany"


class NotEnoughCash(LedgerError):
    """A company was to pay more than the cash that it holds."""


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
        self.book = Book(*chart, digits=digits, name="group")
        self._account = account
        self._kind = kind
        self._read: Counter[str] = Counter()

    def post(self, period: int, books: Mapping[str, Book]) -> None:
        """Post the new entries of the books: one entry for each company and kind.

        *period* is the tick of the group's book; *books*, by company, are the same in every call.
        """
        for company, book in books.items():
            entries = book.journal[self._read[company] :]
            self._read[company] += len(entries)
            unit = 10 ** (self.book.digits - book.digits)
            sums: dict[str, Counter[str]] = defaultdict(Counter)
            for entry in entries:
                if kind := self._kind(company, entry):
                    for code, amount in entry.amounts.items():
                        sums[kind][self._account(code)] += amount * unit
            for kind, lines in sums.items():
                if amounts := {code: amount for code, amount in lines.items() if amount}:
                    memo = Memo(f"{company}: {kind}", kind, {"company": company})
                    self.book.post(period, memo, amounts)


class Intercompany:
    """Cash received from and paid to partners.

    A balance above zero of the account is owed to this company by its partner (a receivable), one
    below zero is owed by this company.

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
        self._cent: int = 10 ** (book.digits - 2)  # units of the book

    @property
    def held(self) -> int:
        """Cash on hand in whole cents, rounded down."""
        return self._book.held[self._cash] // self._cent

    @property
    def balances(self) -> dict[str, int]:
        """Cents by partner, in the order of their first entries."""
        return dict(self._balances)

    def receive(self, time: int, partner: str, cents: int) -> None:
        """Post cash that a partner has sent: whole cents above 0."""
        _check(cents)
        self._post(time, f"cash from {partner}", partner, cents)

    def send(self, time: int, partner: str, cents: int) -> None:
        """Post cash that is sent to a partner.

        Raises:
            NotEnoughCash: The amount is more than the company holds.
            WrongAmount: The amount is not a whole number of cents above 0.
        """
        _check(cents)
        if cents > self.held:
            raise NotEnoughCash(
                f"{cents} cents were to be paid to {partner}; the cash is {self.held} cents"
            )
        self._post(time, f"cash to {partner}", partner, -cents)

    def _post(self, time: int, text: str, partner: str, cents: int) -> None:
        book, kind = self._book, self._kind
        memo = Memo(checked_text(text), KIND, {"partner": partner})
        if ACCOUNT not in book.held:
            book.add_account(Account(ACCOUNT, "Intercompany", kind) if kind else ACCOUNT)
        book.transfer(time, memo, self._cash, ACCOUNT, cents * self._cent)
        self._balances[partner] -= cents


def _check(cents: int) -> None:
    if type(cents) is not int or cents < 1:
        raise WrongAmount(f"{cents!r} cents were given; an amount is a whole number above 0")


class GoodsExchange:
    """Goods of a place received from and sent to partners."""

    def __init__(self, goods: Stock, place: str) -> None:
        self._goods = goods
        self._place = place
        self._balances: Counter[str] = Counter()

    @property
    def held(self) -> int | Fraction:
        """Units on hand."""
        return self._goods[self._place]

    @property
    def balances(self) -> dict[str, int]:
        """Units by partner: those received from it less those sent to it."""
        return dict(self._balances)

    def receive(self, time: int, partner: str, units: int) -> None:
        """Move units that a partner delivers, a whole number above 0, to the place."""
        self._open(units, partner)
        self._goods.move(time, PLACE, self._place, units)
        self._balances[partner] += units

    def send(self, time: int, partner: str, units: int) -> None:
        """Move units from the place to a partner.

        Raises:
            Overdrawn: The place holds fewer units.
        """
        if type(units) is int and units > self.held:
            raise Overdrawn(
                f"{units} units were to be taken from {self._place!r}, which holds {self.held}"
            )
        self._open(units, partner)
        self._goods.move(time, self._place, PLACE, units)
        self._balances[partner] -= units

    def _open(self, units: object, partner: object) -> None:
        if type(units) is not int or units < 1:
            raise WrongUnits(
                f"{units!r} units were given; goods are exchanged in whole units above 0"
            )
        if not isinstance(partner, str) or not partner:
            raise LedgerError(f"partner={partner!r} was given; it is the name of a company")
        if PLACE not in self._goods.held:
            self._goods.add_outside(PLACE)
