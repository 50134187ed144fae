"""The year-end close."""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from lemonade import CHART, lemonade

from ledgers.book import Book, Entry, UnknownAccount, WrongEntry
from ledgers.closing import close_year
from ledgers.journal import LedgerError, WrongTime


def test_a_close_is_one_entry_an_account() -> None:
    """Every income and expense account goes to retained earnings in the order of the chart."""
    assert lemonade().journal[7:10] == (
        Entry(2, "J0 close", {"sales": 60_00, "retained": -60_00}),
        Entry(2, "J0 close", {"lemons": -30_00, "retained": 30_00}),
        Entry(2, "J0 close", {"depreciation": -5_00, "retained": 5_00}),
    )


def test_accounts_at_zero_are_passed_over() -> None:
    """Only what was earned or spent since the last close is closed again."""
    book = lemonade()
    assert close_year(book, CHART, 3, "retained") == 1_01
    assert book.journal[-1] == Entry(3, "close of the year", {"sales": 1_01, "retained": -1_01})
    entries = len(book.journal)
    assert close_year(book, CHART, 3, "retained") == 0
    assert len(book.journal) == entries


@given(st.lists(st.tuples(st.sampled_from(CHART.codes), st.integers(-99, 99)), max_size=20))
def test_a_close_moves_earnings_and_nothing_else(lines: list[tuple[str, int]]) -> None:
    """Afterwards income and expenses are at zero, and equity has grown by what they held."""
    book = CHART.book()
    for account, amount in lines:
        if account != "retained":
            book.post(0, "x", {account: amount, "retained": -amount})
    before = book.balances()
    earned = close_year(book, CHART, 0, "retained")
    after = book.balances()
    assert earned == -sum(before[account] for account in CHART.temporary)
    assert {after[account] for account in CHART.temporary} == {0}
    assert after["retained"] == before["retained"] - earned
    assert all(
        after[account] == before[account]
        for account in CHART.of("asset", "contra_asset", "liability")
    )


@pytest.mark.parametrize(
    ("time", "into", "error", "sentence"),
    [
        (2, "cash", WrongEntry, "a year is closed into an equity account, not into 'cash'"),
        (2, "retaind", UnknownAccount, "no account is named 'retaind'; did you mean 'retained'?"),
        (1, "retained", WrongTime, "time must not run backwards: t=1 comes after t=2"),
        (2, "foreign", UnknownAccount, "no account is named 'foreign'; there is "),
    ],
)
def test_a_refused_close_changes_nothing(
    time: int, into: str, error: type[LedgerError], sentence: str
) -> None:
    """Whatever is wrong with it is found before the first entry."""
    book = lemonade()
    before = book.digest()
    with pytest.raises(error) as refused:
        close_year(book, CHART, time, into)
    assert str(refused.value).startswith(sentence)
    assert book.digest() == before


def test_a_chart_of_another_book_closes_nothing() -> None:
    """An account of the chart that the book has not is found before the first entry."""
    book = Book("sales", "retained", "cash")
    book.post(0, "sale", cash=1, sales=-1)
    with pytest.raises(UnknownAccount, match="named 'lemons'"):
        close_year(book, CHART, 1, "retained")
    assert len(book.journal) == 1
