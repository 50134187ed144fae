"""The year-end close."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.lemonade import CASH, CHART, CLOSE, RETAINED, lemonade

from ledgers.book import Book, Entry, Memo, UnknownAccount, WrongEntry, close_year
from ledgers.errors import LedgerError, WrongTime


def test_a_close_is_one_entry_an_account() -> None:
    """Every income and expense account is closed to retained earnings, in the chart's order."""
    assert lemonade().journal[7:10] == (
        Entry(2, "close", {"sales": 60_00, "retained": -60_00}, "J0"),
        Entry(2, "close", {"lemons": -30_00, "retained": 30_00}, "J0"),
        Entry(2, "close", {"depreciation": -5_00, "retained": 5_00}, "J0"),
    )
    assert CLOSE.kind == "J0"


def test_accounts_at_zero_are_passed_over() -> None:
    """Only income and expenses since the last close are closed again."""
    book = lemonade()
    assert close_year(book, CHART, 3, RETAINED) == 1_01
    assert book.journal[-1] == Entry(3, "close of the year", {"sales": 1_01, "retained": -1_01})
    entries = len(book.journal)
    assert close_year(book, CHART, 3, RETAINED) == 0
    assert len(book.journal) == entries


@given(st.lists(st.tuples(st.sampled_from(CHART.codes), st.integers(-99, 99)), max_size=20))
def test_a_close_moves_earnings_and_nothing_else(lines: list[tuple[str, int]]) -> None:
    """Afterwards income and expenses are zero, and equity has grown by their balances."""
    book = Book(*CHART)
    for account, amount in lines:
        if account != RETAINED:
            book.post(0, "x", {account: amount, RETAINED: -amount})
    before = book.balances()
    earned = close_year(book, CHART, 0, RETAINED)
    after = book.balances()
    assert earned == -sum(before[account] for account in CHART.temporary)
    assert {after[account] for account in CHART.temporary} == {0}
    assert after[RETAINED] == before[RETAINED] - earned
    assert all(
        after[account] == before[account]
        for account in CHART.of("asset", "contra_asset", "liability")
    )


@pytest.mark.parametrize(
    ("time", "into", "error", "sentence"),
    [
        (2, CASH, WrongEntry, "a year is closed into an equity account, not into 'cash'"),
        (2, "retaind", UnknownAccount, "no account is named 'retaind'; did you mean 'retained'?"),
        (1, RETAINED, WrongTime, "time must not run backwards: t=1 comes after t=2"),
        (2, "foreign", UnknownAccount, "no account is named 'foreign'; there is "),
    ],
)
def test_a_refused_close_changes_nothing(
    time: int, into: str, error: type[LedgerError], sentence: str
) -> None:
    """Every error is found before the first entry."""
    book = lemonade()
    before = book.digest()
    with pytest.raises(error) as refused:
        close_year(book, CHART, time, into)
    assert str(refused.value).startswith(sentence)
    assert book.digest() == before


def test_a_chart_of_another_book_closes_nothing() -> None:
    """An account of the chart that is missing in the book is found before the first entry."""
    book = Book("sales", "retained", "cash")
    book.post(0, "sale", cash=1, sales=-1)
    with pytest.raises(UnknownAccount, match="named 'lemons'"):
        close_year(book, CHART, 1, RETAINED)
    assert len(book.journal) == 1


def test_a_close_ends_at_the_same_digest_as_posted_entries() -> None:
    """A model that replaces its own loop over the accounts by `close_year` keeps its digest."""
    text = "J0 year-end close"
    closed, posted = Book(*CHART), Book(*CHART)
    for book in (closed, posted):
        book.post(0, "sale", cash=7, sales=-7)
        book.post(0, "lemons", lemons=9, cash=-9)
    close_year(closed, CHART, 1, RETAINED, Memo(text, "J0"))
    for account in CHART.temporary:
        if balance := posted.balance(account):
            posted.post(1, text, {account: -balance, RETAINED: balance})
    assert closed.digest() == posted.digest()
