"""The budget of one episode of a suite: what it uses counts for its entry and for the suite."""

from collections.abc import Callable
from typing import Any

from attrs import Attribute, define, field, frozen

from desim.episodes.usage import CommandBudget
from desim.errors import LimitReached
from desim.suites.ledger import Ledger

__all__ = ["JobBudget", "MoneyLimit"]


@frozen
class MoneyLimit:
    """A limit of money on several jobs.

    Attributes:
        name: What the error calls it: the key of the suite's file, or the option.
        most: Money.
        spent: Returns the money spent so far.
    """

    name: str
    most: float
    spent: Callable[[], float]

    @property
    def reached(self) -> bool:
        """Whether nothing may be spent any more."""
        return self.spent() >= self.most


def _book(budget: "JobBudget", attribute: "Attribute[Any]", value: Any) -> Any:
    """Write a change of `calls` or `cost` to the ledger before it is made."""
    change = value - getattr(budget, attribute.name)
    budget.ledger.add(budget.job, **{attribute.name: change})
    return value


@define(eq=False)
class JobBudget(CommandBudget):
    """A command's budget that is one episode's: each call is checked against the shared limits.

    Attributes:
        calls: Requests sent in this command.
        cost: Money used in this command.
        job: The job's name.
        ledger: Receives every change.
        shared: The limits of the entry and of the suite.
    """

    calls: int = field(default=0, init=False, on_setattr=_book)
    cost: float = field(default=0.0, init=False, on_setattr=_book)
    job: str = field(kw_only=True)
    ledger: Ledger = field(kw_only=True)
    shared: tuple[MoneyLimit, ...] = field(default=(), kw_only=True)

    def check(self) -> None:
        """Check that another call may be made.

        Raises:
            LimitReached: A limit of the entry or the suite is reached.
        """
        for limit in self.shared:
            if limit.reached:
                raise LimitReached(
                    f"{limit.name} = {limit.most:g} is spent; the same command with a larger limit "
                    "goes on"
                )
