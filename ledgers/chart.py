"""A chart of accounts: the accounts of a book in order, looked up by code and by kind."""

from collections.abc import Iterable, Iterator

from attrs import field, frozen

from ledgers.accounts import KINDS, TEMPORARY, Account, Kind
from ledgers.book import Book, UnknownAccount
from ledgers.errors import WrongChart, unknown
from ledgers.names import distinct

__all__ = ["KINDS", "Account", "Chart", "Kind"]


def _in_order(accounts: Iterable[Account]) -> tuple[Account, ...]:
    return tuple(accounts)


@frozen
class Chart:
    """The accounts of a book, in the order of its reports.

    Args:
        accounts: At least one; codes are unique.

    Attributes:
        temporary: Codes of the income and expense accounts: their balances are the year's earnings.

    Raises:
        WrongChart: No account, or a code declared twice.
    """

    accounts: tuple[Account, ...] = field(converter=_in_order)
    _by_code: dict[str, Account] = field(init=False, repr=False, eq=False)
    temporary: tuple[str, ...] = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        """Check the codes and index them."""
        for account in self.accounts:
            if not isinstance(account, Account):
                raise WrongChart(f"a chart is made of Accounts, not of {account!r}")
        distinct("account", self.codes)
        object.__setattr__(self, "_by_code", {account.code: account for account in self.accounts})
        # Kept, since every year-end close reads it.
        object.__setattr__(self, "temporary", self.of(*TEMPORARY))

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of all accounts, in order."""
        return tuple(account.code for account in self.accounts)

    def of(self, *kinds: str) -> tuple[str, ...]:
        """Return the codes of the accounts of some kinds, in the order of the chart.

        Raises:
            WrongChart: There is no such kind.
        """
        for kind in kinds:
            if kind not in KINDS:
                raise WrongChart(unknown("kind", kind, KINDS))
        return tuple(account.code for account in self.accounts if account.kind in kinds)

    def book(self, digits: int = 2, name: str = "") -> Book:
        """Return a new book on these accounts, all at zero; *digits* and *name* as for `Book`."""
        return Book(*self.accounts, digits=digits, name=name)

    def __getitem__(self, code: str) -> Account:
        """Return the account of a code.

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
