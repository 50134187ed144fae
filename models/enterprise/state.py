"""The state of an episode: the parts, their limits, and the group's book."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from attrs import define, field

from desim.composition import Group
from ledgers.book import Book
from ledgers.consolidation import Consolidation
from models.enterprise.accounts import CAPITAL, CASH, CHART, PAYABLES, account, flow
from models.enterprise.params import TREASURY, EnterpriseParams

#: The status of a department that has not ended.
OPEN = "open"

#: Decimals of the group's book, those of the finest book of a part.
_DIGITS = 12


def dollars(cents: int) -> float:
    """Return cents as dollars."""
    return cents / 100


@define(eq=False)
class Limits:
    """The pool's limits of a department, and its cash after the pool's last move, in cents."""

    floor: int = 0
    ceiling: int | None = None
    cash_before: int = 0
    months_unpaid: int = 0


@define(eq=False)
class Company:
    """The state of an episode.

    Attributes:
        limits: By department that the group has.
        month: Months that have passed.
        reply: Why the controller's last command was refused.
        worths: Net worth in cents at the start and at the end of every month.
        cash: Cash of the group in cents at the same times.
    """

    params: EnterpriseParams
    group: Group
    limits: dict[str, Limits]
    consolidation: Consolidation = field(
        factory=partial(Consolidation, CHART, account, flow, _DIGITS), init=False
    )
    month: int = 0
    reply: str = ""
    worths: list[int] = field(factory=list)
    cash: list[int] = field(factory=list)

    @property
    def book(self) -> Book:
        """The group's book."""
        return self.consolidation.book

    @property
    def ledgers(self) -> Sequence[Any]:
        """The ledgers of the parts, and the group's book."""
        return (*self.group.ledgers, self.book)

    @property
    def open_departments(self) -> list[str]:
        """The departments that have not ended."""
        return [name for name in self.limits if self.status(name) == OPEN]

    @property
    def spendable(self) -> int:
        """Cents that the pool may take from the treasury."""
        return max(0, self.group.cash(TREASURY) - round(self.params.reserve * 100))

    def status(self, name: str) -> str:
        """Return "open", or why a department has ended."""
        part = self.group.part(name)
        return part.ended if part.world.ended else OPEN

    def unpaid(self, name: str) -> int:
        """Return the cents that a department owes for costs of its own, rounded up."""
        book = self._book_of(name)
        held = sum(units for code, units in book.held.items() if account(code) == PAYABLES)
        return -_cents(book, held)

    def owed(self, name: str) -> int:
        """Return the cents that a department owes to the treasury; below 0 the other way."""
        purse = self.params.treasury.purse(self.group.part(TREASURY).state)
        return purse.balances.get(name, 0)

    def consolidate(self) -> None:
        """Post new entries to the group's book, and record net worth and cash of the month."""
        for name in (parts := self.group.parts):
            self.group.cash(name)  # a part that posts late posts now
        self.consolidation.post(self.month, {name: self._book_of(name) for name in parts})
        del self.worths[self.month :], self.cash[self.month :]
        # Equity raised since the start is owed to its holders: it does not add to net worth.
        balance = self.book.balance
        net = sum(map(balance, CHART.of("asset", "contra_asset", "liability")))
        net += balance(CAPITAL) - balance(CAPITAL, at=0)
        self.worths.append(_cents(self.book, net))
        self.cash.append(_cents(self.book, balance(CASH)))

    def _book_of(self, name: str) -> Book:
        book: Book = self.group.part(name).state.ledgers[0]
        return book


def _cents(book: Book, units: int) -> int:
    cent: int = 10 ** (book.digits - 2)
    return units // cent
