"""A bankrupt company opens again, where the rules give further episodes (SPEC section 15).

The same seed is played once more from its first day: market, staff, clients and books are new, and
so is the count of turns. The scratchpad is kept. The clock of the simulation goes on; the new
company's dates are counted from the tick at which it opens.
"""

from typing import Any

import attrs

from models.yc_bench.founding import found, start_calendar
from models.yc_bench.state import CompanyState, PastEpisode

__all__ = ["reopen", "reopens", "summary"]

#: What a new company has from the one before; all else is as founded.
_KEPT = frozenset(
    {"world", "params", "episode", "past", "scratchpad", "start", "replacement_seeds"}
)


def reopens(company: CompanyState, reason: str) -> bool:
    """Return whether a further episode follows one that ended for this reason."""
    return reason == "bankruptcy" and company.episode < company.params.episodes


def reopen(company: CompanyState) -> None:
    """Replace a bankrupt company by a new one in the world of the same seed."""
    company.past.append(PastEpisode(summary(company, "bankruptcy"), company.accounts))
    for task in company.active:
        # Its process, which waits for an event without callbacks, is never resumed; one that has
        # not started yet finds that there is no work.
        task.status = "cancelled"
        if task.wait is not None and task.wait.callbacks is not None:
            task.wait.callbacks.clear()
    new = found(company.world, company.params)
    for each in attrs.fields(CompanyState):
        if each.name not in _KEPT:
            setattr(company, each.name, getattr(new, each.name))
    company.episode += 1
    start_calendar(company.world, company)


def summary(company: CompanyState, ended: str) -> dict[str, Any]:
    """Return how the present episode ended: plain values, money in cents."""
    return {
        "episode": company.episode,
        "ended": ended,
        "ended_on": company.clock.text(company.last_tick),
        "final_funds_cents": company.funds_at(company.last_tick),
        "turns": company.turns,
        "commands": company.counts.total() - company.counts["EndTurn"],
        "tasks_accepted": len(company.owned),
        "tasks_succeeded": sum(client.succeeded for client in company.clients),
        "tasks_failed": sum(client.failed for client in company.clients),
    }
