"""The checks of ledgers: they catch broken ones and do not disturb sound ones."""

import doctest
from fractions import Fraction
from inspect import unwrap
from typing import Any, TypeAlias

import pytest
from support.invariants import BrokenInvariant, checked
from support.paths import ROOT

from ledgers.book import Book, Unbalanced
from ledgers.errors import LedgerError
from ledgers.stock import Overdrawn, Stock

Anything: TypeAlias = Any  # also what is no post or move
README = ROOT / "ledgers" / "README.md"


@pytest.fixture
def book() -> Book:
    """Return a book with one entry."""
    book = Book("cash", "wages")
    book.post(0, "float", cash=10, wages=-10)
    return book


@pytest.fixture
def stock() -> Stock:
    """Return a stock with four units on a shelf."""
    stock = Stock(["shelf", "truck"], outside=["mill"])
    stock.open("shelf", 4)
    return stock


def test_a_balance_changed_behind_the_journal_is_caught(book: Book) -> None:
    """Every test runs with the checks; the sentence names the entry after which one failed."""
    book._balances["cash"] += 5
    with pytest.raises(BrokenInvariant) as broken:
        book.post(1, "tea", cash=-1, wages=1)
    assert str(broken.value) == ("after post(1, 'tea'), 'cash' holds 14 but its lines sum to 9")


def test_a_balance_changed_behind_the_journal_is_caught_at_a_refusal(book: Book) -> None:
    """A refused call is followed by the same check."""
    book._balances["cash"] += 5
    with pytest.raises(BrokenInvariant, match=r"^after the refused post\(1, 'tea'\), 'cash' hold"):
        book.post(1, "tea", cash=-1)


def unbalanced(book: Book, time: int, text: str, /, **lines: int) -> None:
    """Post without a look at the sum."""
    for account, amount in lines.items():
        book._balances[account] += amount
    book._rows.append((time, text, lines))
    book._memos.append(None)


def forgetful(book: Book, time: int, text: str, /, **lines: int) -> None:
    """Post without a journal."""


def hasty(book: Book, time: int, text: str, /, **lines: int) -> None:
    """Write the entry before it is refused."""
    book._rows.append((time, text, lines))
    book._memos.append(None)
    raise Unbalanced("too late")


@pytest.mark.parametrize(
    ("post", "sentence"),
    [
        (unbalanced, "after unbalanced(1, 'tea'), the balances sum to 3, not to zero"),
        (forgetful, "after forgetful(1, 'tea'), the journal gained 0 entries, not 1"),
        (hasty, "after the refused hasty(1, 'tea'), the journal gained 1 entries, not 0"),
    ],
)
def test_a_broken_post_is_caught(
    book: Book, monkeypatch: pytest.MonkeyPatch, post: Anything, sentence: str
) -> None:
    """A replaced `post` is checked as well."""
    monkeypatch.setattr(Book, "post", post)
    with checked(), pytest.raises(BrokenInvariant) as broken:
        book.post(1, "tea", cash=3)
    assert str(broken.value) == sentence


def leaky(stock: Stock, time: int, source: str, target: str, units: int) -> None:
    """Take units without adding them anywhere."""
    stock._held[source] -= units
    stock._rows.append((time, source, target, units))


def generous(stock: Stock, time: int, source: str, target: str, units: int) -> None:
    """Move units without a check of the source."""
    stock._held[source] -= units
    stock._held[target] += units
    stock._rows.append((time, source, target, units))


def forgotten(stock: Stock, time: int, source: str, target: str, units: int) -> None:
    """Move units without a journal."""
    stock._held[source] -= units
    stock._held[target] += units


@pytest.mark.parametrize(
    ("move", "units", "sentence"),
    [
        (leaky, 3, "'truck' holds 0 but its lines sum to 3"),
        (generous, 5, "'shelf' is inside and holds -1"),
        (generous, 0, "the journal gained 1 entries, not 0"),
        (forgotten, 1, "the journal gained 0 entries, not 1"),
    ],
)
def test_a_broken_move_is_caught(
    stock: Stock, monkeypatch: pytest.MonkeyPatch, move: Anything, units: int, sentence: str
) -> None:
    """A replaced `move` is checked as well."""
    monkeypatch.setattr(Stock, "move", move)
    with checked(), pytest.raises(BrokenInvariant) as broken:
        stock.move(1, "shelf", "truck", units)
    given = (1, "shelf", "truck", units)
    assert str(broken.value) == f"after {move.__name__}{given}, {sentence}"


def test_sound_ledgers_work_as_without_checks(book: Book, stock: Stock) -> None:
    """Entries of every sort are accepted, and refusals are raised unchanged."""
    book.post(1, "tea", {"cash": -1}, wages=1)
    stock.move(time=1, source="shelf", target="truck", units=Fraction(1, 2))
    stock.move(1, "truck", "mill", 0)
    with pytest.raises(Unbalanced):
        book.post(1, "tea", cash=1)
    with pytest.raises(Overdrawn):
        stock.move(1, "shelf", "truck", 4)
    assert (book.balance("cash"), stock["shelf"]) == (9, Fraction(7, 2))


def test_ledgers_older_than_the_checks_are_read_from_the_start(book: Book) -> None:
    """A ledger filled before the context was entered is checked against its whole journal."""
    with checked():
        book.post(1, "tea", cash=-1, wages=1)
        book._balances.update(cash=8, wages=-8)
        with pytest.raises(BrokenInvariant, match=r"'cash' holds 8 but its lines sum to 9$"):
            book.post(2, "nothing", cash=0)


def test_contexts_nest_and_restore_the_methods(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    """The outer one replaces the methods and restores them, also when left by an error."""
    for cls, name in ((Book, "post"), (Book, "transfer"), (Stock, "move")):
        monkeypatch.setattr(cls, name, unwrap(getattr(cls, name)))
    before = Book.post, Stock.move
    with checked():
        within = Book.post, Stock.move
        with pytest.raises(Unbalanced), checked():
            book.post(1, "tea", cash=1)
        assert (Book.post, Stock.move) == within
    assert within[0] is not before[0]
    assert within[1] is not before[1]
    assert (Book.post, Stock.move) == before


def test_a_broken_promise_is_not_a_refusal() -> None:
    """Code that catches refusals does not catch a broken ledger."""
    assert not issubclass(BrokenInvariant, LedgerError)


def test_the_examples_of_the_readme_run() -> None:
    """Every example of README.md prints what the page shows."""
    text = README.read_text(encoding="utf-8")
    page = doctest.DocTestParser().get_doctest(text, {}, "README", str(README), 0)
    results = doctest.DocTestRunner().run(page)
    assert results.failed == 0
    assert results.attempted > 10
