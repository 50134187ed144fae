"""Double entry in integers: a chart of accounts, and a journal whose every entry sums to zero.

Three things hold at every moment, whatever was asked of a book:

* the balances of all accounts sum to zero;
* a balance is the sum of the journal's lines on that account, and of nothing else;
* entries stand in the order of their times, and a refused call has changed nothing.

A positive amount is a debit, a negative one a credit.  Integers make all of this exact.
"""

from bisect import bisect_right
from collections.abc import Mapping
from math import inf
from types import MappingProxyType
from typing import NamedTuple, NoReturn

from attrs import frozen

from ledgers.journal import (
    Journal,
    LedgerError,
    WrongChart,
    WrongTime,
    chart,
    fingerprint,
    unknown,
    writable,
    written,
    wrong_time,
)


class UnknownAccount(LedgerError):
    """An account was named that is not in the chart."""


class WrongAmount(LedgerError):
    """An amount is not an `int`; `bool`, `float` and numpy's integers are not either."""


class WrongEntry(LedgerError):
    """An entry has no lines, a text that cannot be written, or names an account twice."""


class Unbalanced(LedgerError):
    """The amounts of an entry do not sum to zero."""


class Entry(NamedTuple):
    """One line of the journal, as it was posted.

    Attributes:
        time: Ticks of the world's clock.
        text: What happened; its first word is the entry's name.
        amounts: Integer units of currency by account; they sum to zero.
    """

    time: int
    text: str
    amounts: Mapping[str, int]

    @property
    def name(self) -> str:
        """The first word of the text: "J3" of "J3 collections"; "" of a text without words."""
        return next(iter(self.text.split(maxsplit=1)), "")


@frozen
class TrialBalance:
    """Every account with its balance, and the two totals that must agree.

    Attributes:
        rows: Pairs of account and balance, in the order of the chart; `dict(rows)` looks one up.
        digits: Decimals of the currency that one integer unit is.
    """

    rows: tuple[tuple[str, int], ...]
    digits: int

    @property
    def debits(self) -> int:
        """Sum of the positive balances."""
        return sum(balance for _, balance in self.rows if balance > 0)

    @property
    def credits(self) -> int:
        """Sum of the negative balances, with its sign turned."""
        return -sum(balance for _, balance in self.rows if balance < 0)

    def __str__(self) -> str:
        """Set the accounts in a table of debits and credits, written in the currency."""
        lines = [("account", "debit", "credit")]
        lines += [(name, self._written(units), self._written(-units)) for name, units in self.rows]
        lines += [("total", self._written(self.debits), self._written(self.credits))]
        name, debit, credit = (max(map(len, column)) for column in zip(*lines, strict=True))
        return "\n".join(f"{a:{name}}  {d:>{debit}}  {c:>{credit}}".rstrip() for a, d, c in lines)

    def _written(self, units: int) -> str:
        return written(units, self.digits) if units > 0 else ""


class Book:
    """Accounts in double entry.

    Args:
        *accounts: The chart, in the order of its reports; a name may hold dots.
        digits: Decimals of the currency that one integer unit is: 2 means cents, 0 whole units.

    Raises:
        WrongChart: No account, one declared twice, a name that is no text, or negative *digits*.
    """

    def __init__(self, *accounts: str, digits: int = 2) -> None:
        """Open a book whose accounts are all at zero."""
        if type(digits) is not int or digits < 0:
            raise WrongChart(f"digits is the number of decimals, 0 or more, not {digits!r}")
        self._balances = dict.fromkeys(chart("account", accounts), 0)
        self._digits = digits
        self._last: float = -inf
        self._rows: list[tuple[int, str, dict[str, int]]] = []
        # For each account the times of its lines and the balance after each, starting at zero.
        self._past: dict[str, tuple[list[float], list[int]]]
        self._past = {account: ([-inf], [0]) for account in self._balances}
        self._read = 0

    @property
    def accounts(self) -> tuple[str, ...]:
        """The chart of accounts, as declared."""
        return tuple(self._balances)

    @property
    def digits(self) -> int:
        """Decimals of the currency that one integer unit is."""
        return self._digits

    @property
    def held(self) -> Mapping[str, int]:
        """Units by account now: a live view that cannot be written to."""
        return MappingProxyType(self._balances)

    @property
    def journal(self) -> Journal[Entry]:
        """Every entry, oldest first."""
        return Journal(self._rows, _entry)

    def post(
        self, time: int, text: str, amounts: Mapping[str, int] | None = None, /, **more: int
    ) -> None:
        """Write one entry: `book.post(now, "payroll March", cash=-payroll, wages=payroll)`.

        Args:
            time: Ticks, not before the last entry.
            text: What happened.
            amounts: Integer units by account, for names that are no Python names.
            **more: The same, for names that are.

        Raises:
            UnknownAccount: An account is not in the chart.
            WrongAmount: An amount is not an `int`.
            Unbalanced: The amounts do not sum to zero.
            WrongEntry: No lines, an account named twice, or a *text* that is not text.
            WrongTime: *time* is not an `int` or goes backwards.
        """
        lines = more if amounts is None else _joined(amounts, more)
        balances = self._balances
        total = 0
        for account, amount in lines.items():
            if type(amount) is not int or account not in balances:
                self._refuse_line(account, amount)
            total += amount
        if total or not lines or type(time) is not int or time < self._last:
            self._refuse_entry(time, text, lines, total)
        if type(text) is not str or not text.isascii():
            text = _written_text(text)
        # Only now, past every refusal, does anything change.
        for account, amount in lines.items():
            balances[account] += amount
        self._last = time
        self._rows.append((time, text, lines))

    def transfer(self, time: int, text: str, debit: str, credit: str, amount: int) -> None:
        """Write one entry of two lines: *amount* to one account, from another.

        The same as `post` with two lines, at half its cost.

        Args:
            time: Ticks, not before the last entry.
            text: What happened.
            debit: The account that gains.
            credit: The account that loses.
            amount: Integer units; below zero it goes the other way.

        Raises:
            LedgerError: As `post` does.
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
        if type(text) is not str or not text.isascii():
            text = _written_text(text)
        balances[debit] += amount
        balances[credit] -= amount
        self._last = time
        self._rows.append((time, text, {debit: amount, credit: -amount}))

    def balance(self, account: str, at: int | None = None) -> int:
        """Units on *account* now, or once everything posted up to and at time *at* was.

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
        """Every account's balance in the order of the chart; *at* as for `balance`."""
        if at is None:
            return self._balances.copy()
        return {account: self._balance_at(account, at) for account in self._balances}

    def trial_balance(self, at: int | None = None) -> TrialBalance:
        """List the balances with their equal totals; *at* as for `balance`."""
        return TrialBalance(tuple(self.balances(at).items()), self._digits)

    def money(self, amount: int) -> float:
        """Return *amount* in the currency itself: 1999 cents are 19.99."""
        return float(amount / 10**self._digits)

    def digest(self) -> str:
        """Fingerprint of the journal: equal for equal entries in equal order, whatever wrote them.

        The order of the lines inside one entry has no part in it.
        """
        return fingerprint(self._rows)

    def __repr__(self) -> str:
        """Say how much the book holds."""
        return f"<Book of {len(self._balances)} accounts and {len(self._rows)} entries>"

    def _balance_at(self, account: str, at: int) -> int:
        if type(at) is not int:
            raise WrongTime(f"a balance is asked for at a whole number of ticks, not {at!r}")
        self._read_on()
        times, balances = self._past[account]
        return balances[bisect_right(times, at) - 1]

    def _read_on(self) -> None:
        """Carry on the history of balances to the last entry; here, to keep posting fast."""
        for time, _, lines in self._rows[self._read :]:
            for account, amount in lines.items():
                times, balances = self._past[account]
                times.append(time)
                balances.append(balances[-1] + amount)
        self._read = len(self._rows)

    def _refuse_transfer(
        self, time: int, text: str, debit: str, credit: str, amount: int
    ) -> NoReturn:
        for account in (debit, credit):
            if account not in self._balances or type(amount) is not int:
                self._refuse_line(account, amount)
        if debit == credit:
            raise WrongEntry(f"entry {text!r} needs two accounts, not {debit!r} twice")
        self._refuse_entry(time, text, {debit: amount, credit: -amount}, 0)

    def _refuse_line(self, account: str, amount: object) -> NoReturn:
        if account not in self._balances:
            raise UnknownAccount(unknown("account", account, self._balances))
        raise WrongAmount(
            f"the amount for {account!r} must be an int, not {amount!r} ({type(amount).__name__})"
        )

    def _refuse_entry(self, time: int, text: str, lines: dict[str, int], total: int) -> NoReturn:
        if not lines:
            raise WrongEntry(f"entry {text!r} has no lines; name at least one account")
        if total:
            written = ", ".join(f"{account}={amount}" for account, amount in lines.items())
            raise Unbalanced(f"entry {text!r} must sum to zero, not to {total}: {written}")
        raise WrongTime(wrong_time(time, self._last))


def _entry(time: int, text: str, lines: dict[str, int]) -> Entry:
    return Entry(time, text, lines.copy())


def _joined(amounts: Mapping[str, int], more: dict[str, int]) -> dict[str, int]:
    """Both kinds of lines in a new dict, since the journal keeps it."""
    if type(amounts) is not dict and not isinstance(amounts, Mapping):
        raise WrongEntry(f"amounts must be a mapping of accounts to ints, not {amounts!r}")
    if not more:
        return dict(amounts)
    if twice := amounts.keys() & more.keys():
        raise WrongEntry(f"each account is named once, but {', '.join(sorted(twice))} came twice")
    return {**amounts, **more}


def _written_text(text: str) -> str:
    if not isinstance(text, str) or not writable(text):
        raise WrongEntry(f"the text of an entry is a text that can be written, not {text!r}")
    return str(text)
