"""The open market: the tasks that the company could accept now, the best paid first.

Prestige and trust open a task when they reach its level, so the selection changes only when one of
them passes a whole number, or when a task is taken. It is kept from look to look.
"""

from bisect import insort

from models.yc_bench.company.entities import Client, Task
from models.yc_bench.state import CompanyState, best_paid


def open_tasks(company: CompanyState) -> list[Task]:
    """Return the tasks of the market that fit prestige and trust; callers must not change it."""
    levels = _levels(company)
    if levels != company.open_levels:
        company.open_levels = levels
        company.open = [task for task in company.market if _fits(company, task)]
    return company.open


def withdraw(company: CompanyState, task: Task) -> None:
    """Take an open task off the market; record the adversarial share of the open tasks."""
    selected = open_tasks(company)
    adversarial = sum([each.client.spec.adversarial for each in selected])
    company.adversarial_offered += adversarial / len(selected)
    selected.remove(task)
    company.market.remove(task)


def admit(company: CompanyState, task: Task) -> None:
    """Enter a task that has just come to the market into the selection, if it is open."""
    if _fits(company, task):
        insort(company.open, task, key=best_paid)


def remove_client(company: CompanyState, client: Client) -> int:
    """Take all tasks of a client off the market for good, and return their number."""
    leaving = [task for task in company.market if task.client is client]
    for task in leaving:
        # No longer "market", because a task may be accepted by a name that was seen before.
        task.status = "cancelled"
    company.market = [task for task in company.market if task.client is not client]
    company.open = [task for task in company.open if task.client is not client]
    return len(leaving)


def _fits(company: CompanyState, task: Task) -> bool:
    spec, levels = task.spec, company.prestige
    if spec.required_trust and spec.required_trust > task.client.trust:
        return False
    if spec.required_prestige > levels[spec.domain]:
        return False
    # Called for every task of the market, most of which have one domain.
    return not spec.further or spec.required_prestige <= min(map(levels.__getitem__, spec.further))


def _levels(company: CompanyState) -> tuple[int, ...]:
    levels = [*company.prestige.values(), *[client.trust for client in company.clients]]
    return tuple(map(int, levels))
