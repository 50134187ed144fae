"""Articulation: sound books have no faults, and every sort of fault is found."""

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from support.articulation import Articulation
from support.lemonade import (
    BILLS,
    CAPITAL,
    CASH,
    CHART,
    CLOSE,
    DEPRECIATION,
    FLOWS,
    LEMONS,
    LOAN,
    POSITION,
    REPORTS,
    RETAINED,
    SALE,
    SALES,
    STAND,
    WEAR,
    lemonade,
)

from ledgers.book import Book, Memo, close_year
from ledgers.statements import Layout, Line, Reports, Total


def faults(
    reports: Reports, book: Book, since: int, until: int, year: int | None = None
) -> list[str]:
    """Return what does not articulate in books of the stand."""
    rolls = {WEAR: ("J5",), LOAN: ("L1", "purchase")}
    return Articulation(reports, CHART, "founding", rolls).faults(book, since, until, year)


@pytest.fixture
def book() -> Book:
    """Return the books of the lemonade stand."""
    return lemonade()


@pytest.mark.parametrize(
    ("since", "until", "year"), [(0, 0, 0), (1, 1, 0), (2, 2, 2), (0, 2, None)]
)
def test_sound_books_have_no_faults(book: Book, since: int, until: int, year: int | None) -> None:
    """Every month articulates, including the one of the close, and so do longer periods."""
    assert faults(REPORTS, book, since, until, year) == []


def test_an_entry_that_does_not_balance_is_found(book: Book) -> None:
    """The check reads the journal itself."""
    book._rows.append((2, "sale of smoke", {CASH: 5}))
    book._memos.append(SALE)
    assert "entry 'sale of smoke' at t=2 sums to 5, not to zero" in faults(REPORTS, book, 2, 2)


def test_an_account_in_no_line_is_found(book: Book) -> None:
    """A balance sheet that forgets an account does not balance."""
    rows = [Line("stand", STAND) if row.name == "stand" else row for row in POSITION.rows]
    assert faults(evolve(REPORTS, position=Layout("balance sheet", rows)), book, 1, 1) == [
        "balance sheet, t=1: assets are 17000, liabilities and equity 16500",
    ]


def test_an_undeclared_close_is_found(book: Book) -> None:
    """Net income then differs from current-year earnings and from the change of equity."""
    assert faults(evolve(REPORTS, closings=()), book, 2, 2, 2) == [
        "balance sheet, t=2: current-year earnings are 101, net income since t=2 is -2399",
        "t=2 to t=2: equity changed by 101, but contributions are 0 and net income is -2399",
    ]


def test_a_missed_close_is_found() -> None:
    """Earnings of the year before are still in the accounts when a new year begins."""
    book = Book(*CHART)
    book.post(0, SALE, cash=7, sales=-7)
    book.post(1, SALE, cash=2, sales=-2)
    assert faults(REPORTS, book, 1, 1, 1) == [
        "balance sheet, t=1: current-year earnings are 9, net income since t=1 is 2",
    ]


def test_a_flow_outside_the_net_change_is_found(book: Book) -> None:
    """A cash-flow statement whose last total omits a row differs from the cash account."""
    rows = [*FLOWS.rows[:-1], Total("net_change", ("operating", "investing"))]
    assert faults(evolve(REPORTS, flows=Layout("flows", rows)), book, 2, 2) == [
        "flows, t=2 to t=2: net change is 101, cash changed by -899, its lines sum to -899",
    ]


def test_equity_from_an_undeclared_entry_is_found(book: Book) -> None:
    """Only the declared kinds of entries may contribute capital."""
    book.post(3, SALE, cash=9, capital=-9)
    assert faults(REPORTS, book, 3, 3) == [
        "t=3 to t=3: equity changed by 9, but contributions are 0 and net income is 0",
    ]


EVENTS = {
    "sale": (CASH, SALES),
    "payment": (BILLS, CASH),
    "purchase": (STAND, CASH),
    "L1": (CASH, LOAN),
    "founding": (CASH, CAPITAL),
    "J1": (LEMONS, BILLS),
    "J5": (DEPRECIATION, WEAR),
}


@given(
    st.lists(st.lists(st.tuples(st.sampled_from(sorted(EVENTS)), st.integers(-99, 99)))),
    st.integers(1, 4),
)
def test_any_story_articulates(months: list[list[tuple[str, int]]], year: int) -> None:
    """No month has a fault, for any events in any order and any length of a year."""
    book = Book(*CHART)
    for month, events in enumerate(months):
        if month and month % year == 0:
            close_year(book, CHART, month, RETAINED, CLOSE)
        for kind, amount in events:
            debit, credit = EVENTS[kind]
            book.post(month, Memo(kind, kind), {debit: amount, credit: -amount})
    for month in range(len(months)):
        assert faults(REPORTS, book, month, month, month - month % year) == []
