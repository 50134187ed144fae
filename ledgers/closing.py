"""The year-end close: moves income and expenses to retained earnings."""

from ledgers.book import Book
from ledgers.chart import Chart
from ledgers.entry import Memo, WrongEntry

__all__ = ["close_year"]


def close_year(
    book: Book, chart: Chart, time: int, into: str, memo: str | Memo = "close of the year"
) -> int:
    """Bring every income and expense account to zero.

    Posts one entry an account, in the order of the chart, and none for an account at zero.

    Args:
        book: The book to close.
        chart: The accounts of the book.
        time: Ticks, not before the last entry.
        into: Code of the equity account that receives the earnings.
        memo: Of every entry; statements leave closing entries out by the memo's kind.

    Returns:
        The earnings since the last close, in units; a loss is negative.

    Raises:
        WrongEntry: *into* is not an equity account.
        LedgerError: As `Book.post`; the book is then unchanged.
    """
    if chart[into].kind != "equity":
        raise WrongEntry(f"a year is closed into an equity account, not into {into!r}")
    book.balance(into)  # raises before the first entry if the book has no such account
    balances = {account: book.balance(account) for account in chart.temporary}
    for account, balance in balances.items():
        if balance:
            book.transfer(time, memo, into, account, balance)
    return -sum(balances.values())
