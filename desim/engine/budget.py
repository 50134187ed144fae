"""The limits of what the policies of one command may use together."""

import math
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from attrs import define, field

from desim.errors import LimitReached
from desim.schema.validators import not_negative

#: Held while a call is checked and counted: several threads may share a limit.
_LOCK = threading.Condition()


@define(eq=False)
class MoneyLimit:
    """A limit of money, in the unit of the policies' prices, that calls share.

    Attributes:
        name: Its name in errors: an option, or a key of a file.
        spent: What earlier commands have spent of it, and then the calls of this one.
        reserved: The most that each call under way can cost.
        left: The end of the error after a call that could cost more than was left.
    """

    name: str
    most: float
    spent: float = 0.0
    reserved: list[float] = field(factory=list, init=False)
    left: str = field(default="", init=False)


@define(eq=False)
class CommandBudget:
    """Counts what all policies of a command use; None means no limit.

    The most that a call can cost is reserved, so that the calls under way do not exceed a limit
    together. A call whose cost has no bound is made alone and may exceed it.

    Attributes:
        max_calls: Requests sent.
        max_cost: Money; one of the *shared* limits as well.
        calls_at_once: Most calls under way at one endpoint.
        purses: Budgets of a part of the command's policies, by name.
    """

    max_calls: int | None = field(default=None, validator=not_negative)
    max_cost: float | None = field(default=None, validator=not_negative)
    calls: int = field(default=0, init=False)
    calls_at_once: int | None = field(default=None, kw_only=True)
    shared: tuple[MoneyLimit, ...] = field(default=(), kw_only=True)
    purses: "Mapping[str, CommandBudget]" = field(factory=dict, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.max_cost is not None:
            self.shared += (MoneyLimit("--max-cost", self.max_cost),)

    @property
    def limited(self) -> bool:
        """Whether there is a limit."""
        return self.max_calls is not None or bool(self.shared)

    def check(self) -> None:
        """Raise `LimitReached` if no further call may be made."""
        reached = [each for each in self.shared if each.left or each.spent >= each.most]
        if self.max_calls is not None and self.calls >= self.max_calls:
            reached = [MoneyLimit("--max-calls", self.max_calls)]
        for limit in reached:
            raise LimitReached(
                f"the limit {limit.name} {limit.most:g} is reached{limit.left}; with a larger one "
                "the same command goes on, or `desim resume` with a record"
            )

    def count_call(self) -> None:
        """Count a request, which may then be sent; at a limit raise `LimitReached`."""
        with _LOCK:
            self.check()
            self.calls += 1

    def count_cost(self, cost: float) -> None:
        """Count the money that a request has used."""
        with _LOCK:
            for limit in self.shared:
                limit.spent += cost

    @contextmanager
    def reserved(self, call: float) -> Iterator[None]:
        """Reserve the most that a call can cost while it is under way; infinite: not known.

        Waits while calls under way have reserved what it needs; raises `LimitReached` where less is
        left. What the call has cost is counted in the block.
        """
        with _LOCK:
            while not self._fits(call):
                _LOCK.wait()
            for limit in self.shared:
                limit.reserved.append(call)
        try:
            yield
        finally:
            with _LOCK:
                for limit in self.shared:
                    limit.reserved.remove(call)
                _LOCK.notify_all()

    def _fits(self, call: float) -> bool:
        self.check()
        for limit in self.shared:
            left = limit.most - limit.spent
            if math.fsum([*limit.reserved, call]) <= left:
                continue
            if limit.reserved:
                return False
            if math.isfinite(call):  # one without a bound is made alone
                limit.left = f" but for {left:g}, and a call can cost {call:g}"
                self.check()
        return True


_present: ContextVar[CommandBudget | None] = ContextVar("command_budget", default=None)


def command_budget(purse: str = "") -> CommandBudget:
    """Return the budget of the present command, or a purse of it; outside one without limits."""
    budget = _present.get() or CommandBudget()
    return budget.purses.get(purse, budget)


@contextmanager
def spending(budget: CommandBudget) -> Iterator[CommandBudget]:
    """Share a budget among all policies that are built in the block."""
    token = _present.set(budget)
    try:
        yield budget
    finally:
        _present.reset(token)
