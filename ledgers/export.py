"""What the text forms of a ledger share: dates of ticks, references as text, CSV tables.

Source of the CSV form: RFC 4180.
"""

import csv
import datetime as dt
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import msgspec

from ledgers.accounts import Account
from ledgers.amounts import decimal
from ledgers.entry import Entry
from ledgers.errors import WrongExport
from ledgers.journal import Journal
from ledgers.trial_balance import TrialBalance

__all__ = ["Accounts", "Dates", "Row", "day_of", "references_text", "table", "two_sides"]

#: Returns the day of a tick; ticks of opening entries may be negative.
Dates: TypeAlias = Callable[[int], dt.date]

Row: TypeAlias = Sequence[Any]


class Accounts(Protocol):
    """What the text forms of a book are made from; `Book` has it all."""

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
    """Return an amount as two cells, debit and credit, one of which is empty."""
    amount = decimal(abs(units), digits)
    return ("", amount) if units < 0 else (amount, "")


def references_text(entry: Entry) -> str:
    """Return an entry's references as a JSON object, or an empty text if there are none."""
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
