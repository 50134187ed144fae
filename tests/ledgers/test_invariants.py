"""The check of ledgers at the end of every episode of a test finds a broken one."""

import doctest

from support.invariants import ledger_faults
from support.paths import ROOT

from ledgers.book import Book
from ledgers.stock import Stock

README = ROOT / "ledgers" / "README.md"


def test_a_balance_changed_behind_the_journal_is_found() -> None:
    """In a book and in a stock."""
    book = Book("cash", "wages")
    book.post(0, "float", cash=10, wages=-10)
    assert [*ledger_faults(book)] == []
    book._balances["cash"] += 5
    lost = ["'cash' holds 15 but its lines sum to 10", "the balances sum to 5, not to zero"]
    assert [*ledger_faults(book)] == lost
    stock = Stock(["shelf"], outside=["mill"])
    stock.open("shelf", 4)
    assert [*ledger_faults(stock)] == []
    stock._held["shelf"] -= 5
    assert "'shelf' is inside and holds -1" in [*ledger_faults(stock)]


def test_the_examples_of_the_readme_run() -> None:
    """Every example of README.md prints what the page shows."""
    text = README.read_text(encoding="utf-8")
    page = doctest.DocTestParser().get_doctest(text, {}, "README", str(README), 0)
    results = doctest.DocTestRunner().run(page)
    assert results.failed == 0
    assert results.attempted > 10
