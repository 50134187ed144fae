"""The year-end close: income and expenses move to retained earnings, and start again at zero."""

from ledgers.book import Book, WrongEntry
from ledgers.chart import Chart

__all__ = ["close_year"]


def close_year(
    book: Book, chart: Chart, time: int, into: str, text: str = "close of the year"
) -> int:
    """Empty every income and expense account, one entry each; those at zero are passed over.

    Args:
        book: The book to close.
        chart: What its accounts are.
        time: Ticks, not before the last entry.
        into: Code of the equity account that takes the earnings.
        text: Of every entry; its first word is the name by which statements leave them out.

    Returns:
        What was earned since the last close: units, a loss is negative.

    Raises:
        WrongEntry: *into* is no equity account.
        LedgerError: As `Book.post` does; the book is then as it was.
    """
    if chart[into].kind != "equity":
        raise WrongEntry(f"a year is closed into an equity account, not into {into!r}")
    balances = {account: book.balance(account) for account in (*chart.temporary, into)}
    del balances[into]
    for account, balance in balances.items():
        if balance:
            book.post(time, text, {account: -balance, into: balance})
    return -sum(balances.values())
