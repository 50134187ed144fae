"""Episodes from a list of actions, and what a test wants to know of each month."""

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from desim import Run
from models.enterprise_arena import EnterpriseArena, FundRaisingRequest, Month, Pass
from models.enterprise_arena.company import Company

MILLION = 1_000_000
EQUITY = FundRaisingRequest("equity", 20 * MILLION)
DEBT = FundRaisingRequest("debt", 20 * MILLION)


@frozen
class Seen:
    """A month as its action was asked for, and the company, which goes on."""

    month: Month
    company: Company
    users: float
    lending_rate: float


def months(
    game: EnterpriseArena, actions: Mapping[int, Any], seed: int = 0, until: int | None = None
) -> Iterator[Seen]:
    """Play an episode, passing in every month without an action, up to month *until*."""
    run = Run(game, seed)
    while handed := run.advance():
        (decision,) = handed
        company, month = run.state, decision.observation
        yield Seen(month, company, company.users, company.lending_rate)
        if month.current_month == until:
            return
        run.answer(decision, actions.get(month.current_month, Pass()))


def played(
    game: EnterpriseArena, actions: Mapping[int, Any] | None = None, seed: int = 0
) -> Company:
    """Play an episode to its end and return the company."""
    company: Company | None = None
    for seen in months(game, actions or {}, seed):
        company = seen.company
    assert company is not None
    return company


def opened(
    month: int, game: EnterpriseArena, actions: Mapping[int, Any] | None = None, seed: int = 0
) -> Company:
    """Play up to the moment in which a month's action is asked for."""
    seen = list(months(game, actions or {}, seed, until=month))
    assert seen[-1].month.current_month == month
    return seen[-1].company


def entries(company: Company, name: str) -> list[tuple[int, dict[str, int]]]:
    """Return month and amounts of every entry of a name."""
    journal = company.books.book.journal
    return [(entry.time, dict(entry.amounts)) for entry in journal if entry.name == name]
