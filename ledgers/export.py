"""The journal in forms that others read: a Beancount file, and a table of comma-separated values.

Sources: Beancount Language Syntax (beancount.github.io/docs) for directives, names of accounts and
currencies; RFC 4180 for the table.
"""

import csv
import datetime as dt
import io
import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Final, TypeAlias

from ledgers.book import Book, Entry
from ledgers.chart import Account, Chart
from ledgers.journal import LedgerError, written

__all__ = ["COLUMNS", "Dates", "WrongExport", "beancount_names", "save", "to_beancount", "to_csv"]

#: Tells the day of a tick.
Dates: TypeAlias = Callable[[int], dt.date]

#: Of the table, one row a line of the journal.
COLUMNS: Final = ("time", "date", "entry", "text", "code", "account", "debit", "credit")

_ROOTS: Final = {
    "asset": "Assets",
    "contra_asset": "Assets",
    "liability": "Liabilities",
    "equity": "Equity",
    "income": "Income",
    "expense": "Expenses",
}
_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"})
_CURRENCY: Final = re.compile(r"(?!(TRUE|FALSE|NULL)$)[A-Z][A-Z0-9'._-]{0,22}[A-Z0-9]")


class WrongExport(LedgerError):
    """A journal cannot be written as asked."""


def to_beancount(
    book: Book, chart: Chart, date: Dates, currency: str = "USD", title: str = ""
) -> str:
    """Write the journal as a Beancount file.

    Every account is opened on the first day, every entry is a transaction, and the balances are
    asserted, to the last digit, on the day after the last.  Beancount reckons with 28 digits.

    Args:
        book: Whose journal is written.
        chart: Names and kinds of its accounts.
        date: Tells the day of a tick.
        currency: 2 to 24 capitals, digits and ' . _ - between a capital and a capital or digit.
        title: Of the file.

    Raises:
        UnknownAccount: An account of the book is not in the chart.
        WrongExport: *currency* is none, or *date* gave no date.
    """
    if not _CURRENCY.fullmatch(currency):
        raise WrongExport(f"a currency is named like USD or EUR, not {currency!r}")
    names = beancount_names(book, chart)
    days = [_day(date, entry.time) for entry in book.journal] or [_day(date, 0)]
    blocks = [
        _options(currency, title),
        "\n".join(f"{min(days)} open {name} {currency}" for name in names.values()),
        *(
            _transaction(book, names, entry, day, currency)
            for entry, day in zip(book.journal, days, strict=False)
        ),
        "\n".join(_balances(book, names, max(days) + dt.timedelta(days=1), currency)),
    ]
    return "\n\n".join(blocks) + "\n"


def to_csv(book: Book, chart: Chart, date: Dates | None = None) -> str:
    """Write the journal as a table with `COLUMNS`, one row a line, amounts in the currency.

    Args:
        book: Whose journal is written.
        chart: Names of its accounts.
        date: Tells the day of a tick; the column stays empty without it.

    Raises:
        UnknownAccount: An account of the book is not in the chart.
        WrongExport: *date* gave no date.
    """
    names = {code: chart[code].name for code in book.accounts}
    table = io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow(COLUMNS)
    for number, entry in enumerate(book.journal, 1):
        day = "" if date is None else _day(date, entry.time).isoformat()
        for code, units in entry.amounts.items():
            amount = _plain(abs(units), book.digits)
            sides = ("", amount) if units < 0 else (amount, "")
            writer.writerow((entry.time, day, number, entry.text, code, names[code], *sides))
    return table.getvalue()


def save(path: str | Path, text: str) -> None:
    """Write *text* to a new file, in UTF-8.

    Raises:
        WrongExport: There is a file of that name already; it stays as it is.
        OSError: The folder is not there or cannot be written to.
    """
    try:
        with Path(path).open("x", encoding="utf-8", newline="") as file:
            file.write(text)
    except FileExistsError:
        raise WrongExport(f"{path} is there already; name a new file") from None


def beancount_names(book: Book, chart: Chart) -> dict[str, str]:
    """Name every account of *book* the way Beancount does: "1000" is Assets:Cash-At-Bank.

    The words of the name keep their plain letters and digits; a name with none of them gives way to
    the code, and one that is taken gets the code, or else a number, added.

    Raises:
        UnknownAccount: An account of the book is not in the chart.
    """
    names: dict[str, str] = {}
    for code in book.accounts:
        taken = set(names.values())
        names[code] = next(name for name in _candidates(chart[code]) if name not in taken)
    return names


def _candidates(account: Account) -> Iterator[str]:
    name, code = _component(account.name), _component(account.code)
    first = f"{_ROOTS[account.kind]}:{name or code or 'Account'}"
    yield first
    if code:
        yield f"{first}-{code}"
    yield from (f"{first}-{number}" for number in count(2))


def _component(text: str) -> str:
    """Keep the words of *text* in letters and digits of ASCII, each with a capital, and dashes."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.findall(r"[A-Za-z0-9]+", plain)
    return "-".join(word[0].upper() + word[1:] for word in words)


def _options(currency: str, title: str) -> str:
    options = {"title": title, "operating_currency": currency}
    return "\n".join(f'option "{key}" {_quoted(text)}' for key, text in options.items() if text)


def _transaction(
    book: Book, names: dict[str, str], entry: Entry, day: dt.date, currency: str
) -> str:
    lines = [f"{day} * {_quoted(entry.text)}"]
    for code, units in entry.amounts.items():
        lines.append(f"  {names[code]}  {_plain(units, book.digits)} {currency}")
    return "\n".join(lines)


def _balances(book: Book, names: dict[str, str], day: dt.date, currency: str) -> Iterator[str]:
    for code, units in book.balances().items():
        # Without "~ 0" Beancount would live with a difference of one unit.
        yield f"{day} balance {names[code]}  {_plain(units, book.digits)} ~ 0 {currency}"


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def _plain(units: int, digits: int) -> str:
    return written(units, digits).replace(",", "")


def _day(date: Dates, time: int) -> dt.date:
    day = date(time)
    if not isinstance(day, dt.date):
        raise WrongExport(f"date({time}) must be a datetime.date, not {day!r}")
    return day.date() if isinstance(day, dt.datetime) else day
