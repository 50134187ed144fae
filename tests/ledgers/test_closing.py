"""The year-end close."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.lemonade import CASH, CHART, CLOSE, RETAINED, lemonade

from ledgers.book import Book, Entry, UnknownAccount, WrongEntry, close_year
from ledgers.errors import LedgerError, WrongTime


def test_a_close_is_one_entry_an_account() -> None:
    """Every income and expense account is closed to retained earnings, in the chart's order."""
    assert lemonade().journal[7:10] == (
        Entry(2, "close", {"sales": 60_00, "retained": -60_00}, "J0"),
        Entry(2, "close", {"lemons": -30_00, "retained": 30_00}, "J0"),
        Entry(2, "close", {"depreciation": -5_00, "retained": 5_00}, "J0"),
    )
    assert CLOSE.kind == "J0"


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
