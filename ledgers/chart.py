"""Accounts, the chart of them that a book is opened on, and balances and amounts as exact text."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Final, Literal, TypeAlias, get_args

from attrs import field, frozen

from ledgers.errors import UnknownAccount, WrongChart, distinct, unknown, writable

Kind: TypeAlias = Literal["asset", "contra_asset", "liability", "equity", "income", "expense"]
#: Every kind of account, in the order of a trial balance.
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


@frozen
class Account:
    """One account.

    Attributes:
        code: The name used in entries: "1000", "cash".
        name: The name shown to people: "Cash at bank".
        kind: One of `KINDS`; a contra asset (an allowance) is shown negative among the assets.

    Raises:
        WrongChart: *kind* is not one of `KINDS`, or *code* or *name* is not a text with a UTF-8
            form.
    """

    code: str
    name: str
    kind: Kind

    def __attrs_post_init__(self) -> None:
        for text in (self.code, self.name):
            if type(text) is not str or not text or not writable(text):
                raise WrongChart(f"code and name are texts that can be written, not {text!r}")
        if self.kind not in KINDS:
            raise WrongChart(f"account {self.code!r}: {unknown('kind', self.kind, KINDS)}")


def _in_order(accounts: Iterable[Account]) -> tuple[Account, ...]:
    return tuple(accounts)


@frozen
class Chart:
    """The accounts of a book, in the order of its reports: `Book(*chart)`.

    `temporary` are the codes of income and expense accounts, which hold the year's earnings.

    Raises:
        WrongChart: No account, or a code declared twice.
    """

    accounts: tuple[Account, ...] = field(converter=_in_order)
    temporary: tuple[str, ...] = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        for account in self.accounts:
            if not isinstance(account, Account):
                raise WrongChart(f"a chart is made of Accounts, not of {account!r}")
        distinct("account", self.codes)
        # Kept, since every year-end close reads it.
        object.__setattr__(self, "temporary", self.of("income", "expense"))

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of all accounts, in order."""
        return tuple(account.code for account in self.accounts)

    def of(self, *kinds: str) -> tuple[str, ...]:
        """Return the codes of the accounts of some of `KINDS`, in the order of the chart."""
        for kind in kinds:
            if kind not in KINDS:
                raise WrongChart(unknown("kind", kind, KINDS))
        return tuple(account.code for account in self.accounts if account.kind in kinds)

    def __getitem__(self, code: str) -> Account:
        """Return the account of a code, or raise `UnknownAccount`."""
        for account in self.accounts:
            if account.code == code:
                return account
        raise UnknownAccount(unknown("account", code, self.codes))

    def __iter__(self) -> Iterator[Account]:
        return iter(self.accounts)


@frozen
class TrialBalance:
    """Every account with its balance, and the two totals, which are equal.

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
        """Minus the sum of the negative balances."""
        return -sum(balance for _, balance in self.rows if balance < 0)

    def __str__(self) -> str:
        """Return a table of debits and credits in the currency."""
        lines = [("account", "debit", "credit")]
        lines += [(name, self._cell(units), self._cell(-units)) for name, units in self.rows]
        lines += [("total", self._cell(self.debits), self._cell(self.credits))]
        name, debit, credit = (max(map(len, column)) for column in zip(*lines, strict=True))
        return "\n".join(f"{a:{name}}  {d:>{debit}}  {c:>{credit}}".rstrip() for a, d, c in lines)

    def _cell(self, units: int) -> str:
        return grouped(units, self.digits) if units > 0 else ""


def grouped(units: int, digits: int) -> str:
    """Return *units* with *digits* decimals and commas between thousands."""
    whole, rest = divmod(abs(units), 10**digits)
    tail = f".{rest:0{digits}d}" if digits else ""
    return f"{'-' if units < 0 else ''}{whole:,}{tail}"


def decimal(units: int, digits: int) -> str:
    """Return *units* with *digits* decimals: `decimal(-1999, 2)` is "-19.99"."""
    return grouped(units, digits).replace(",", "")


def exact(units: int | Fraction) -> str:
    """Return *units* as a decimal where it is finite ("2.5"), else as a fraction ("1/3")."""
    digits, rest = 0, units.denominator
    while rest % 2 == 0 or rest % 5 == 0:
        digits += 1
        rest //= 10 if rest % 10 == 0 else 5 if rest % 5 == 0 else 2
    if rest > 1:
        return str(units)
    return decimal(units.numerator * 10**digits // units.denominator, digits)
