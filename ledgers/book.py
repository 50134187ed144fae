"""Double entry in integers: a chart of accounts, and a journal whose every entry sums to zero.

After every call the balances of all accounts sum to zero, a balance is the sum of the journal's
lines on that account, and a refused call has changed nothing. A positive amount is a debit.
"""

from bisect import bisect_right
from collections.abc import Mapping
from math import inf
from types import MappingProxyType
from typing import ClassVar, NoReturn

from ledgers.chart import Account, Chart, TrialBalance
from ledgers.entry import Entry, Journal, Memo, WrongEntry, checked_text, fingerprint
from ledgers.errors import (
    LedgerError,
    UnknownAccount,
    WrongChart,
    WrongExport,
    WrongTime,
    distinct,
    unknown,
    wrong_time,
)
from ledgers.export import Dates, journal_table, to_beancount, trial_balance_table

__all__ = [
    "Book",
    "Entry",
    "Memo",
    "Unbalanced",
    "UnknownAccount",
    "WrongAmount",
    "WrongEntry",
    "close_year",
]


class WrongAmount(LedgerError):
    """An amount is not an `int`; `bool`, `float` and numpy's integers are refused too."""


class Unbalanced(LedgerError):
    """The amounts of an entry do not sum to zero."""


class Book:
    """Accounts in double entry.

    Args:
        *accounts: The chart, in the order of its reports: an `Account`, or a code alone, which may
            hold dots.
        digits: Decimals of the currency that one integer unit is: 2 means cents, 0 whole units.
        name: Name of the book, for worlds that keep several ledgers.

    Raises:
        WrongChart: No account, one declared twice, a code that is not text, or negative *digits*.
    """

    #: The forms that `export` offers.
    export_forms: ClassVar[tuple[str, ...]] = ("csv", "beancount")

    def __init__(self, *accounts: str | Account, digits: int = 2, name: str = "") -> None:
        if type(digits) is not int or digits < 0:
            raise WrongChart(f"digits is the number of decimals, 0 or more, not {digits!r}")
        self.name = name
        self.digits = digits
        self._declared = {one.code: one for one in accounts if isinstance(one, Account)}
        codes = tuple(one.code if isinstance(one, Account) else one for one in accounts)
        self._balances = dict.fromkeys(distinct("account", codes), 0)
        self._last: float = -inf
        # Rows hold what the digest covers; the memo of each row is in a list of its own, because
        # that keeps the digest to one call of msgspec without a hook.
        self._rows: list[tuple[int, str, dict[str, int]]] = []
        self._memos: list[Memo | None] = []
        # For each account the times of its lines and the balance after each, starting at zero.
        self._past: dict[str, tuple[list[float], list[int]]]
        self._past = {account: ([-inf], [0]) for account in self._balances}
        self._read = 0

    @property
    def accounts(self) -> tuple[str, ...]:
        """Codes of the accounts, in the order of declaration."""
        return tuple(self._balances)

    def add_account(self, account: str | Account) -> None:
        """Add an account at zero behind the others, for events of few episodes only."""
        code = account.code if isinstance(account, Account) else account
        distinct("account", (*self._balances, code))
        if isinstance(account, Account):
            self._declared[code] = account
        self._balances[code] = 0
        self._past[code] = ([-inf], [0])

    @property
    def declared(self) -> Mapping[str, Account]:
        """The accounts declared with a name and a kind, by code."""
        return MappingProxyType(self._declared)

    @property
    def held(self) -> Mapping[str, int]:
        """Units by account now: a read-only view that follows every entry."""
        return MappingProxyType(self._balances)

    @property
    def journal(self) -> Journal[Entry]:
        """Every entry, oldest first."""
        return Journal(_entry, self._rows, self._memos)

    def post(
        self, time: int, text: str | Memo, amounts: Mapping[str, int] | None = None, /, **more: int
    ) -> None:
        """Post one entry: `book.post(now, "payroll March", cash=-payroll, wages=payroll)`.

        Args:
            time: Ticks, not before the last entry.
            text: What happened; a `Memo` adds a kind and references.
            amounts: Integer units by account, for codes that are not Python names.
            **more: The same, for codes that are.

        Raises:
            UnknownAccount: An account is not in the chart.
            WrongAmount: An amount is not an `int`.
            Unbalanced: The amounts do not sum to zero.
            WrongEntry: No lines, an account named twice, or *text* is neither text nor `Memo`.
            WrongTime: *time* is not an `int` or goes backwards.
        """
        if amounts is None:
            lines = more
        else:  # a copy, because the journal keeps it
            lines = _joined(amounts, more) if more or type(amounts) is not dict else amounts.copy()
        balances = self._balances
        total = 0
        for account, amount in lines.items():
            if type(amount) is not int or account not in balances:
                self._refuse_line(account, amount)
            total += amount
        if total or not lines:
            _refuse_sum(text, lines, total)
        if type(time) is not int or time < self._last:
            raise WrongTime(wrong_time(time, self._last))
        memo = None
        if type(text) is Memo:
            memo, text = text, text.text
        if type(text) is not str or not text.isascii():
            text = checked_text(text)
        # Every check is done; only now does anything change.
        for account, amount in lines.items():
            balances[account] += amount
        self._last = time
        self._rows.append((time, text, lines))
        self._memos.append(memo)

    def transfer(self, time: int, text: str | Memo, debit: str, credit: str, amount: int) -> None:
        """Post one entry of two lines, which is faster than `post`; *amount* may be negative."""
        balances = self._balances
        if type(amount) is not int or debit not in balances or credit not in balances:
            self._refuse_line(credit if debit in balances else debit, amount)
        if debit == credit:
            raise WrongEntry(f"entry {_text_of(text)!r} needs two accounts, not {debit!r} twice")
        if type(time) is not int or time < self._last:
            raise WrongTime(wrong_time(time, self._last))
        memo = None
        if type(text) is Memo:
            memo, text = text, text.text
        if type(text) is not str or not text.isascii():
            text = checked_text(text)
        balances[debit] += amount
        balances[credit] -= amount
        self._last = time
        self._rows.append((time, text, {debit: amount, credit: -amount}))
        self._memos.append(memo)

    def balance(self, account: str, at: int | None = None) -> int:
        """Return the units on *account* now, or at the end of tick *at*."""
        try:
            balance = self._balances[account]
        except (KeyError, TypeError):
            raise UnknownAccount(unknown("account", account, self._balances)) from None
        return balance if at is None else self._balance_at(account, at)

    def balances(self, at: int | None = None) -> dict[str, int]:
        """Return every account's balance in the order of the chart; *at* as for `balance`."""
        if at is None:
            return self._balances.copy()
        return {account: self._balance_at(account, at) for account in self._balances}

    def trial_balance(self, at: int | None = None) -> TrialBalance:
        """Return the balances with their equal totals; *at* as for `balance`."""
        return TrialBalance(tuple(self.balances(at).items()), self.digits)

    def money(self, amount: int) -> float:
        """Return *amount* in the currency itself: 1999 cents are 19.99."""
        return float(amount / 10**self.digits)

    def export(self, form: str, date: Dates | None = None) -> dict[str, str]:
        """Return journal.csv and trial_balance.csv, or journal.beancount.

        Without *date* the CSV date column is empty, and Beancount counts one day a tick from
        2000-01-01.
        """
        match form:
            case "csv":
                trial = trial_balance_table(self)
                return {"journal.csv": journal_table(self, date), "trial_balance.csv": trial}
            case "beancount":
                return {"journal.beancount": to_beancount(self, date, title=self.name)}
            case _:
                raise WrongExport(unknown("form", form, self.export_forms))

    def digest(self) -> str:
        """Return the SHA-256 of times, texts and amounts, whatever the order inside an entry."""
        return fingerprint(self._rows)

    def __repr__(self) -> str:
        return f"<Book of {len(self._balances)} accounts and {len(self._rows)} entries>"

    def _balance_at(self, account: str, at: int) -> int:
        if type(at) is not int:
            raise WrongTime(f"the tick of a balance must be an int, not {at!r}")
        # The history is extended when a past balance is read: most books are never asked for one.
        for time, _, lines in self._rows[self._read :]:
            for code, amount in lines.items():
                times, balances = self._past[code]
                times.append(time)
                balances.append(balances[-1] + amount)
        self._read = len(self._rows)
        times, balances = self._past[account]
        return balances[bisect_right(times, at) - 1]

    def _refuse_line(self, account: str, amount: object) -> NoReturn:
        if account not in self._balances:
            raise UnknownAccount(unknown("account", account, self._balances))
        raise WrongAmount(
            f"the amount for {account!r} must be an int, not {amount!r} ({type(amount).__name__})"
        )


def close_year(
    book: Book, chart: Chart, time: int, into: str, memo: str | Memo = "close of the year"
) -> int:
    """Bring every income and expense account to zero, and return the earnings since the last close.

    Posts one entry for each account into the equity account *into*. Statements leave these entries
    out by the kind of *memo*.

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


def _text_of(text: str | Memo) -> str:
    return text.text if isinstance(text, Memo) else text


def _entry(row: tuple[int, str, dict[str, int]], memo: Memo | None) -> Entry:
    time, text, lines = row
    if memo is None:
        return Entry(time, text, lines.copy(), "", {})
    return Entry(time, text, lines.copy(), memo.kind, dict(memo.references))


def _joined(amounts: Mapping[str, int], more: dict[str, int]) -> dict[str, int]:
    if not isinstance(amounts, Mapping):
        raise WrongEntry(f"amounts must be a mapping of accounts to ints, not {amounts!r}")
    if twice := amounts.keys() & more.keys():
        raise WrongEntry(f"each account is named once, but {', '.join(sorted(twice))} came twice")
    return {**amounts, **more}


def _refuse_sum(text: str | Memo, lines: dict[str, int], total: int) -> NoReturn:
    if not lines:
        raise WrongEntry(f"entry {_text_of(text)!r} has no lines; name at least one account")
    amounts = ", ".join(f"{account}={amount}" for account, amount in lines.items())
    raise Unbalanced(f"entry {_text_of(text)!r} must sum to zero, not to {total}: {amounts}")
