"""The accrual view and the cash view of one journal."""

import sys
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from lemonade import CASH, lemonade

from ledgers.book import Book, Entry, UnknownAccount
from ledgers.journal import LedgerError, WrongTime
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


@pytest.mark.parametrize(
    ("text", "name"),
    [("J3 collections", "J3"), ("payroll", "payroll"), ("", ""), ("  J3\tx", "J3"), (" ", "")],
)
def test_an_entry_is_named_by_its_first_word(text: str, name: str) -> None:
    """The name is read from the text and is nowhere else."""
    assert Entry(0, text, {}).name == name


def test_a_span_finds_the_entries_of_a_period(book: Book) -> None:
    """Both ends of a period count whole; an end that is not given is the journal's."""
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
        (0.0, 1, "a period is asked for in whole ticks, not with 0.0"),
        (0, True, "a period is asked for in whole ticks, not with True"),
    ],
)
def test_a_period_has_whole_ticks_in_order(
    book: Book, since: Anything, until: Anything, sentence: str
) -> None:
    """A period that cannot be is a mistake, not an empty one."""
    with pytest.raises(WrongTime) as refused:
        book.journal.span(since, until)
    assert str(refused.value) == sentence


@given(
    times=st.lists(st.integers(-3, 8)).map(sorted),
    ends=st.tuples(st.integers(-4, 9), st.integers(-4, 9)).map(sorted),
)
def test_a_span_is_what_a_walk_finds(times: list[int], ends: list[int]) -> None:
    """Whatever the times, the span holds the entries between its ends and no others."""
    book = Book("a")
    for time in times:
        book.post(time, "x", a=0)
    span = book.journal.span(*ends)
    found = [number for number, time in enumerate(times) if ends[0] <= time <= ends[1]]
    assert list(span) == found


def test_a_general_ledger_carries_the_balance_along(book: Book) -> None:
    """Each line of an account stands with the balance it leaves behind."""
    assert general_ledger(book, "bills") == (
        LedgerLine(0, 3, "J1 lemons on credit", -30_00, -30_00),
        LedgerLine(1, 5, "bills paid", 30_00, 0),
    )
    cash = general_ledger(book, "cash", 1, 1)
    assert cash == (
        LedgerLine(1, 5, "bills paid", -30_00, 80_25),
        LedgerLine(1, 6, "sale of the month", 9_75, 90_00),
    )


@pytest.mark.parametrize("account", ["cash", "wear", "sales"])
def test_a_general_ledger_ends_at_the_balance(book: Book, account: str) -> None:
    """The last balance of the whole ledger is what the book says."""
    assert general_ledger(book, account)[-1].balance == book.balance(account)


def test_a_general_ledger_of_no_account_is_refused(book: Book) -> None:
    """A misspelt account has no ledger, with or without a beginning."""
    for since in (None, 0):
        with pytest.raises(UnknownAccount):
            general_ledger(book, "csah", since)


def test_the_cash_view_lists_what_moved_cash(book: Book) -> None:
    """Entries without cash are not there; the others have a category and the amount of cash."""
    assert CASH.lines(book, 0, 1) == (
        CashLine(0, 2, "stand bought, half of it with a loan", "equipment", -40_00),
        CashLine(0, 4, "sale of the month", "customers", 50_25),
        CashLine(1, 5, "bills paid", "suppliers", -30_00),
        CashLine(1, 6, "sale of the month", "customers", 9_75),
    )


def test_an_entry_is_split_by_the_accounts_beside_cash() -> None:
    """A pair of entry and account decides before the entry's name, and that before the account."""
    book = Book("cash", "principal", "interest", "fees")
    book.post(0, "J3 collections", cash=100, principal=-70, interest=-20, fees=-10)
    book.post(0, "J4 fee", cash=5, fees=-5)
    view = CashView("cash", {("J3", "interest"): "interest", "J3": "principal", "fees": "fees"})
    assert view.lines(book) == (
        CashLine(0, 1, "J3 collections", "principal", 80),
        CashLine(0, 1, "J3 collections", "interest", 20),
        CashLine(0, 2, "J4 fee", "fees", 5),
    )
    assert view.flows(book) == {"interest": 20, "principal": 80, "fees": 5}


def test_every_category_is_in_the_flows(book: Book) -> None:
    """A category in which nothing moved has a flow of zero."""
    assert CASH.flows(book, 1, 1) == {
        "customers": 9_75,
        "suppliers": -30_00,
        "equipment": 0,
        "lender": 0,
        "owners": 0,
    }


def test_cash_that_moves_for_an_unknown_reason_is_refused(book: Book) -> None:
    """Nothing falls silently out of the cash view."""
    with pytest.raises(Unclassified) as refused:
        CashView("cash", {"founding": "owners"}).lines(book)
    assert str(refused.value) == (
        "entry 'stand bought, half of it with a loan' at t=0 moves cash against 'stand', "
        "for which no category is declared"
    )
    with pytest.raises(UnknownAccount):
        CashView("csah", {}).lines(book)


@given(st.lists(st.tuples(st.integers(-99, 99), st.integers(-99, 99)), max_size=12))
def test_flows_are_the_movement_of_the_cash_account(amounts: list[tuple[int, int]]) -> None:
    """Whatever stands beside cash in an entry, the categories sum to the cash line."""
    book = Book("cash", "a", "b")
    for time, (a, b) in enumerate(amounts):
        book.post(time, "x", cash=a + b, a=-a, b=-b)
    view = CashView("cash", {"a": "A", "b": "B"})
    assert sum(view.flows(book).values()) == book.balance("cash")
    for line in general_ledger(book, "cash"):
        assert sum(part.amount for part in view.lines(book, line.time, line.time)) == line.amount


def test_a_view_keeps_its_own_categories() -> None:
    """Changing the mapping a view was made from does not change the view."""
    given_categories = {"x": "A"}
    view = CashView("cash", given_categories)
    given_categories["x"] = "B"
    assert view.categories == {"x": "A"}


def test_an_amount_is_apportioned_by_largest_remainders() -> None:
    """Parts sum to the amount; what rounding leaves goes to the largest remainders, first come."""
    assert apportion(100, {"a": 1, "b": 1, "c": 1}) == {"a": 34, "b": 33, "c": 33}
    assert apportion(-101, {"a": 25, "b": 0, "c": 75}) == {"a": -25, "b": 0, "c": -76}
    assert apportion(0, {"a": 1}) == {"a": 0}


@given(
    amount=st.integers(),
    shares=st.dictionaries(st.text(), st.integers(0, 10**6)).filter(lambda s: sum(s.values())),
)
def test_apportioning_is_exact_and_fair(amount: int, shares: dict[str, int]) -> None:
    """Nothing is lost, and every part is within one unit of its exact share."""
    parts = apportion(amount, shares)
    assert sum(parts.values()) == amount
    total = sum(shares.values())
    assert all(abs(parts[tag] * total - amount * shares[tag]) < total for tag in shares)


@pytest.mark.parametrize("shares", [{}, {"a": 0}, {"a": 2, "b": -1}, {"a": 0.5}], ids=repr)
def test_shares_must_divide(shares: Anything) -> None:
    """Weights that divide nothing are refused."""
    with pytest.raises(LedgerError, match=r"^shares are ints, 0 or more and not all 0, not \{"):
        apportion(1, shares)
