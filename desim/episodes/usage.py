"""Usage of policies, summed: calls, tokens, seconds, money; and the share of default actions.

Limits of the calls and the money that the policies of one command may use together.

A policy has limits of its own for a seat and an episode.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from attrs import Attribute, define, field

from desim.errors import LimitReached, UsageError

#: The largest share of default actions with which an episode counts as played.
MOST_DEFAULTS = 0.5

#: Codes by which APIs of language models say that an account has no money left, or that a limit of
#: spending is reached.
NO_MONEY = (
    "insufficient_quota",
    "credit_balance_exhausted",
    "organization_spend_limit_exceeded",
    "project_spend_limit_exceeded",
    "organization_usage_limit_exceeded",
    "billing_error",
    "enforced_spend_limit_reached",
    "contract_spend_limit_reached",
)


def default_share(usage: Mapping[str, float]) -> float | None:
    """Return the share of decisions, 0 to 1, that were the role's default action.

    Args:
        usage: Sums with `decisions` and `default_actions`, which a policy notes that may fail to
            decide, such as a language model whose replies cannot be read.

    Returns:
        The share; None if no decisions are counted.
    """
    decisions = usage.get("decisions", 0)
    return usage.get("default_actions", 0) / decisions if decisions else None


def is_played(usage: Mapping[str, float]) -> bool:
    """Return whether at most `MOST_DEFAULTS` of the decisions were default actions."""
    share = default_share(usage)
    return share is None or share <= MOST_DEFAULTS


def unplayed_roles(usages: Mapping[str, Mapping[str, float]]) -> tuple[str, ...]:
    """Return the roles that mostly took their default action, given the usage of each role.

    An episode with one of them is not played, however well the other roles decide.
    """
    return tuple(role for role, usage in usages.items() if not is_played(usage))


def usage_in_all(usages: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the sums of several usages by name."""
    sums: dict[str, float] = {}
    for usage in usages:
        for name, value in usage.items():
            sums[name] = sums.get(name, 0) + value
    return sums


class UsageSums:
    """By role the sums of the numbers under the key `usage` in the notes of its decisions.

    Whole numbers stay whole; sums of others are exactly rounded. Other values are left out.
    """

    def __init__(self) -> None:
        self._figures: dict[str, dict[str, list[float]]] = {}

    def add(self, role: str, notes: Mapping[str, Any] | None) -> None:
        """Add the notes of a decision."""
        usage = (notes or {}).get("usage")
        for name, value in usage.items() if isinstance(usage, Mapping) else ():
            if isinstance(value, int | float) and not isinstance(value, bool):
                self._figures.setdefault(role, {}).setdefault(name, []).append(value)

    def totals(self) -> dict[str, dict[str, float]]:
        """Return the sums so far."""
        return {
            role: {name: _sum(values) for name, values in named.items()}
            for role, named in self._figures.items()
        }


def _sum(values: list[float]) -> float:
    whole = all(isinstance(value, int) for value in values)
    return sum(values) if whole else math.fsum(values)


def _not_negative(_: object, attribute: "Attribute[Any]", value: float | None) -> None:
    if value is not None and not 0 <= value < math.inf:
        raise UsageError(f"{attribute.name}={value} was given; it is a number of at least 0")


@define(eq=False)
class CommandBudget:
    """Counts what all policies of a command use; None means no limit.

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
    """Return the budget of the present command; outside a command, a new one without limits."""
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
