"""The journal of a book as a Beancount file.

Source: Beancount Language Syntax (beancount.github.io/docs) for directives, metadata, names of
accounts and currencies.
"""

import datetime as dt
import re
import unicodedata
from collections.abc import Iterator
from itertools import count
from typing import Final

from ledgers.accounts import decimal
from ledgers.entry import Entry
from ledgers.errors import WrongExport
from ledgers.export import Accounts, Dates, day_of, references_text

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
#: Beancount requires one of its five roots; an account declared by its code alone goes here.
_ROOT_WITHOUT_KIND: Final = "Equity"

_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"})
_CURRENCY: Final = re.compile(r"(?!(TRUE|FALSE|NULL)$)[A-Z][A-Z0-9'._-]{0,22}[A-Z0-9]")


def counted_day(tick: int) -> dt.date:
    """Return the day that is *tick* days after `FIRST_DAY`.

    Raises:
        WrongExport: The day is before year 1 or after year 9999.
    """
    try:
        return FIRST_DAY + dt.timedelta(days=tick)
    except OverflowError:
        raise WrongExport(
            f"t={tick} counted in days from {FIRST_DAY} is no date; give dates of ticks"
        ) from None


def to_beancount(
    book: Accounts, date: Dates | None = None, currency: str = "USD", title: str = ""
) -> str:
    """Return the journal as a Beancount file.

    Every account is opened on the first day and every entry is a transaction, with kind and
    references as metadata. The balances are asserted, to the last digit, on the day after the last.

    Args:
        book: The book.
        date: Returns the day of a tick; `counted_day` without it.
        currency: 2 to 24 characters: a capital, then capitals, digits and ' . _ -, and a capital or
            digit at the end.
        title: Title of the file.

    Raises:
        WrongExport: *currency* is invalid, *date* did not return a date, or the amounts have more
            digits than Beancount computes with.
    """
    if not _CURRENCY.fullmatch(currency):
        raise WrongExport(f"a currency is named like USD or EUR, not {currency!r}")
    _check_size(book)
    date = counted_day if date is None else date
    names = beancount_names(book)
    days = [day_of(date, entry.time) for entry in book.journal] or [day_of(date, 0)]
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


def beancount_names(book: Accounts) -> dict[str, str]:
    """Return the Beancount name of every account: "1000" may become "Assets:Cash-At-Bank".

    A name keeps its words of plain letters and digits; a name without any is replaced by the code,
    and a name that is taken gets the code, or else a number, appended. An account declared by its
    code alone is put under Equity, because Beancount requires one of five roots.
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for code in book.accounts:
        names[code] = next(name for name in _candidates(book, code) if name not in taken)
        taken.add(names[code])
    return names


def _check_size(book: Accounts) -> None:
    # The turnover bounds every sum that Beancount computes, whatever the order of its additions.
    turnover = sum(abs(units) for entry in book.journal for units in entry.amounts.values())
    if turnover >= 10**_MAX_DIGITS:
        raise WrongExport(
            f"the amounts sum to {len(str(turnover))} digits and Beancount computes with "
            f"{_MAX_DIGITS}; export as csv"
        )


def _candidates(book: Accounts, code: str) -> Iterator[str]:
    account = book.declared.get(code)
    root = _ROOTS[account.kind] if account else _ROOT_WITHOUT_KIND
    name, plain_code = _component(account.name if account else code), _component(code)
    first = f"{root}:{name or plain_code or 'Account'}"
    yield first
    if plain_code:
        yield f"{first}-{plain_code}"
    yield from (f"{first}-{number}" for number in count(2))


def _component(text: str) -> str:
    """Return the words of *text* in ASCII letters and digits, capitalised and joined by dashes."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.findall(r"[A-Za-z0-9]+", plain)
    return "-".join(word[0].upper() + word[1:] for word in words)


def _options(currency: str, title: str) -> str:
    options = {"title": title, "operating_currency": currency}
    return "\n".join(f'option "{key}" {_quoted(text)}' for key, text in options.items() if text)


def _transaction(
    book: Accounts, names: dict[str, str], entry: Entry, day: dt.date, currency: str
) -> str:
    lines = [f"{day} * {_quoted(entry.text)}"]
    metadata = {"kind": entry.kind, "references": references_text(entry)}
    lines += [f"  {key}: {_quoted(text)}" for key, text in metadata.items() if text]
    for code, units in entry.amounts.items():
        lines.append(f"  {names[code]}  {decimal(units, book.digits)} {currency}")
    return "\n".join(lines)


def _balances(book: Accounts, names: dict[str, str], day: dt.date, currency: str) -> Iterator[str]:
    for code, units in book.trial_balance().rows:
        # Without "~ 0" Beancount tolerates a difference of one unit.
        yield f"{day} balance {names[code]}  {decimal(units, book.digits)} ~ 0 {currency}"


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'
