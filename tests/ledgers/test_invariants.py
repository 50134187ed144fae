"""The checks of ledgers: they catch broken ones and do not disturb sound ones."""

import doctest
from typing import Any, TypeAlias

import pytest
from support.invariants import BrokenInvariant, checked
from support.paths import ROOT

from ledgers.book import Book, Unbalanced
from ledgers.stock import Stock

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


def test_the_examples_of_the_readme_run() -> None:
    """Every example of README.md prints what the page shows."""
    text = README.read_text(encoding="utf-8")
    page = doctest.DocTestParser().get_doctest(text, {}, "README", str(README), 0)
    results = doctest.DocTestRunner().run(page)
    assert results.failed == 0
    assert results.attempted > 10
