"""A chart of accounts: what it accepts, and what the kind of an account implies."""

from typing import Any, TypeAlias

import pytest

from ledgers.book import Book
from ledgers.chart import Account, Chart
from ledgers.errors import WrongChart

Anything: TypeAlias = Any  # also what a chart must refuse

CHART = Chart(
    (
        Account("1000", "Cash", "asset"),
        Account("4000", "Sales", "income"),
        Account("5000", "Wages", "expense"),
    )
)


def test_a_book_opens_on_the_codes_of_a_chart() -> None:
    """Codes are the accounts of the book, in the order of the chart."""
    book = Book(*CHART, digits=0)
    assert (book.accounts, book.digits) == (("1000", "4000", "5000"), 0)
    assert book.accounts == CHART.codes


@pytest.mark.parametrize(
    ("accounts", "sentence"),
    [
        ((), "declare at least one account, in a list of names, not ()"),
        (("cash",), "a chart is made of Accounts, not of 'cash'"),
        (
            (Account("a", "A", "asset"), Account("a", "B", "income")),
            "each account is declared once, but a came twice",
        ),
    ],
)
def test_a_chart_must_be_usable(accounts: Anything, sentence: str) -> None:
    """A chart without accounts, with other objects, or with a repeated code is refused."""
    with pytest.raises(WrongChart) as refused:
        Chart(accounts)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("account", "sentence"),
    [
        (("", "Cash", "asset"), "code and name are texts that can be written, not ''"),
        (("1", "\ud800", "asset"), "code and name are texts that can be written, not '\\ud800'"),
        ((1000, "Cash", "asset"), "code and name are texts that can be written, not 1000"),
        (
            ("1", "Cash", "assets"),
            "account '1': no kind is named 'assets'; did you mean 'asset'?",
        ),
    ],
)
def test_an_account_must_be_usable(account: Anything, sentence: str) -> None:
    """An account with an empty, unwritable or unknown part is refused."""
    with pytest.raises(WrongChart) as refused:
        Account(*account)
    assert str(refused.value) == sentence
