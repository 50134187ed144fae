"""Double entry: what a book accepts and refuses, and the balances afterwards."""

from collections.abc import Sequence
from hashlib import sha256
from math import inf, nan
from typing import Any, TypeAlias

import numpy as np
import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st
from support.cases import printed_alike

from ledgers.book import (
    Book,
    Entry,
    Memo,
    Unbalanced,
    UnknownAccount,
    WrongAmount,
    WrongEntry,
)
from ledgers.errors import LedgerError, WrongChart, WrongTime

Anything: TypeAlias = Any  # also what a book must refuse
NO_INTS = (True, 1.0, nan, inf, np.int64(1), "1", None)


@pytest.fixture
def book() -> Book:
    """Return a firm with 1,000 cents that has paid 300 in wages."""
    book = Book("cash", "equity", "wages")
    book.post(0, "founding", cash=1000, equity=-1000)
    book.post(5, "payroll", cash=-300, wages=300)
    return book


def state(book: Book) -> tuple[object, ...]:
    """Return everything that a reader of *book* can see."""
    return book.digest(), book.balances(), list(book.journal), book.balances(at=2)


def test_a_transfer_is_a_post_of_two_lines() -> None:
    """Balances, journal and digest are the same, also for a negative amount."""
    one, other = Book("cash", "wages"), Book("cash", "wages")
    one.post(1, "payroll", wages=500, cash=-500)
    one.post(2, "corrected", wages=-20, cash=20)
    other.transfer(1, "payroll", "wages", "cash", 500)
    other.transfer(2, "corrected", "wages", "cash", -20)
    assert other.balances() == one.balances() == {"cash": -480, "wages": 480}
    assert list(other.journal) == list(one.journal)
    assert other.digest() == one.digest()


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        ((1, "x", "wages", "wages", 5), WrongEntry),
        ((1, "x", "wagse", "cash", 5), UnknownAccount),
        ((1, "x", "wages", "cahs", 5), UnknownAccount),
        ((1, "x", "wages", "cash", 5.0), WrongAmount),
        ((1, "x", "wages", "cash", True), WrongAmount),
        ((-1, "x", "wages", "cash", 5), WrongTime),
        ((1.0, "x", "wages", "cash", 5), WrongTime),
        ((1, "\ud800", "wages", "cash", 5), WrongEntry),
    ],
)
def test_a_refused_transfer_changes_nothing(call: tuple[Any, ...], fault: type[Exception]) -> None:
    """A transfer raises the same errors as a post."""
    book = Book("cash", "wages")
    book.transfer(0, "before", "wages", "cash", 1)
    with pytest.raises(fault):
        book.transfer(*call)
    assert book.balances() == {"cash": -1, "wages": 1}
    assert len(book.journal) == 1


def test_a_memo_gives_an_entry_kind_and_references(book: Book) -> None:
    """An entry posted with a text alone has neither."""
    memo = Memo("payroll", "J10", {"employee": "ann"})
    book.post(6, memo, cash=-1, wages=1)
    book.transfer(7, memo, "wages", "cash", 2)
    payroll = ("payroll", {"cash": -1, "wages": 1}, "J10", {"employee": "ann"})
    assert book.journal[-2] == Entry(6, *payroll)
    assert [(e.kind, e.references) for e in book.journal[1:]] == [
        ("", {}),
        ("J10", {"employee": "ann"}),
        ("J10", {"employee": "ann"}),
    ]


def test_kind_and_references_are_not_in_the_digest() -> None:
    """A model that adds memos to its entries keeps the digests of its recorded episodes."""
    one, other = Book("cash"), Book("cash")
    one.post(0, Memo("payroll", "J10", {"employee": "ann"}), cash=0)
    other.post(0, "payroll", cash=0)
    assert one.digest() == other.digest()


@pytest.mark.parametrize(
    ("time", "text", "lines", "error", "sentence"),
    [
        (5, "x", {"csah": 0}, UnknownAccount, "no account is named 'csah'; did you mean 'cash'?"),
        (5, "x", {"Q": 0}, UnknownAccount, "no account is named 'Q'; there is cash, equity, wages"),
        (5, "x", {7: 0}, UnknownAccount, "no account is named 7; there is cash, equity, wages"),
        (
            5,
            "x",
            {"cash": 1, "wages": 1},
            Unbalanced,
            "entry 'x' must sum to zero, not to 2: cash=1, wages=1",
        ),
        (5, "x", {}, WrongEntry, "entry 'x' has no lines; name at least one account"),
        (
            5,
            "x",
            [("cash", 0)],
            WrongEntry,
            "amounts must be a mapping of accounts to ints, not [('cash', 0)]",
        ),
        (
            5,
            3,
            {"cash": 0},
            WrongEntry,
            "the text of an entry is a text that can be written, not 3",
        ),
        (
            5,
            "\ud800",
            {"cash": 0},
            WrongEntry,
            "the text of an entry is a text that can be written, not '\\ud800'",
        ),
        (4, "x", {"cash": 0}, WrongTime, "time must not run backwards: t=4 comes after t=5"),
        (5.0, "x", {"cash": 0}, WrongTime, "time must be an int, not 5.0 (float)"),
        (True, "x", {"cash": 0}, WrongTime, "time must be an int, not True (bool)"),
    ],
)
def test_refusals_say_what_was_given_and_what_is_possible(
    book: Book,
    time: Anything,
    text: Anything,
    lines: Anything,
    error: type[LedgerError],
    sentence: str,
) -> None:
    """A refused entry changes nothing, and SimPy's rebuilding keeps the sentence."""
    before = state(book)
    with pytest.raises(error) as refused:
        book.post(time, text, lines)
    assert str(refused.value) == str(type(refused.value)(*refused.value.args)) == sentence
    assert state(book) == before


@pytest.mark.parametrize(
    ("accounts", "digits", "sentence"),
    [
        ((), 2, "declare at least one account, in a list of names, not ()"),
        (("cash", ""), 2, "the name of an account is a text that can be written, not ''"),
        (("cash", 3), 2, "the name of an account is a text that can be written, not 3"),
        (("cash", "a", "cash"), 2, "each account is declared once, but cash came twice"),
        (("cash",), -1, "digits is the number of decimals, 0 or more, not -1"),
        (("cash",), 2.0, "digits is the number of decimals, 0 or more, not 2.0"),
    ],
)
def test_a_chart_must_be_usable(accounts: Anything, digits: Anything, sentence: str) -> None:
    """Missing, empty, unwritable and repeated names are refused, and negative digits."""
    with pytest.raises(WrongChart) as refused:
        Book(*accounts, digits=digits)
    assert str(refused.value) == sentence


def test_a_balance_at_a_time_includes_all_of_that_time(book: Book) -> None:
    """The balance includes all entries of the tick and none of the next."""
    book.post(5, "bonus", cash=-50, wages=50)
    book.post(6, "more", cash=-7, wages=7)
    assert [book.balance("wages", at=t) for t in (-1, 4, 5, 6, 99)] == [0, 0, 350, 357, 357]


def test_the_journal_is_a_sequence_that_grows_and_cannot_be_changed(book: Book) -> None:
    """A view shows entries posted after it was made; its records are copies."""
    journal = book.journal
    book.post(8, "x", cash=0)
    assert [entry.text for entry in journal] == ["founding", "payroll", "x"]
    assert journal[1:] == (journal[1], journal[-1])
    assert isinstance(journal, Sequence)
    journal[0].amounts["cash"] = 0  # type: ignore[index]
    assert journal[0].amounts == {"cash": 1000, "equity": -1000}


def test_a_trial_balance_reads_as_a_table(book: Book) -> None:
    """Debits and credits are columns with equal totals, to the cent."""
    table = book.trial_balance()
    assert dict(table.rows) == book.balances()
    assert (table.debits, table.credits) == (1000, 1000)
    assert str(table).splitlines() == [
        "account  debit  credit",
        "cash      7.00",
        "equity           10.00",
        "wages     3.00",
        "total    10.00   10.00",
    ]


@pytest.mark.parametrize(("digits", "money"), [(0, 1999.0), (2, 19.99), (3, 1.999)])
def test_money_is_the_float_nearest_to_the_amount(digits: int, money: float) -> None:
    """Units are divided once, so 1999 cents equal the literal 19.99."""
    assert Book("cash", digits=digits).money(1999) == money


def test_the_digest_never_changes(book: Book) -> None:
    """Records contain digests, so another version of the ledgers must compute the same."""
    written = (
        b'[[0,"founding",{"cash":1000,"equity":-1000}],[5,"payroll",{"cash":-300,"wages":300}]]'
    )
    assert book.digest() == sha256(written).hexdigest()


def test_the_digest_does_not_depend_on_the_hash_seed() -> None:
    """Two interpreters with different orders of sets compute the same digest."""
    lines = "from ledgers.book import Book; b = Book(*'abcdef')"
    script = f"{lines}; b.post(0, 'x', {{k: 0 for k in set('abcdef')}}); print(b.digest())"
    assert printed_alike(script) != b""


@pytest.mark.parametrize(
    ("time", "text", "lines"),
    [
        (1, "a", {"cash": 1, "wages": -1}),
        (0, "b", {"cash": 1, "wages": -1}),
        (0, "a", {"cash": 2, "wages": -2}),
        (0, "a", {"cash": 1, "equity": -1}),
        (0, "a", {"cash": 1, "wages": -1, "equity": 0}),
    ],
)
def test_the_digest_covers_every_part_of_an_entry(
    time: int, text: str, lines: dict[str, int]
) -> None:
    """Another time, text, amount, account or line gives another digest."""
    one, other = Book("cash", "equity", "wages"), Book("cash", "equity", "wages")
    one.post(0, "a", cash=1, wages=-1)
    other.post(time, text, lines)
    assert one.digest() != other.digest()


@frozen
class Attempt:
    """A post that may be refused; *delta* ticks after the attempt before."""

    delta: Anything
    text: str
    lines: dict[str, Anything]


ACCOUNTS = ("cash", "equity", "wages")
WHOLE = st.dictionaries(st.sampled_from(ACCOUNTS), st.integers(-9, 9) | st.integers(), min_size=1)
BALANCED = WHOLE.map(lambda lines: lines | {"cash": lines.get("cash", 0) - sum(lines.values())})
WRONG = st.dictionaries(
    st.sampled_from((*ACCOUNTS, "csah")), st.integers(-1, 1) | st.sampled_from(NO_INTS)
)
RIGHT = st.builds(Attempt, st.integers(0, 2), st.text(max_size=3), BALANCED)
ANY = st.builds(
    Attempt, st.sampled_from((-1, 0, 1, 0.5, nan)), st.text(max_size=3), BALANCED | WHOLE | WRONG
)


def right(attempt: Attempt, last: float, time: Anything) -> bool:
    """Return by the rules alone whether a post must be accepted."""
    values = list(attempt.lines.values())
    whole = all(type(value) is int for value in (*values, time))
    known = attempt.lines.keys() <= set(ACCOUNTS)
    return bool(values) and whole and known and sum(values) == 0 and time >= last


@given(st.lists(RIGHT | ANY, max_size=12))
def test_posts_keep_the_balance_and_refusals_change_nothing(attempts: list[Attempt]) -> None:
    """For any posts: the rules decide, balances sum to zero, and refusals change nothing."""
    book, clean, last = Book(*ACCOUNTS), Book(*ACCOUNTS), -inf
    for attempt in attempts:
        time = max(last, 0) + attempt.delta
        before = state(book)
        if right(attempt, last, time):
            book.post(time, attempt.text, attempt.lines)
            clean.post(time, attempt.text, attempt.lines)
            last = time
        else:
            with pytest.raises(LedgerError):
                book.post(time, attempt.text, attempt.lines)
            assert state(book) == before
        assert sum(book.balances().values()) == 0
        assert book.trial_balance().debits == book.trial_balance().credits
    assert state(book) == state(clean)


@given(st.lists(RIGHT, max_size=12), st.integers(-1, 25), st.sets(st.integers(0, 12)))
def test_balances_at_a_time_are_what_the_journal_says(
    attempts: list[Attempt], at: int, read: set[int]
) -> None:
    """The history equals a sum over the journal, whenever it is read in between."""
    book, time = Book(*ACCOUNTS), 0
    for number, attempt in enumerate(attempts):
        time += attempt.delta
        book.post(time, attempt.text, attempt.lines)
        if number in read:
            assert book.balances(at) == summed(book, at)
    assert book.balances(at) == summed(book, at)
    assert book.balances() == book.balances(at=time) == summed(book, time)


def summed(book: Book, at: int) -> dict[str, int]:
    """Return the balances by definition: the lines of all entries not after *at*."""
    entries = [entry for entry in book.journal if entry.time <= at]
    return {name: sum(entry.amounts.get(name, 0) for entry in entries) for name in book.accounts}


@given(
    st.lists(st.tuples(st.text(max_size=2), BALANCED), max_size=5).flatmap(
        lambda entries: st.tuples(st.just(entries), st.permutations(entries))
    )
)
def test_the_digest_covers_the_order_of_entries(
    orders: tuple[list[tuple[str, dict[str, int]]], list[tuple[str, dict[str, int]]]],
) -> None:
    """Two journals have equal digests exactly when they hold equal entries in equal order."""
    digests = []
    for entries in orders:
        book = Book(*ACCOUNTS)
        for text, lines in entries:
            book.post(0, text, lines)
        digests.append(book.digest())
    assert (digests[0] == digests[1]) == (orders[0] == orders[1])
