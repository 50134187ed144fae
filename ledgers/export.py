"""Ledgers as text: CSV tables of books and stocks (RFC 4180), and the journal as a Beancount file.

Source of the second: Beancount Language Syntax (beancount.github.io/docs).
"""

import csv
import datetime as dt
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import count
from typing import Any, Final, TypeAlias

import msgspec

from ledgers.chart import decimal, exact
from ledgers.entry import Entry
from ledgers.errors import WrongExport

#: Returns the day of a tick; ticks of opening entries may be negative.
Dates: TypeAlias = Callable[[int], dt.date]

#: A `ledgers.book.Book`, whose module imports this one.
_Book: TypeAlias = Any

#: One row a line of an entry; `entry` counts from 1, `references` is a JSON object or empty.
JOURNAL_COLUMNS: Final = (
    *("time", "date", "entry", "kind", "text", "code", "account", "debit", "credit"),
    "references",
)
BALANCE_COLUMNS: Final = ("code", "account", "kind", "debit", "credit")
#: Units are exact: a decimal where it is finite, else a fraction such as 1/3.
MOVE_COLUMNS: Final = ("time", "date", "move", "source", "target", "units")
HOLDING_COLUMNS: Final = ("place", "side", "units")

#: The day of tick 0 without dates; every tick then counts as one day.
FIRST_DAY: Final = dt.date(2000, 1, 1)
#: Beancount adds with Python's default decimal context, which keeps this many digits.
_MAX_DIGITS: Final = 28
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


def journal_table(book: _Book, date: Dates | None = None) -> str:
    """Return the journal as CSV with `JOURNAL_COLUMNS`, amounts in the currency."""
    return _table(JOURNAL_COLUMNS, _lines(book, date))


def _lines(book: _Book, date: Dates | None) -> Iterator[Sequence[Any]]:
    for number, entry in enumerate(book.journal, 1):
        head = (entry.time, _cell(date, entry.time), number, entry.kind, entry.text)
        for code, units in entry.amounts.items():
            sides = _two_sides(units, book.digits)
            yield (*head, code, _name(book, code), *sides, _references(entry))


def trial_balance_table(book: _Book) -> str:
    """Return the balances as CSV with `BALANCE_COLUMNS` and a last row of totals.

    An account declared by its code alone has that code as its name, and no kind.
    """
    rows = [
        (code, _name(book, code), _kind(book, code), *_two_sides(units, book.digits))
        for code, units in book.held.items()
    ]
    total = decimal(sum(units for units in book.held.values() if units > 0), book.digits)
    return _table(BALANCE_COLUMNS, [*rows, ("", "total", "", total, total)])


def moves_table(
    moves: Iterable[tuple[int, str, str, int | Fraction]], date: Dates | None = None
) -> str:
    """Return moves (time, source, target, units) as CSV with `MOVE_COLUMNS`."""
    rows = (
        (time, _cell(date, time), number, source, target, exact(units))
        for number, (time, source, target, units) in enumerate(moves, 1)
    )
    return _table(MOVE_COLUMNS, rows)


def holdings_table(held: Mapping[str, int | Fraction], inside: Iterable[str]) -> str:
    """Return the units at every place as CSV with `HOLDING_COLUMNS`."""
    within = frozenset(inside)
    sides = {place: "inside" if place in within else "outside" for place in held}
    return _table(HOLDING_COLUMNS, ((at, sides[at], exact(units)) for at, units in held.items()))


def to_beancount(
    book: _Book, date: Dates | None = None, currency: str = "USD", title: str = ""
) -> str:
    """Return the journal as a Beancount file.

    Every account is opened on the first day and every entry is a transaction, with kind and
    references as metadata. The balances are asserted, to the last digit, on the day after the last.
    Without *date* a tick is a day, and tick 0 is `FIRST_DAY`.

    Raises:
        WrongExport: Beancount refuses *currency*, *date* did not return a date, or the amounts
            have more digits than Beancount computes with.
    """
    if not _CURRENCY.fullmatch(currency):
        raise WrongExport(f"a currency is named like USD or EUR, not {currency!r}")
    # The turnover bounds every sum that Beancount computes, whatever the order of its additions.
    turnover = sum(abs(units) for entry in book.journal for units in entry.amounts.values())
    if turnover >= 10**_MAX_DIGITS:
        raise WrongExport(
            f"the amounts sum to {len(str(turnover))} digits and Beancount computes with "
            f"{_MAX_DIGITS}; export as csv"
        )
    names = beancount_names(book)
    days = [_day_of(date or _counted_day, entry.time) for entry in book.journal]
    days = days or [_day_of(date or _counted_day, 0)]
    options = {"title": title, "operating_currency": currency}
    after = max(days) + dt.timedelta(days=1)

    def amount(code: str, units: int, tolerance: str = "") -> str:
        return f"{names[code]}  {decimal(units, book.digits)}{tolerance} {currency}"

    def transaction(entry: Entry, day: dt.date) -> str:
        metadata = {"kind": entry.kind, "references": _references(entry)}
        lines = [f"{day} * {_quoted(entry.text)}"]
        lines += [f"  {key}: {_quoted(text)}" for key, text in metadata.items() if text]
        lines += [f"  {amount(code, units)}" for code, units in entry.amounts.items()]
        return "\n".join(lines)

    blocks = [
        "\n".join(f'option "{key}" {_quoted(text)}' for key, text in options.items() if text),
        "\n".join(f"{min(days)} open {name} {currency}" for name in names.values()),
        *map(transaction, book.journal, days),
        # Without "~ 0" Beancount tolerates a difference of one unit.
        "\n".join(f"{after} balance {amount(c, units, ' ~ 0')}" for c, units in book.held.items()),
    ]
    return "\n\n".join(blocks) + "\n"


def beancount_names(book: _Book) -> dict[str, str]:
    """Return the Beancount name of every account: "1000" may become "Assets:Cash-At-Bank".

    Only words of plain letters and digits are kept, and a name that is taken gets the code or a
    number. An account without a kind is put under Equity, as Beancount requires a root.
    """
    names: dict[str, str] = {}
    for code in book.accounts:
        taken = names.values()
        names[code] = next(name for name in _candidates(book, code) if name not in taken)
    return names


def _candidates(book: _Book, code: str) -> Iterator[str]:
    root = _ROOTS.get(_kind(book, code), "Equity")
    plain_code = _component(code)
    first = f"{root}:{_component(_name(book, code)) or plain_code or 'Account'}"
    yield first
    if plain_code:
        yield f"{first}-{plain_code}"
    yield from (f"{first}-{number}" for number in count(2))


def _component(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.findall(r"[A-Za-z0-9]+", plain)
    return "-".join(word[0].upper() + word[1:] for word in words)


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def _table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([columns, *rows])
    return text.getvalue()


def _two_sides(units: int, digits: int) -> tuple[str, str]:
    amount = decimal(abs(units), digits)
    return ("", amount) if units < 0 else (amount, "")


def _name(book: _Book, code: str) -> str:
    return book.declared[code].name if code in book.declared else code


def _kind(book: _Book, code: str) -> str:
    return book.declared[code].kind if code in book.declared else ""


def _references(entry: Entry) -> str:
    return msgspec.json.encode(dict(entry.references)).decode() if entry.references else ""


def _cell(date: Dates | None, tick: int) -> str:
    return "" if date is None else _day_of(date, tick).isoformat()


def _day_of(date: Dates, tick: int) -> dt.date:
    day = date(tick)
    if not isinstance(day, dt.date):
        raise WrongExport(f"date({tick}) must be a datetime.date, not {day!r}")
    return day.date() if isinstance(day, dt.datetime) else day


def _counted_day(tick: int) -> dt.date:
    try:
        return FIRST_DAY + dt.timedelta(days=tick)
    except OverflowError:
        raise WrongExport(
            f"t={tick} counted in days from {FIRST_DAY} is no date; give dates of ticks"
        ) from None
