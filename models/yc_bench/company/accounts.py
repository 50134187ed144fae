"""The company's books: double entry in cents, and the published ledger as a view of them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ledgers.book import Book, Memo
from ledgers.consolidation import ACCOUNT, KIND, Intercompany
from models.yc_bench.company.entities import StaffMember

CASH, CAPITAL, WAGES, REWARDS, FINES = "cash", "capital", "wages", "rewards", "fines"

_FOUNDING, _WAGES, _REWARD, FINE = "capital", "wages", "reward", "fine"

#: Category of cash received from and paid to partners, and its account once there was some.
INTERCOMPANY = ACCOUNT

#: Category of the published ledger by kind of entry; the last is ours, and appears in groups only.
_CATEGORIES = {
    _WAGES: "monthly_payroll",
    _REWARD: "task_reward",
    FINE: "task_fail_penalty",
    KIND: INTERCOMPANY,
}


class LedgerRow(NamedTuple):
    """An entry of the published ledger; it refers to an "employee", a "partner" or a "task"."""

    tick: int
    category: str
    cents: int
    reference_type: str
    reference: str


class Purse(Intercompany):
    """The funds; debts and claims of bankrupt companies before it stay in its balances."""

    def __init__(self, book: Book, balances: Mapping[str, int]) -> None:
        super().__init__(book, CASH)
        self._balances.update(balances)


class CompanyAccounts:
    """Every cent the company gets or pays, from the funds paid in by the founders."""

    def __init__(
        self, funds: int, opened: int, balances: Mapping[str, int], *, fines_as_rewards: bool
    ) -> None:
        self.book = Book(CASH, CAPITAL, WAGES, REWARDS, FINES)
        self.purse = Purse(self.book, balances)
        self._categories = dict(_CATEGORIES)
        if fines_as_rewards:
            self._categories[FINE] = _CATEGORIES[_REWARD]
        # One memo serves all salaries of an employee.
        self._wages: dict[str, Memo] = {}
        self.book.transfer(opened, Memo("capital by founders", _FOUNDING), CASH, CAPITAL, funds)

    def pay_wages(self, tick: int, staff: Sequence[StaffMember]) -> None:
        """Pay everybody's salary of a month."""
        for who in staff:
            name = who.spec.name
            if name not in self._wages:
                self._wages[name] = Memo(f"wages of {name}", _WAGES, {"employee": name})
            self.book.transfer(tick, self._wages[name], WAGES, CASH, who.salary_cents)

    def earn(self, tick: int, row: int, cents: int) -> None:
        """Take the reward of a task, given by its place in the order of creation."""
        memo = Memo(f"reward of {row}", _REWARD, {"task": row})
        self.book.transfer(tick, memo, CASH, REWARDS, cents)

    def fine(self, tick: int, row: int, cents: int) -> None:
        """Pay the fine for a late task, given by its place in the order of creation."""
        self.book.transfer(tick, Memo(f"fine of {row}", FINE, {"task": row}), FINES, CASH, cents)

    def entries(self) -> Sequence[LedgerRow]:
        """Return the published ledger, which leaves out the founders' capital; it only grows."""
        rows = []
        for entry in self.book.journal:
            if category := self._categories.get(entry.kind):
                [(kind, name)] = entry.references.items()
                rows.append(LedgerRow(entry.time, category, entry.amounts[CASH], kind, str(name)))
        return rows
