"""A chart of accounts: the accounts of a book in order, looked up by code and by kind.

The year-end close: moves income and expenses to retained earnings.
"""

from collections.abc import Iterable, Iterator

from attrs import field, frozen

from ledgers.accounts import KINDS, TEMPORARY, Account
from ledgers.book import Book, UnknownAccount
from ledgers.entry import Memo, WrongEntry
from ledgers.errors import WrongChart, distinct, unknown


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
            WrongChart: A kind is not one of `KINDS`.
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
            UnknownAccount: The chart lacks an account of that code.
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


def close_year(
    book: Book, chart: Chart, time: int, into: str, memo: str | Memo = "close of the year"
) -> int:
    """Bring every income and expense account to zero.

    Posts one entry for each account that is not at zero, in the order of the chart.

    Args:
        book: The book to close.
        chart: The accounts of the book.
        time: Ticks, not before the last entry.
        into: Code of the equity account that receives the earnings.
        memo: Memo of every entry; statements leave closing entries out by its kind.

    Returns:
        The earnings since the last close, in units; a loss is negative.

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
