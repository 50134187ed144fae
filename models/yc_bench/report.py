"""Reports of a run: the paper's figures, the months, the founder's tables."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from itertools import pairwise
from operator import itemgetter
from typing import Any

from desim.show.column import CENTS, DOLLARS, SHARE, Column, directed
from models.yc_bench.company.accounts import CASH, FINE, FINES, REWARDS, WAGES
from models.yc_bench.company.state import CompanyState
from models.yc_bench.company.work import CAUSES, DETAILS

_SHARES = ("adversarial_share", "trust_share", "succeeded_trust_share", "adversarial_market_share")
_CENTS = ("final_funds", "funds_by_month", "revenue", "payroll", "fines", "lost_by_cause")

METRIC_COLUMNS: Mapping[str, Column] = directed(
    {
        "score": DOLLARS,
        **{f"{name}_cents": CENTS for name in _CENTS},
        **dict.fromkeys(_SHARES, SHARE),
        "bankrupt_on": Column(label="Bankrupt", kind="share"),
    },
    higher=(
        *("score", "final_funds_cents", "revenue_cents", "tasks_succeeded", "max_prestige"),
        "succeeded_trust_share",
    ),
    lower=(
        *("fines_cents", "tasks_failed", "adversarial_share"),
        *(f"failed_{cause}" for cause in (*CAUSES, *DETAILS)),
    ),
)

#: Unit and label of every series: those by month, and the two recorded when they change.
SERIES_COLUMNS = {
    name: Column(unit, label, period="month")
    for name, unit, label in (
        ("funds_cents", "cents", "Funds"),
        ("revenue_cents", "cents", "Revenue"),
        ("payroll_cents", "cents", "Payroll"),
        ("fines_cents", "cents", "Fines"),
        ("tasks_accepted", "tasks", ""),
        ("adversarial_accepted", "tasks", "Tasks accepted of adversarial clients"),
        ("tasks_succeeded", "tasks", ""),
        ("trust_succeeded", "tasks", "Tasks succeeded that needed trust"),
        ("tasks_failed", "tasks", ""),
        ("tasks_under_way", "tasks", ""),
        ("tasks_active", "tasks", "Active tasks"),
        ("staff", "people", "Staff on the payroll"),
        ("staff_busy", "people", "Staff on an active task"),
        ("utilisation", "share of staff", ""),
    )
}

#: A rest of the year that is no longer than this, in microseconds, belongs to the month before.
_DAY = 86_400 * 10**6


def paper_metrics(company: CompanyState) -> dict[str, Any]:
    """Return funds, tasks, causes of failure and use of commands, all of the last episode.

    Concurrency is the mean number of active tasks over time. A ratio over zero is None.
    """
    world, clock, tasks, counts = company.world, company.clock, company.owned, company.counts
    balance, lost = company.accounts.book.balance, _losses(company)
    cause = max(CAUSES, key=lost.__getitem__) if any(lost.values()) else "payroll"
    commands = counts.total() - counts["EndTurn"]
    notes = counts["ScratchpadWrite"] + counts["ScratchpadAppend"]
    gated = [task.spec.required_trust > 0 for task in tasks]
    done = [task.spec.required_trust > 0 for task in tasks if task.status == "completed_success"]
    return {
        "final_funds_cents": company.funds_at(company.last_tick),
        "funds_by_month_cents": {
            clock.text(end)[:7]: company.funds_at(end) for end in clock.month_ends(clock.horizon)
        },
        "revenue_cents": -balance(REWARDS),
        "payroll_cents": balance(WAGES),
        "fines_cents": balance(FINES),
        "bankrupt_on": clock.text_of(company.bankruptcy),
        "bankruptcy_cause": cause if company.bankrupt else None,
        "ended_on": clock.text(company.last_tick),
        "idle_since": clock.text_of(company.idle_since),
        "tasks_succeeded": sum(client.succeeded for client in company.clients),
        "tasks_failed": sum(client.failed for client in company.clients),
        "tasks_accepted": len(tasks),
        "adversarial_share": _ratio(sum(t.client.spec.adversarial for t in tasks), len(tasks)),
        "trust_share": _ratio(sum(gated), len(tasks)),
        "succeeded_trust_share": _ratio(sum(done), len(done)),
        "adversarial_market_share": _ratio(company.adversarial_offered, len(tasks)),
        **{f"failed_{cause}": sum(t.cause == cause for t in tasks) for cause in CAUSES},
        **{f"failed_{each}": sum(t.cause_detail == each for t in tasks) for each in DETAILS},
        "lost_by_cause_cents": lost,
        "trust_by_client": {client.name: float(client.trust) for client in company.clients},
        "max_prestige": float(max(company.prestige.values())),
        "concurrency": _ratio(company.busy, company.settled - clock.opened),
        "turns": company.turns,
        "commands": commands,
        "commands_per_turn": _ratio(commands, company.turns),
        "inspections_per_accept": _ratio(counts["TaskInspect"], len(tasks)),
        "notes_per_100_turns": _ratio(100 * notes, company.turns),
        "episodes": [*(figures for figures, _ in company.past), company.summary(world.ended)],
    }


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _losses(company: CompanyState) -> dict[str, int]:
    lost = dict.fromkeys(CAUSES, 0)
    for entry in company.accounts.book.journal:
        if entry.kind == FINE:
            task = company.tasks[int(entry.references["task"])]
            lost[task.cause] += task.spec.reward_cents - entry.amounts[CASH]
    return lost


def monthly_series(company: CompanyState) -> dict[str, list[float]]:
    """Return a value a month: `funds_cents` and `tasks_under_way` at its end, the others in it."""
    ends, book = month_ends(company), company.accounts.book
    rats = [task.accepted for task in company.owned if task.client.spec.adversarial]

    def moved(account: str, sign: int) -> list[float]:
        held = [0, *[sign * book.balance(account, at=end) for end in ends]]
        return [float(now - before) for before, now in pairwise(held)]

    def finished(status: str, trust: int = 0) -> list[float]:
        owned = [task for task in company.owned if task.spec.required_trust >= trust]
        return _counted(ends, [task.finished for task in owned if task.status == status])

    return {
        "funds_cents": [float(company.funds_at(end)) for end in ends],
        "revenue_cents": moved(REWARDS, -1),
        "payroll_cents": moved(WAGES, 1),
        "fines_cents": moved(FINES, 1),
        "tasks_accepted": _counted(ends, [task.accepted for task in company.owned]),
        "adversarial_accepted": _counted(ends, rats),
        "tasks_succeeded": finished("completed_success"),
        "trust_succeeded": finished("completed_success", 1),
        "tasks_failed": finished("completed_fail"),
        "tasks_under_way": [_under_way(company, end) for end in ends],
        "staff": [float(len(company.employees))] * len(ends),
        "utilisation": _utilisation(company, ends),
    }


def month_ends(company: CompanyState) -> list[int]:
    """Return the last tick of each month; the last one is the horizon's."""
    horizon = company.clock.horizon
    ends = company.clock.month_ends(horizon)
    return [*(end for end in ends if horizon - end > _DAY), horizon]


def _counted(ends: list[int], ticks: Iterable[int | None]) -> list[float]:
    counts = [0.0] * len(ends)
    for tick in ticks:
        if tick is not None:
            counts[min(bisect_left(ends, tick), len(ends) - 1)] += 1
    return counts


def _under_way(company: CompanyState, end: int) -> float:
    place = bisect_right(company.workload, end, key=itemgetter(0))
    return float(company.workload[place - 1][1]) if place and end <= company.last_tick else 0.0


def _utilisation(company: CompanyState, ends: list[int]) -> list[float]:
    # The mean share of the staff on an active task; NaN after the end of the run.
    shares, staff = [], len(company.employees)
    changes = [*company.workload, (company.last_tick, 0, 0)]
    for first, end in pairwise([company.clock.opened, *ends]):
        present = staff * (min(end, company.last_tick) - first)
        busy = sum(
            people * max(0, min(until, end) - max(since, first))
            for (since, _, people), (until, _, _) in pairwise(changes)
        )
        shares.append(busy / present if present > 0 else math.nan)
    return shares


def founder_tables(company: CompanyState) -> dict[str, list[dict[str, Any]]]:
    """Return the ledger entry by entry with the funds after each, and the sums by category."""
    rows = company.accounts.entries()
    funds = company.funds_cents - sum(row.cents for row in rows)
    sums: dict[str, int] = {"founders' capital": funds}
    ledger: list[dict[str, Any]] = []
    for row in rows:
        funds += row.cents
        sums[row.category] = sums.get(row.category, 0) + row.cents
        about = {"category": row.category, "of": f"{row.reference_type} {row.reference}"}
        amounts = {"amount_cents": row.cents, "funds_cents": funds}
        ledger.append({"time": company.clock.text(row.tick), **about, **amounts})
    by_category = [{"category": name, "amount_cents": cents} for name, cents in sums.items()]
    return {"ledger": ledger, "funds": [*by_category, {"category": "funds", "amount_cents": funds}]}
