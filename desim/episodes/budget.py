"""What the policies of one command may use together: calls and money.

Limits of a seat and episode are a policy's own; these hold for the command as a whole.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from attrs import Attribute, define, field

from desim.errors import LimitReached, UsageError

__all__ = ["CommandBudget", "command_budget", "spending"]


def _not_negative(_: object, attribute: "Attribute[Any]", value: float | None) -> None:
    if value is not None and not 0 <= value < math.inf:
        raise UsageError(f"{attribute.name}={value} was given; it is a number of at least 0")


@define(eq=False)
class CommandBudget:
    """Counts what all policies of a command use; None stands for no limit.

    A limit is checked before a call: the call that reaches `max_cost` may exceed it, and the next
    is not made. What an earlier command has paid for a resumed record is not counted again.

    Attributes:
        max_calls: Requests sent.
        max_cost: Money, in the unit of the policies' prices.
        calls: Requests sent so far.
        cost: Money used so far.
        calls_at_once: Calls under way at one endpoint, at most.
    """

    max_calls: int | None = field(default=None, validator=_not_negative)
    max_cost: float | None = field(default=None, validator=_not_negative)
    calls: int = field(default=0, init=False)
    cost: float = field(default=0.0, init=False)
    calls_at_once: int | None = field(default=None, kw_only=True)

    def check(self) -> None:
        """Check that another call may be made.

        Raises:
            LimitReached: A limit is reached.
        """
        for option, limit, used in (
            ("--max-calls", self.max_calls, self.calls),
            ("--max-cost", self.max_cost, self.cost),
        ):
            if limit is not None and used >= limit:
                raise LimitReached(
                    f"the limit of the whole command, {option} {limit:g}, is reached; "
                    "`desim resume` continues a record"
                )


_present: ContextVar[CommandBudget] = ContextVar("command_budget")


def command_budget() -> CommandBudget:
    """Return the budget of the present command; without one, a new one that has no limits."""
    try:
        return _present.get()
    except LookupError:
        return CommandBudget()


@contextmanager
def spending(budget: CommandBudget) -> Iterator[CommandBudget]:
    """Share a budget among all policies that are built in the block.

    >>> with spending(CommandBudget(max_calls=100)) as budget:
    ...     command_budget() is budget
    True
    """
    token = _present.set(budget)
    try:
        yield budget
    finally:
        _present.reset(token)
