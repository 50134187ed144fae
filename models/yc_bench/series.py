"""The year month by month: money from the ledger, tasks from their dates."""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from itertools import pairwise

from models.yc_bench.accounts import FINES, REWARDS, WAGES
from models.yc_bench.entities import Task
from models.yc_bench.state import CompanyState

__all__ = ["monthly_series"]

#: A rest of the year that is no longer than this, in microseconds, belongs to the month before.
_DAY = 86_400 * 10**6


def monthly_series(company: CompanyState) -> dict[str, list[float]]:
    """Return one value for each calendar month of the run; after its end money and counts rest.

    `funds_cents` at the end of the month; `revenue_cents`, `payroll_cents` and `fines_cents` in it;
    counts of `tasks_accepted`, `adversarial_accepted`, `tasks_succeeded`, `trust_succeeded` (those
    that needed trust) and `tasks_failed`. A horizon's hours on the 1st belong to the last month.
    """
    ends = _ends(company)
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
    }


def _ends(company: CompanyState) -> list[int]:
    """Return the last tick of each month; the last one is the horizon's."""
    ends = list(company.clock.month_ends(company.horizon))
    if ends and company.horizon - ends[-1] <= _DAY:
        ends.pop()
    return [*ends, company.horizon]


def _counted(ends: list[int], ticks: Iterable[int | None]) -> list[float]:
    counts = [0.0] * len(ends)
    for tick in ticks:
        if tick is not None:
            counts[min(bisect_left(ends, tick), len(ends) - 1)] += 1
    return counts
