"""Double entry: what a book accepts and refuses, and the balances afterwards."""

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from enum import StrEnum
from hashlib import sha256
from math import inf, nan
from typing import Any, TypeAlias

import numpy as np
import pytest
from attrs import frozen
from attrs.exceptions import FrozenInstanceError
from hypothesis import given
from hypothesis import strategies as st
from support.cases import stable
from support.paths import PYTHONPATH

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


def test_a_live_view_follows_every_entry(book: Book) -> None:
    """The view shows the present balances and is read-only."""
    held = book.held
    assert dict(held) == book.balances()
    book.post(9, "payroll", cash=-200, wages=200)
    assert (held["cash"], held["wages"]) == (500, 500)
    with pytest.raises(TypeError):
        held["cash"] = 0  # type: ignore[index]


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


def test_post_moves_the_balances_of_the_accounts_named(book: Book) -> None:
    """An entry adds each of its lines to the account of that line alone."""
    assert book.balances() == {"cash": 700, "equity": -1000, "wages": 300}
    assert book.balance("wages") == 300


def test_names_with_dots_come_in_a_mapping_beside_keywords() -> None:
    """Mapping and keywords are lines of the same entry."""
    book = Book("holding.retailer", "cash")
    book.post(1, "storage", {"holding.retailer": 50}, cash=-50)
    assert book.journal[0] == Entry(1, "storage", {"holding.retailer": 50, "cash": -50})


def test_the_given_mapping_is_copied() -> None:
    """Changing a mapping after posting it does not change the journal."""
    book = Book("cash", "wages")
    lines = {"cash": -1, "wages": 1}
    book.post(0, "payroll", lines)
    lines["cash"] = 5
    assert book.journal[0].amounts == {"cash": -1, "wages": 1}


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


def test_a_memo_is_a_value() -> None:
    """A reader of the journal cannot change the memo of an entry."""
    memo = Memo("payroll", "J10", {"employee": "ann"})
    book = Book("cash")
    book.post(0, memo, cash=0)
    book.journal[0].references["employee"] = "bob"  # type: ignore[index]
    assert book.journal[0].references == {"employee": "ann"}
    assert memo == Memo("payroll", "J10", {"employee": "ann"})
    assert len({memo, Memo("payroll", "J10", {"employee": "ann"})}) == 1
    with pytest.raises(FrozenInstanceError):
        memo.kind = "J11"  # type: ignore[misc]


@pytest.mark.parametrize("text", [3, "\ud800"])
def test_a_memo_holds_a_text_that_can_be_written(book: Book, text: Anything) -> None:
    """A memo that no file could hold is refused when it is posted."""
    with pytest.raises(WrongEntry, match=r"^the text of an entry is a text that can be written"):
        book.post(9, Memo(text, "J1"), cash=0)


def test_refusals_show_the_text_of_a_memo(book: Book) -> None:
    """The sentence about a memo's entry is the one about its text."""
    memo = Memo("x", "J1")
    with pytest.raises(Unbalanced, match=r"^entry 'x' must sum to zero, not to 1: cash=1$"):
        book.post(9, memo, cash=1)
    with pytest.raises(WrongEntry, match=r"^entry 'x' needs two accounts, not 'cash' twice$"):
        book.transfer(9, memo, "cash", "cash", 1)


def test_kind_and_references_are_not_in_the_digest() -> None:
    """A model that adds memos to its entries keeps the digests of its recorded episodes."""
    one, other = Book("cash"), Book("cash")
    one.post(0, Memo("payroll", "J10", {"employee": "ann"}), cash=0)
    other.post(0, "payroll", cash=0)
    assert one.digest() == other.digest()


def test_zero_lines_are_allowed_and_kept(book: Book) -> None:
    """A line of zero is recorded like any other."""
    book.post(6, "nothing due", cash=0)
    assert book.journal[-1] == Entry(6, "nothing due", {"cash": 0})


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


@pytest.mark.parametrize("amount", NO_INTS, ids=stable)
def test_only_ints_are_amounts(book: Book, amount: Anything) -> None:
    """Every other type is refused, on any line of the entry."""
    before = state(book)
    for lines in ({"cash": amount, "wages": -1}, {"wages": -1, "cash": amount}):
        with pytest.raises(WrongAmount, match=r"^the amount for 'cash' must be an int, not "):
            book.post(9, "x", lines)
    assert state(book) == before


def test_an_account_is_named_once(book: Book) -> None:
    """An account in both mapping and keywords is refused, even with equal amounts."""
    with pytest.raises(WrongEntry, match=r"^each account is named once, but cash came twice$"):
        book.post(9, "x", {"cash": 0, "wages": 0}, cash=0)


def test_a_refused_post_does_not_move_the_time(book: Book) -> None:
    """After a refusal at t=9, an entry at t=6 is accepted."""
    with pytest.raises(Unbalanced):
        book.post(9, "x", cash=1)
    book.post(6, "x", cash=0)
    assert book.journal[-1].time == 6


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


def test_past_balances_follow_later_posts(book: Book) -> None:
    """Reading a past balance between posts does not make later readings stale."""
    assert book.balance("cash", at=7) == 700
    book.post(7, "sale", cash=40, equity=-40)
    assert book.balance("cash", at=7) == 740
    assert book.balances(at=5) == {"cash": 700, "equity": -1000, "wages": 300}


@pytest.mark.parametrize("at", [1.0, True, "1"], ids=stable)
def test_the_tick_of_a_balance_is_an_int(book: Book, at: Anything) -> None:
    """A time that no entry can have is refused."""
    with pytest.raises(WrongTime, match=r"^the tick of a balance must be an int"):
        book.balance("cash", at)


@pytest.mark.parametrize("account", ["Cash", ["cash"], None], ids=stable)
def test_balances_of_unknown_accounts_are_refused(book: Book, account: Anything) -> None:
    """A misspelt account is an error, not a balance of zero."""
    with pytest.raises(UnknownAccount):
        book.balance(account)


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


def test_a_trial_balance_is_exact_beyond_floats() -> None:
    """Amounts that no float can hold are written with all digits, for any number of decimals."""
    book = Book("a", "b", digits=3)
    book.post(0, "x", a=10**20 + 1, b=-(10**20) - 1)
    assert "100,000,000,000,000,000.001" in str(book.trial_balance(at=0))
    whole = Book("a", "b", digits=0)
    whole.post(0, "x", a=1234, b=-1234)
    assert str(whole.trial_balance()).splitlines()[-1].split() == ["total", "1,234", "1,234"]


@pytest.mark.parametrize(("digits", "money"), [(0, 1999.0), (2, 19.99), (3, 1.999)])
def test_money_is_the_float_nearest_to_the_amount(digits: int, money: float) -> None:
    """Units are divided once, so 1999 cents equal the literal 19.99."""
    assert Book("cash", digits=digits).money(1999) == money


def test_accounts_and_digits_can_be_read(book: Book) -> None:
    """They are as declared, and `repr` shows the size."""
    assert (book.accounts, book.digits) == (("cash", "equity", "wages"), 2)
    assert repr(book) == "<Book of 3 accounts and 2 entries>"


def test_a_pickled_book_is_an_independent_copy(book: Book) -> None:
    """A copy has the same entries, and later entries of one are not in the other."""
    book.post(5, Memo("nothing", "J1", {"month": 1}), cash=0)
    copy = pickle.loads(pickle.dumps(book))  # noqa: S301 (our own bytes)
    assert state(copy) == state(book)
    copy.post(9, "x", cash=1, wages=-1)
    assert (copy.balance("cash"), book.balance("cash")) == (701, 700)
    with pytest.raises(WrongTime):
        copy.post(8, "x", cash=0)


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
    digests = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": PYTHONPATH},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


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


def test_texts_of_a_str_enum_become_plain_texts() -> None:
    """A member of a StrEnum is its value, in the journal and in the digest."""

    class Kind(StrEnum):
        PAYROLL = "payroll"

    one, other = Book("cash"), Book("cash")
    one.post(0, Kind.PAYROLL, cash=0)
    other.post(0, "payroll", cash=0)
    assert type(one.journal[0].text) is str
    assert one.digest() == other.digest()


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


@given(BALANCED, st.randoms(use_true_random=False))
def test_the_digest_ignores_the_order_of_lines(lines: dict[str, int], chance: Anything) -> None:
    """Entries with the same lines in another order are the same entry."""
    shuffled = list(lines.items())
    chance.shuffle(shuffled)
    one, other, third = Book(*ACCOUNTS), Book(*ACCOUNTS), Book(*reversed(ACCOUNTS))
    one.post(0, "x", lines)
    other.post(0, "x", dict(shuffled))
    third.post(0, "x", **dict(shuffled))
    assert one.digest() == other.digest() == third.digest()


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
