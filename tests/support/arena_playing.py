"""Plays episodes from actions by month, and returns what tests check of each month."""

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from desim import Run
from models.enterprise_arena import EnterpriseArena, FundRaisingRequest, Month, Pass
from models.enterprise_arena.state import Lender

MILLION = 1_000_000
EQUITY = FundRaisingRequest("equity", 20 * MILLION)
DEBT = FundRaisingRequest("debt", 20 * MILLION)


@frozen
class Seen:
    """The observation at a month's action, and the state, which changes afterwards."""

    month: Month
    lender: Lender
    users: float
    lending_rate: float


def months(
    model: EnterpriseArena, actions: Mapping[int, Any], seed: int = 0, until: int | None = None
) -> Iterator[Seen]:
    """Play an episode, passing in every month without an action, up to month *until*."""
    run = Run(model, seed)
    while handed := run.advance():
        (decision,) = handed
        lender, month = run.state, decision.observation
        yield Seen(month, lender, lender.users, lender.lending_rate)
        if month.current_month == until:
            return
        run.answer(decision, actions.get(month.current_month, Pass()))


def played(
    model: EnterpriseArena, actions: Mapping[int, Any] | None = None, seed: int = 0
) -> Lender:
    """Play an episode to its end and return the state."""
    lender: Lender | None = None
    for seen in months(model, actions or {}, seed):
        lender = seen.lender
    assert lender is not None
    return lender


def opened(
    month: int, model: EnterpriseArena, actions: Mapping[int, Any] | None = None, seed: int = 0
) -> Lender:
    """Play up to a month's action and return the state."""
    seen = list(months(model, actions or {}, seed, until=month))
    assert seen[-1].month.current_month == month
    return seen[-1].lender


def entries(lender: Lender, kind: str) -> list[tuple[int, dict[str, int]]]:
    """Return month and amounts of every entry of a kind."""
    journal = lender.books.book.journal
    return [(entry.time, dict(entry.amounts)) for entry in journal if entry.kind == kind]
