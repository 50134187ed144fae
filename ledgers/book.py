"""Double entry in integers: a chart of accounts, and a journal whose every entry sums to zero.

Three promises hold after every call:

* the balances of all accounts sum to zero;
* a balance is the sum of the journal's lines on that account;
* entries are in the order of their times, and a refused call has changed nothing.

A positive amount is a debit, a negative one a credit. Integers make all of this exact.
"""

from bisect import bisect_right
from collections.abc import Mapping
from math import inf
from types import MappingProxyType
from typing import ClassVar, NoReturn

from ledgers.accounts import Account, TrialBalance
from ledgers.beancount import to_beancount
from ledgers.entry import Entry, Journal, Memo, WrongEntry, checked_text, fingerprint, text_of
from ledgers.errors import (
    LedgerError,
    WrongChart,
    WrongExport,
    WrongTime,
    distinct,
    unknown,
    wrong_time,
)
from ledgers.export import Dates, journal_table, trial_balance_table

__all__ = [
    "Book",
    "Entry",
    "Memo",
    "Unbalanced",
    "UnknownAccount",
    "WrongAmount",
    "WrongEntry",
]


class UnknownAccount(LedgerError):
    """An account was named that the book does not have."""


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

    Attributes:
        name: As given.

    Raises:
        WrongChart: No account, one declared twice, a code that is not text, or negative *digits*.
    """

    #: The forms that `export` offers.
    export_forms: ClassVar[tuple[str, ...]] = ("csv", "beancount")

    def __init__(self, *accounts: str | Account, digits: int = 2, name: str = "") -> None:
        if type(digits) is not int or digits < 0:
            raise WrongChart(f"digits is the number of decimals, 0 or more, not {digits!r}")
        self.name = name
        codes = tuple(one.code if isinstance(one, Account) else one for one in accounts)
        self._balances = dict.fromkeys(distinct("account", codes), 0)
        self._declared = {one.code: one for one in accounts if isinstance(one, Account)}
        self._digits = digits
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
        """Add an account at zero behind the others, for events of few episodes only.

        Raises:
            WrongChart: The book has an account of that code, or the code is not text.
        """
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
    def digits(self) -> int:
        """Decimals of the currency that one integer unit is."""
        return self._digits

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
        elif type(amounts) is dict and not more:  # the same as below, without a call
            lines = amounts.copy()
        else:
            lines = _joined(amounts, more)
        balances = self._balances
        total = 0
        for account, amount in lines.items():
            if type(amount) is not int or account not in balances:
                self._refuse_line(account, amount)
            total += amount
        if total or not lines or type(time) is not int or time < self._last:
            self._refuse_entry(time, text, lines, total)
        memo = None
        if type(text) is Memo:
            memo, text = text, text.text
        elif type(text) is not str or not text.isascii():
            text = checked_text(text)
        # Every check is done; only now does anything change.
        for account, amount in lines.items():
            balances[account] += amount
        self._last = time
        self._rows.append((time, text, lines))
        self._memos.append(memo)

    def transfer(self, time: int, text: str | Memo, debit: str, credit: str, amount: int) -> None:
        """Post one entry of two lines: debit one account and credit another by *amount*.

        The same as `post` with two lines, at half its cost.

        Args:
            time: Ticks, not before the last entry.
            text: What happened; a `Memo` adds a kind and references.
            debit: The account to which *amount* is added.
            credit: The account from which *amount* is subtracted.
            amount: Integer units; may be negative.
        """
        balances = self._balances
        if (
            type(amount) is not int
            or debit not in balances
            or credit not in balances
            or debit == credit
            or type(time) is not int
            or time < self._last
        ):
            self._refuse_transfer(time, text, debit, credit, amount)
        memo = None
        if type(text) is Memo:
            memo, text = text, text.text
        elif type(text) is not str or not text.isascii():
            text = checked_text(text)
        balances[debit] += amount
        balances[credit] -= amount
        self._last = time
        self._rows.append((time, text, {debit: amount, credit: -amount}))
        self._memos.append(memo)

    def balance(self, account: str, at: int | None = None) -> int:
        """Return the units on *account* now, or at the end of tick *at*.

        Raises:
            UnknownAccount: *account* is not in the chart.
            WrongTime: *at* is not an `int`.
        """
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
        return TrialBalance(tuple(self.balances(at).items()), self._digits)

    def money(self, amount: int) -> float:
        """Return *amount* in the currency itself: 1999 cents are 19.99."""
        return float(amount / 10**self._digits)

    def export(self, form: str, date: Dates | None = None) -> dict[str, str]:
        """Return the book as texts by file name.

        Args:
            form: "csv" gives journal.csv and trial_balance.csv, "beancount" journal.beancount.
            date: Returns the day of a tick. Without it the CSV date column is empty, and Beancount
                dates count one day a tick from 2000-01-01.

        Raises:
            WrongExport: *form* is unknown, *date* did not return a date, or the amounts have more
                digits than Beancount computes with.
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
        """Return the SHA-256 of the journal: of times, texts and amounts, in order.

        Neither the order of the lines inside an entry nor kind and references change it.
        """
        return fingerprint(self._rows)

    def __repr__(self) -> str:
        """Show the size of the book."""
        return f"<Book of {len(self._balances)} accounts and {len(self._rows)} entries>"

    def _balance_at(self, account: str, at: int) -> int:
        if type(at) is not int:
            raise WrongTime(f"the tick of a balance must be an int, not {at!r}")
        self._read_on()
        times, balances = self._past[account]
        return balances[bisect_right(times, at) - 1]

    def _read_on(self) -> None:
        """Extend the history of balances to the last entry.

        Done when a past balance is read, because most books are never asked for one.
        """
        for time, _, lines in self._rows[self._read :]:
            for account, amount in lines.items():
                times, balances = self._past[account]
                times.append(time)
                balances.append(balances[-1] + amount)
        self._read = len(self._rows)

    def _refuse_transfer(
        self, time: int, text: str | Memo, debit: str, credit: str, amount: int
    ) -> NoReturn:
        for account in (debit, credit):
            if account not in self._balances or type(amount) is not int:
                self._refuse_line(account, amount)
        if debit == credit:
            raise WrongEntry(f"entry {text_of(text)!r} needs two accounts, not {debit!r} twice")
        self._refuse_entry(time, text, {debit: amount, credit: -amount}, 0)

    def _refuse_line(self, account: str, amount: object) -> NoReturn:
        if account not in self._balances:
            raise UnknownAccount(unknown("account", account, self._balances))
        raise WrongAmount(
            f"the amount for {account!r} must be an int, not {amount!r} ({type(amount).__name__})"
        )

    def _refuse_entry(
        self, time: int, text: str | Memo, lines: dict[str, int], total: int
    ) -> NoReturn:
        text = text_of(text)
        if not lines:
            raise WrongEntry(f"entry {text!r} has no lines; name at least one account")
        if total:
            amounts = ", ".join(f"{account}={amount}" for account, amount in lines.items())
            raise Unbalanced(f"entry {text!r} must sum to zero, not to {total}: {amounts}")
        raise WrongTime(wrong_time(time, self._last))


def _entry(row: tuple[int, str, dict[str, int]], memo: Memo | None) -> Entry:
    # A statement makes one record for each entry that it reads; `tuple.__new__` skips the wrapper
    # that NamedTuple puts around it.
    time, text, lines = row
    if memo is None:
        return tuple.__new__(Entry, (time, text, lines.copy(), "", {}))
    return tuple.__new__(Entry, (time, text, lines.copy(), memo.kind, dict(memo.references)))


def _joined(amounts: Mapping[str, int], more: dict[str, int]) -> dict[str, int]:
    """Return both kinds of lines in a new dict, because the journal keeps it."""
    if type(amounts) is not dict and not isinstance(amounts, Mapping):
        raise WrongEntry(f"amounts must be a mapping of accounts to ints, not {amounts!r}")
    if not more:
        return dict(amounts)
    if twice := amounts.keys() & more.keys():
        raise WrongEntry(f"each account is named once, but {', '.join(sorted(twice))} came twice")
    return {**amounts, **more}
