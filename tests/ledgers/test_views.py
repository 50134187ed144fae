"""The accrual view and the cash view of one journal."""

from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.lemonade import BILLS, CASH, CASH_VIEW, lemonade

from ledgers.book import Book, Memo, UnknownAccount
from ledgers.errors import WrongTime
from ledgers.views import (
    CashLine,
    CashView,
    LedgerLine,
    Unclassified,
    apportion,
    general_ledger,
)

Anything: TypeAlias = Any


@pytest.fixture
def book() -> Book:
    """Return the books of the lemonade stand."""
    return lemonade()


def test_a_span_finds_the_entries_of_a_period(book: Book) -> None:
    """Both ends of a period are included whole; an end that is not given is the journal's."""
    journal = book.journal
    assert journal.span(0, 0) == range(1, 4)
    assert journal.span(1, 2) == range(4, len(journal))
    assert journal.span(until=-1) == range(1)
    assert journal.span() == range(len(journal))
    assert len(journal.span(7, 9)) == len(journal.span(-9, -2)) == 0


@pytest.mark.parametrize(
    ("since", "until", "sentence"),
    [
        (2, 1, "a period must not end before it begins: t=2 to t=1"),
        (0.0, 1, "the ends of a period are whole ticks, not 0.0"),
        (0, True, "the ends of a period are whole ticks, not True"),
    ],
)
def test_a_period_has_whole_ticks_in_order(
    book: Book, since: Anything, until: Anything, sentence: str
) -> None:
    """An impossible period is an error, not an empty period."""
    with pytest.raises(WrongTime) as refused:
        book.journal.span(since, until)
    assert str(refused.value) == sentence


@given(
    times=st.lists(st.integers(-3, 8)).map(sorted),
    ends=st.tuples(st.integers(-4, 9), st.integers(-4, 9)).map(sorted),
)
def test_a_span_is_what_a_walk_finds(times: list[int], ends: list[int]) -> None:
    """For any times, the span holds the entries between its ends and no others."""
    book = Book("a")
    for time in times:
        book.post(time, "x", a=0)
    span = book.journal.span(*ends)
    within = [number for number, time in enumerate(times) if ends[0] <= time <= ends[1]]
    assert list(span) == within


def test_a_general_ledger_carries_the_balance_along(book: Book) -> None:
    """Each line of an account comes with the balance after it."""
    assert general_ledger(book, BILLS) == (
        LedgerLine(0, 3, "lemons on credit", -30_00, -30_00),
        LedgerLine(1, 5, "bills paid", 30_00, 0),
    )
    cash = general_ledger(book, CASH, 1, 1)
    assert cash == (
        LedgerLine(1, 5, "bills paid", -30_00, 80_25),
        LedgerLine(1, 6, "sale of the month", 9_75, 90_00),
    )


def test_the_cash_view_lists_what_moved_cash(book: Book) -> None:
    """Entries without cash are left out; the others have a category and the amount of cash."""
    assert CASH_VIEW.lines(book, 0, 1) == (
        CashLine(0, 2, "stand bought, half of it with a loan", "equipment", -40_00),
        CashLine(0, 4, "sale of the month", "customers", 50_25),
        CashLine(1, 5, "bills paid", "suppliers", -30_00),
        CashLine(1, 6, "sale of the month", "customers", 9_75),
    )


def test_an_entry_is_split_by_its_other_accounts() -> None:
    """A pair of kind and account applies before the kind alone, and that before the account."""
    book = Book("cash", "principal", "interest", "fees")
    collections = Memo("collections", "J3")
    book.post(0, collections, cash=100, principal=-70, interest=-20, fees=-10)
    book.post(0, Memo("fee", "J4"), cash=5, fees=-5)
    view = CashView("cash", {("J3", "interest"): "interest", "J3": "principal", "fees": "fees"})
    assert view.lines(book) == (
        CashLine(0, 1, "collections", "principal", 80),
        CashLine(0, 1, "collections", "interest", 20),
        CashLine(0, 2, "fee", "fees", 5),
    )
    assert view.flows(book) == {"interest": 20, "principal": 80, "fees": 5}


def test_cash_that_moves_without_a_category_is_refused(book: Book) -> None:
    """No movement is left out of the cash view silently."""
    with pytest.raises(Unclassified) as refused:
        CashView(CASH, {"founding": "owners"}).lines(book)
    assert str(refused.value) == (
        "entry 'stand bought, half of it with a loan' at t=0 moves cash against 'stand', "
        "for which no category is declared"
    )
    with pytest.raises(UnknownAccount):
        CashView("csah", {}).lines(book)


@given(st.lists(st.tuples(st.integers(-99, 99), st.integers(-99, 99)), max_size=12))
def test_flows_are_the_movement_of_the_cash_account(amounts: list[tuple[int, int]]) -> None:
    """For any other lines of an entry, the categories sum to the cash line."""
    book = Book("cash", "a", "b")
    for time, (a, b) in enumerate(amounts):
        book.post(time, "x", cash=a + b, a=-a, b=-b)
    view = CashView("cash", {"a": "A", "b": "B"})
    assert sum(view.flows(book).values()) == book.balance("cash")
    for line in general_ledger(book, "cash"):
        assert sum(part.amount for part in view.lines(book, line.time, line.time)) == line.amount


def test_an_amount_is_apportioned_by_largest_remainders() -> None:
    """Parts sum to the amount; the largest remainders are rounded up, the first of equal ones."""
    assert apportion(100, {"a": 1, "b": 1, "c": 1}) == {"a": 34, "b": 33, "c": 33}
    assert apportion(-101, {"a": 25, "b": 0, "c": 75}) == {"a": -25, "b": 0, "c": -76}
    assert apportion(0, {"a": 1}) == {"a": 0}


@given(
    amount=st.integers(),
    shares=st.dictionaries(st.text(), st.integers(0, 10**6)).filter(lambda s: sum(s.values())),
)
def test_apportioning_is_exact_and_fair(amount: int, shares: dict[str, int]) -> None:
    """The parts sum to the amount, and each is within one unit of its exact share."""
    parts = apportion(amount, shares)
    assert sum(parts.values()) == amount
    total = sum(shares.values())
    assert all(abs(parts[tag] * total - amount * shares[tag]) < total for tag in shares)
