"""The intercompany account: cash in and out by partner, added to a book by its first entry."""

import pytest

from ledgers.book import Book, WrongAmount
from ledgers.chart import Account
from ledgers.consolidation import ACCOUNT, KIND, Intercompany, NotEnoughCash


def company(digits: int = 2) -> tuple[Book, Intercompany]:
    """Return a company that holds 500 cents."""
    book = Book("cash", "capital", digits=digits)
    book.transfer(0, "founded", "cash", "capital", 500 * 10 ** (digits - 2))
    return book, Intercompany(book, "cash", "asset")


@pytest.mark.parametrize("digits", [2, 12])
def test_balances_are_those_of_the_partners(digits: int) -> None:
    """Received cash is owed to the partner; paid cash is owed by it."""
    book, account = company(digits)
    account.receive(1, "bank", 100)
    account.send(1, "shop", 600)
    assert account.balances == {"bank": -100, "shop": 600}
    assert account.held == 0
    assert book.money(book.balance(ACCOUNT)) == 5.0
    assert [entry.kind for entry in book.journal] == ["", KIND, KIND]
    assert book.journal[-1].references == {"partner": "shop"}
    assert book.balance(ACCOUNT, at=0) == 0
    assert book.declared[ACCOUNT] == Account(ACCOUNT, "Intercompany", "asset")


def test_cash_is_rounded_down_to_whole_cents() -> None:
    """A cent that is not whole cannot be paid."""
    book = Book("cash", "capital", digits=3)
    book.transfer(0, "founded", "cash", "capital", 1_999)
    account = Intercompany(book, "cash")
    assert account.held == 199
    with pytest.raises(
        NotEnoughCash, match="200 cents were to be paid to shop; the cash is 199 cents"
    ):
        account.send(0, "shop", 200)


@pytest.mark.parametrize("cents", [0, -1, 1.0, True, float("nan"), "5"])
@pytest.mark.parametrize("way", ["send", "receive"])
def test_an_amount_is_whole_cents_above_zero(way: str, cents: object) -> None:
    """Nothing is posted."""
    book, account = company()
    with pytest.raises(WrongAmount, match="a whole number above 0"):
        getattr(account, way)(1, "bank", cents)
    assert (len(book.journal), book.accounts) == (1, ("cash", "capital"))


def test_a_payment_beyond_the_cash_changes_nothing() -> None:
    """The account is not added either."""
    book, account = company()
    with pytest.raises(NotEnoughCash):
        account.send(1, "bank", 501)
    assert (len(book.journal), book.accounts) == (1, ("cash", "capital"))
