"""The company's books: double entry in cents, and the published ledger as a view of them."""

from collections.abc import Iterator

from ledgers.book import Book

__all__ = ["Accounts"]

#: What the published ledger calls an entry, by the account beside cash.
_CATEGORIES = {"wages": "monthly_payroll", "rewards": "task_reward", "fines": "task_fail_penalty"}


class Accounts:
    """Every cent the company gets or pays.

    Args:
        funds: What the founders pay in, cents.
        fines_as_rewards: Whether the published view shows fines as negative rewards.
    """

    def __init__(self, funds: int, *, fines_as_rewards: bool = True) -> None:
        self.book = Book("cash", "capital", *_CATEGORIES)
        self._categories = dict(_CATEGORIES)
        if fines_as_rewards:
            self._categories["fines"] = _CATEGORIES["rewards"]
        self.book.post(0, "capital by founders", cash=funds, capital=-funds)

    @property
    def funds(self) -> int:
        """Money in the bank, cents."""
        return self.book.balance("cash")

    def pay_wages(self, tick: int, employee: str, cents: int) -> None:
        """Pay somebody's salary of a month."""
        self.book.post(tick, f"wages of {employee}", cash=-cents, wages=cents)

    def earn(self, tick: int, row: int, cents: int) -> None:
        """Take the reward of a task."""
        self.book.post(tick, f"reward of {row}", cash=cents, rewards=-cents)

    def fine(self, tick: int, row: int, cents: int) -> None:
        """Pay the fine for a late task."""
        self.book.post(tick, f"fine of {row}", cash=-cents, fines=cents)

    def entries(self) -> Iterator[tuple[int, str, int, str, str]]:
        """Yield the published ledger: tick, category, cents, "employee" or "task", name or row."""
        for entry in self.book.journal[1:]:
            what, _, whose = entry.text.partition(" of ")
            account = what if what == "wages" else f"{what}s"
            kind = "employee" if account == "wages" else "task"
            yield entry.time, self._categories[account], entry.amounts["cash"], kind, whose
