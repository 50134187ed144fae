"""Parts of every text form of a ledger: dates of ticks, references as text, CSV tables.

Source of the CSV form: RFC 4180.

A book as CSV tables: the journal, one row a line of an entry, and the trial balance.

A stock as CSV tables: its moves, and the holdings of every place.
"""

import csv
import datetime as dt
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, Protocol, TypeAlias

import msgspec

from ledgers.accounts import Account, TrialBalance, decimal, exact
from ledgers.entry import Entry, Journal
from ledgers.errors import WrongExport

#: Returns the day of a tick; ticks of opening entries may be negative.
Dates: TypeAlias = Callable[[int], dt.date]


Row: TypeAlias = Sequence[Any]


class Accounts(Protocol):
    """The members of a book that its text forms read."""

    @property
    def accounts(self) -> tuple[str, ...]:
        """Codes of the accounts, in order."""
        ...

    @property
    def declared(self) -> Mapping[str, Account]:
        """The accounts declared with a name and a kind, by code."""
        ...

    @property
    def digits(self) -> int:
        """Decimals of the currency that one integer unit is."""
        ...

    @property
    def journal(self) -> Journal[Entry]:
        """Every entry, oldest first."""
        ...

    def trial_balance(self) -> TrialBalance:
        """Return every account's balance now."""
        ...


def table(columns: Sequence[str], rows: Iterable[Row]) -> str:
    """Return a CSV table: a line of column names, then one line a row, with CRLF line ends."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def two_sides(units: int, digits: int) -> tuple[str, str]:
    """Return an amount as a debit cell and a credit cell; one of the two is empty."""
    amount = decimal(abs(units), digits)
    return ("", amount) if units < 0 else (amount, "")


def references_text(entry: Entry) -> str:
    """Return an entry's references as a JSON object, or an empty text without references."""
    return msgspec.json.encode(dict(entry.references)).decode() if entry.references else ""


def day_of(date: Dates, tick: int) -> dt.date:
    """Return the day of a tick.

    Raises:
        WrongExport: *date* returned something else than a `datetime.date`.
    """
    day = date(tick)
    if not isinstance(day, dt.date):
        raise WrongExport(f"date({tick}) must be a datetime.date, not {day!r}")
    return day.date() if isinstance(day, dt.datetime) else day


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


#: Units are exact: a decimal where it is finite, else a fraction such as 1/3.
MOVE_COLUMNS: Final = ("time", "date", "move", "source", "target", "units")


HOLDING_COLUMNS: Final = ("place", "side", "units")


#: Time, source, target and units of a move.
Moved: TypeAlias = tuple[int, str, str, int | Fraction]


def moves_table(moves: Iterable[Moved], date: Dates | None = None) -> str:
    """Return moves with `MOVE_COLUMNS`, numbered from 1.

    Raises:
        WrongExport: *date* returned no date.
    """
    return table(MOVE_COLUMNS, _moves(moves, date))


def holdings_table(held: Mapping[str, int | Fraction], inside: Iterable[str]) -> str:
    """Return the units at every place with `HOLDING_COLUMNS`; side is "inside" or "outside"."""
    within = frozenset(inside)
    rows = (
        (place, "inside" if place in within else "outside", exact(units))
        for place, units in held.items()
    )
    return table(HOLDING_COLUMNS, rows)


def _moves(moves: Iterable[Moved], date: Dates | None) -> Iterator[Row]:
    for number, (time, source, target, units) in enumerate(moves, 1):
        day = "" if date is None else day_of(date, time).isoformat()
        yield (time, day, number, source, target, exact(units))
