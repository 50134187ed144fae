"""A chart of accounts: what each account of a book is, and how its balance is read.

A book knows its accounts by code alone.  The chart adds a name and one of six kinds, from which
follow the side on which an account grows and the statement it belongs to.
"""

from collections.abc import Iterable, Iterator
from typing import Final, Literal, TypeAlias, get_args

from attrs import field, frozen

from ledgers.book import Book, UnknownAccount
from ledgers.journal import WrongChart, chart, unknown, writable

__all__ = ["KINDS", "Account", "Chart", "Kind"]

Kind: TypeAlias = Literal["asset", "contra_asset", "liability", "equity", "income", "expense"]

#: Every kind of account, in the order of a trial balance.
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

_DEBIT = ("asset", "expense")
_TEMPORARY = ("income", "expense")


@frozen
class Account:
    """One account.

    Attributes:
        code: What entries call it: "1000", "cash".
        name: What people call it: "Cash at bank".
        kind: One of `KINDS`.

    Raises:
        WrongChart: The kind is none of these, or code or name is no text that can be written.
    """

    code: str
    name: str
    kind: Kind

    def __attrs_post_init__(self) -> None:
        """Refuse what no statement could show."""
        for text in (self.code, self.name):
            if type(text) is not str or not text or not writable(text):
                raise WrongChart(f"code and name are texts that can be written, not {text!r}")
        if self.kind not in KINDS:
            raise WrongChart(f"account {self.code!r}: {unknown('kind', self.kind, KINDS)}")

    @property
    def normal(self) -> Literal["debit", "credit"]:
        """The side on which it grows: an allowance, a contra asset, grows by credits."""
        return "debit" if self.kind in _DEBIT else "credit"

    @property
    def sign(self) -> Literal[1, -1]:
        """Times a balance of the book: what a statement shows.

        Debts, equity and income are shown positive, though they are credits; a contra asset is
        shown negative, among the assets it lessens.
        """
        return -1 if self.kind in ("liability", "equity", "income") else 1

    @property
    def temporary(self) -> bool:
        """Whether the year-end close empties it: income and expenses."""
        return self.kind in _TEMPORARY


def _in_order(accounts: Iterable[Account]) -> tuple[Account, ...]:
    return tuple(accounts)


@frozen
class Chart:
    """The accounts of a book, in the order of its reports.

    Args:
        accounts: At least one; codes are unique.

    Raises:
        WrongChart: No account, or a code declared twice.
    """

    accounts: tuple[Account, ...] = field(converter=_in_order)
    _by_code: dict[str, Account] = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        """Refuse codes that could be confused."""
        for account in self.accounts:
            if not isinstance(account, Account):
                raise WrongChart(f"a chart is made of Accounts, not of {account!r}")
        chart("account", self.codes)
        object.__setattr__(self, "_by_code", {account.code: account for account in self.accounts})

    @property
    def codes(self) -> tuple[str, ...]:
        """What entries call the accounts."""
        return tuple(account.code for account in self.accounts)

    @property
    def temporary(self) -> tuple[str, ...]:
        """Codes of the income and expense accounts: their balances are the year's earnings."""
        return self.of(*_TEMPORARY)

    def of(self, *kinds: str) -> tuple[str, ...]:
        """Codes of the accounts of some kinds, in the order of the chart.

        Raises:
            WrongChart: There is no such kind.
        """
        for kind in kinds:
            if kind not in KINDS:
                raise WrongChart(unknown("kind", kind, KINDS))
        return tuple(account.code for account in self.accounts if account.kind in kinds)

    def book(self, digits: int = 2) -> Book:
        """Open a book on these accounts, all at zero; *digits* as for `Book`."""
        return Book(*self.codes, digits=digits)

    def __getitem__(self, code: str) -> Account:
        """The account of a code.

        Raises:
            UnknownAccount: There is none.
        """
        try:
            return self._by_code[code]
        except (KeyError, TypeError):
            raise UnknownAccount(unknown("account", code, self.codes)) from None

    def __contains__(self, code: object) -> bool:
        return code in self.codes

    def __iter__(self) -> Iterator[Account]:
        return iter(self.accounts)

    def __len__(self) -> int:
        return len(self.accounts)
