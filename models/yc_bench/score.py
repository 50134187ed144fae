"""Score and metrics of a finished run: the paper's figures, and what they are counted from."""

from typing import Any

from models.yc_bench.company import Company

__all__ = ["metrics", "score"]

_CAUSES = ("adversarial", "understaffed", "thin")


def score(company: Company) -> float:
    """Return the funds at the end, in dollars."""
    return company.accounts.book.money(company.funds_cents)


def metrics(company: Company) -> dict[str, Any]:
    """Return funds, tasks, causes of failure and how commands were used.

    `funds_by_month_cents` holds the funds at the end of every month up to the horizon; once the
    run has ended they stay as they are. Concurrency is active tasks on average over time. A ratio
    of which there was nothing to count is None.
    """
    clock, tasks = company.clock, company.owned
    return {
        "final_funds_cents": company.funds_cents,
        "funds_by_month_cents": _curve(company),
        "bankrupt_on": None if company.bankruptcy is None else clock.text(company.bankruptcy),
        "ended_on": clock.text(company.world.now),
        "tasks_succeeded": sum(c.succeeded for c in company.clients),
        "tasks_failed": sum(c.failed for c in company.clients),
        "tasks_accepted": len(tasks),
        "adversarial_share": _ratio(sum(t.client.spec.adversarial for t in tasks), len(tasks)),
        "trust_share": _ratio(sum(t.spec.required_trust > 0 for t in tasks), len(tasks)),
        **{f"failed_{cause}": sum(t.cause == cause for t in tasks) for cause in _CAUSES},
        "max_prestige": float(max(company.prestige.values())),
        "concurrency": _ratio(company.busy, company.settled),
        **_conduct(company),
    }


def _conduct(company: Company) -> dict[str, Any]:
    """Count how the founder used turns and commands."""
    counts, turns = company.counts, company.turns.number
    commands = counts.total() - counts["EndTurn"]
    notes = counts["ScratchpadWrite"] + counts["ScratchpadAppend"]
    return {
        "turns": turns,
        "commands": commands,
        "commands_per_turn": _ratio(commands, turns),
        "inspections_per_accept": _ratio(counts["TaskInspect"], len(company.owned)),
        "notes_per_100_turns": _ratio(100 * notes, turns),
    }


def _curve(company: Company) -> dict[str, int]:
    """Return the funds at the end of each month that ends before the horizon, by month."""
    book, clock = company.accounts.book, company.clock
    ends = clock.month_ends(company.horizon)
    return {clock.text(end)[:7]: book.balance("cash", at=end) for end in ends}


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
