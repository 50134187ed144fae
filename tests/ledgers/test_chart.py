"""A chart of accounts: what it accepts, and what the kind of an account implies."""

import pickle
from typing import Any, TypeAlias

import pytest

from ledgers.book import Book, UnknownAccount
from ledgers.chart import Account, Chart
from ledgers.errors import LedgerError, WrongChart

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


def test_accounts_are_found_by_code_and_by_kind() -> None:
    """A chart is indexed like a mapping and iterated like a list."""
    assert CHART["4000"].name == "Sales"
    assert CHART.of("expense", "asset") == ("1000", "5000")
    assert CHART.temporary == ("4000", "5000")
    assert [account.code for account in CHART] == list(CHART.codes)


def test_charts_are_values() -> None:
    """Charts with equal accounts are equal, have equal hashes, and can be pickled."""
    other = pickle.loads(pickle.dumps(CHART))  # noqa: S301 - our own bytes
    assert other == CHART
    assert hash(other) == hash(CHART)
    assert other["5000"] == Account("5000", "Wages", "expense")


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


def test_an_unknown_code_or_kind_is_refused() -> None:
    """Near misses are suggested."""
    with pytest.raises(
        UnknownAccount, match=r"^no account is named '1001'; did you mean '1000'\?$"
    ):
        CHART["1001"]
    unhashable: Anything = ["1000"]
    with pytest.raises(UnknownAccount):
        CHART[unhashable]
    with pytest.raises(LedgerError, match=r"^no kind is named 'incomes'; did you mean 'income'\?$"):
        CHART.of("incomes")
