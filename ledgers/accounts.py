"""One account as data: its code, its name and its kind.

Exact text of amounts: integers with a number of decimals, and fractions; without floats.

The trial balance of a book: every account with its balance, in debits and credits.
"""

from fractions import Fraction
from typing import Final, Literal, TypeAlias, get_args

from attrs import frozen

from ledgers.errors import WrongChart, unknown, writable

Kind: TypeAlias = Literal["asset", "contra_asset", "liability", "equity", "income", "expense"]


#: Every kind of account, in the order of a trial balance.
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


#: Kinds whose accounts the year-end close brings to zero.
TEMPORARY: Final[tuple[Kind, ...]] = ("income", "expense")


_DEBIT: Final[tuple[Kind, ...]] = ("asset", "expense")


@frozen
class Account:
    """One account.

    Attributes:
        code: The name used in entries: "1000", "cash".
        name: The name shown to people: "Cash at bank".
        kind: One of `KINDS`.

    Raises:
        WrongChart: *kind* is not one of `KINDS`, or *code* or *name* is not a text with a UTF-8
            form.
    """

    code: str
    name: str
    kind: Kind

    def __attrs_post_init__(self) -> None:
        """Check the three texts."""
        for text in (self.code, self.name):
            if type(text) is not str or not text or not writable(text):
                raise WrongChart(f"code and name are texts that can be written, not {text!r}")
        if self.kind not in KINDS:
            raise WrongChart(f"account {self.code!r}: {unknown('kind', self.kind, KINDS)}")

    @property
    def normal(self) -> Literal["debit", "credit"]:
        """The side that increases the account; a contra asset (an allowance) grows by credits."""
        return "debit" if self.kind in _DEBIT else "credit"

    @property
    def sign(self) -> Literal[1, -1]:
        """The factor from a balance of the book to the figure in a statement.

        Liabilities, equity and income have credit balances and are shown positive. A contra asset
        is shown negative, among the assets that it reduces.
        """
        return -1 if self.kind in ("liability", "equity", "income") else 1

    @property
    def temporary(self) -> bool:
        """Whether the year-end close brings the account to zero: income and expenses."""
        return self.kind in TEMPORARY


def decimal(units: int, digits: int) -> str:
    """Return *units* with *digits* decimals: `decimal(-1999, 2)` is "-19.99"."""
    return grouped(units, digits).replace(",", "")


def grouped(units: int, digits: int) -> str:
    """Return *units* with *digits* decimals and commas between thousands."""
    whole, rest = divmod(abs(units), 10**digits)
    tail = f".{rest:0{digits}d}" if digits else ""
    return f"{'-' if units < 0 else ''}{whole:,}{tail}"


def exact(units: int | Fraction) -> str:
    """Return *units* as a decimal where it is finite ("2.5"), else as a fraction ("1/3").

    `fractions.Fraction` reads both back without loss.
    """
    digits, rest = 0, units.denominator
    while rest % 2 == 0 or rest % 5 == 0:
        digits += 1
        rest //= 10 if rest % 10 == 0 else 5 if rest % 5 == 0 else 2
    if rest > 1:
        return str(units)
    return decimal(units.numerator * 10**digits // units.denominator, digits)


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
