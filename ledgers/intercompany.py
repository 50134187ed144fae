"""The account of a company with the other companies of its group, in the company's own book.

A balance above zero is owed to this company by its partner (a receivable), one below zero is owed
by this company. The account is added to the book by the first entry, so that a company without a
group has none.
"""

from collections import Counter
from typing import Literal

from ledgers.accounts import Account
from ledgers.book import Book, WrongAmount
from ledgers.entry import Memo
from ledgers.errors import LedgerError

__all__ = ["ACCOUNT", "KIND", "Intercompany", "NotEnoughCash"]

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
        kind: The account's kind, as in a chart that has one; None adds the code alone.
    """

    def __init__(
        self, book: Book, cash: str, kind: Literal["asset", "liability"] | None = None
    ) -> None:
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
            WrongAmount: The amount is no whole number of cents above 0.
            LedgerError: As `Book.transfer`.
        """
        _check(cents)
        self._post(time, f"cash from {partner}", partner, cents)

    def pay(self, time: int, partner: str, cents: int) -> None:
        """Post cash that is sent to a partner.

        Raises:
            NotEnoughCash: It is more than the company holds.
            WrongAmount: The amount is no whole number of cents above 0.
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
