"""A book as CSV tables: the journal, one row a line of an entry, and the trial balance."""

from collections.abc import Iterator
from typing import Final

from ledgers.amounts import decimal
from ledgers.export import Accounts, Dates, Row, day_of, references_text, table, two_sides

__all__ = ["BALANCE_COLUMNS", "JOURNAL_COLUMNS", "journal_table", "trial_balance_table"]

#: One row a line of an entry; `entry` counts from 1, `references` is a JSON object or empty.
JOURNAL_COLUMNS: Final = (
    *("time", "date", "entry", "kind", "text", "code", "account", "debit", "credit"),
    "references",
)

BALANCE_COLUMNS: Final = ("code", "account", "kind", "debit", "credit")


def journal_table(book: Accounts, date: Dates | None = None) -> str:
    """Return the journal with `JOURNAL_COLUMNS`, amounts in the currency.

    Args:
        book: The book.
        date: Returns the day of a tick; without it the column `date` is empty.

    Raises:
        WrongExport: *date* returned no date.
    """
    return table(JOURNAL_COLUMNS, _lines(book, date))


def trial_balance_table(book: Accounts) -> str:
    """Return the balances with `BALANCE_COLUMNS` and a last row of totals, in the currency.

    An account declared by its code alone has that code as its name, and no kind.
    """
    return table(BALANCE_COLUMNS, _balances(book))


def _lines(book: Accounts, date: Dates | None) -> Iterator[Row]:
    names = {code: _name(book, code) for code in book.accounts}
    for number, entry in enumerate(book.journal, 1):
        day = "" if date is None else day_of(date, entry.time).isoformat()
        head = (entry.time, day, number, entry.kind, entry.text)
        references = references_text(entry)
        for code, units in entry.amounts.items():
            yield (*head, code, names[code], *two_sides(units, book.digits), references)


def _balances(book: Accounts) -> Iterator[Row]:
    trial = book.trial_balance()
    for code, units in trial.rows:
        kind = book.declared[code].kind if code in book.declared else ""
        yield (code, _name(book, code), kind, *two_sides(units, book.digits))
    totals = (decimal(total, book.digits) for total in (trial.debits, trial.credits))
    yield ("", "total", "", *totals)


def _name(book: Accounts, code: str) -> str:
    return book.declared[code].name if code in book.declared else code
