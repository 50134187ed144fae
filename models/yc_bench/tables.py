"""Tables open to the founder: the published ledger, and the funds by category, in cents.

The year month by month: money from the ledger, tasks from their dates.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from itertools import pairwise
from operator import itemgetter
from typing import Any

from desim.show.column import Column
from models.yc_bench.accounts import FINES, REWARDS, WAGES
from models.yc_bench.company.entities import Task
from models.yc_bench.state import CompanyState


def founder_tables(company: CompanyState) -> dict[str, list[dict[str, Any]]]:
    """Return the ledger entry by entry with the funds after each, and the sums by category."""
    rows = list(company.accounts.entries())
    funds = company.funds_cents - sum(row.cents for row in rows)
    sums: dict[str, int] = {"founders' capital": funds}
    ledger: list[dict[str, Any]] = []
    for row in rows:
        funds += row.cents
        sums[row.category] = sums.get(row.category, 0) + row.cents
        ledger.append(
            {
                "time": company.clock.text(row.tick),
                "category": row.category,
                "of": f"{row.reference_type} {row.reference}",
                "amount_cents": row.cents,
                "funds_cents": funds,
            }
        )
    by_category = [{"category": name, "amount_cents": cents} for name, cents in sums.items()]
    return {"ledger": ledger, "funds": [*by_category, {"category": "funds", "amount_cents": funds}]}


#: A rest of the year that is no longer than this, in microseconds, belongs to the month before.
_DAY = 86_400 * 10**6


def monthly_series(company: CompanyState) -> dict[str, list[float]]:
    """Return one value for each calendar month of the run; after its end money and counts rest.

    `funds_cents` at the end of the month; `revenue_cents`, `payroll_cents` and `fines_cents` in it;
    counts of `tasks_accepted`, `adversarial_accepted`, `tasks_succeeded`, `trust_succeeded` (those
    that needed trust) and `tasks_failed`; `tasks_under_way` at its end; `staff`, and `utilisation`,
    the mean share of them on an active task, NaN after the end of the run. A horizon's hours on the
    1st belong to the last month.
    """
    ends = month_ends(company)
    book = company.accounts.book

    def moved(account: str, sign: int) -> list[float]:
        held = [0, *[sign * book.balance(account, at=end) for end in ends]]
        return [float(now - before) for before, now in pairwise(held)]

    def counted(ticks: Iterable[int | None]) -> list[float]:
        return _counted(ends, ticks)

    def finished(fits: Callable[[Task], bool]) -> list[float]:
        return counted(task.finished for task in company.owned if fits(task))

    return {
        "funds_cents": [float(company.funds_at(end)) for end in ends],
        "revenue_cents": moved(REWARDS, -1),
        "payroll_cents": moved(WAGES, 1),
        "fines_cents": moved(FINES, 1),
        "tasks_accepted": counted(task.accepted for task in company.owned),
        "adversarial_accepted": counted(
            task.accepted for task in company.owned if task.client.spec.adversarial
        ),
        "tasks_succeeded": finished(lambda task: task.status == "completed_success"),
        "trust_succeeded": finished(
            lambda task: task.status == "completed_success" and task.spec.required_trust > 0
        ),
        "tasks_failed": finished(lambda task: task.status == "completed_fail"),
        "tasks_under_way": _under_way(company, ends),
        "staff": [float(len(company.employees))] * len(ends),
        "utilisation": _utilisation(company, ends),
    }


#: Unit and label of every series: those by month, and the two recorded when they change.
COLUMNS = {
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


def month_ends(company: CompanyState) -> list[int]:
    """Return the last tick of each month; the last one is the horizon's."""
    ends = list(company.clock.month_ends(company.horizon))
    if ends and company.horizon - ends[-1] <= _DAY:
        ends.pop()
    return [*ends, company.horizon]


def _under_way(company: CompanyState, ends: list[int]) -> list[float]:
    """Return the number of active tasks at the end of each month; 0 after the end of the run."""
    changes = [(tick, float(tasks)) for tick, tasks, _ in company.workload]
    return [_at(changes, end) if end <= company.last_tick else 0.0 for end in ends]


def _utilisation(company: CompanyState, ends: list[int]) -> list[float]:
    """Return the mean share of the staff on an active task in each month of the run, else NaN."""
    shares = []
    last, people = company.last_tick, len(company.employees)
    for first, end in pairwise([company.clock.opened, *ends]):
        until = min(end, last)
        busy = _area(company.workload, first, until)
        shares.append(busy / (people * (until - first)) if people and until > first else math.nan)
    return shares


def _at(changes: list[tuple[int, float]], tick: int) -> float:
    place = bisect_right(changes, tick, key=itemgetter(0))
    return changes[place - 1][1] if place else 0.0


def _area(workload: list[tuple[int, int, int]], first: int, last: int) -> int:
    """Return people on a task times the ticks that they were on it, between two ticks."""
    changes = [(0, 0, 0), *workload, (last, 0, 0)]
    return sum(
        people * max(0, min(until, last) - max(since, first))
        for (since, _, people), (until, _, _) in pairwise(changes)
    )


def _counted(ends: list[int], ticks: Iterable[int | None]) -> list[float]:
    counts = [0.0] * len(ends)
    for tick in ticks:
        if tick is not None:
            counts[min(bisect_left(ends, tick), len(ends) - 1)] += 1
    return counts
