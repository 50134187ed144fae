"""Recorded progress, and the plans that say when work will be done (SPEC sections 7 and 8).

The published code counts them differently: plans count nine-hour days, progress (with
`evening_progress`) counts full weekdays until midnight. A task that is planned anew is therefore
ahead of its old plan.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from models.yc_bench.company.entities import StaffMember, Task
from models.yc_bench.ranks import COMPLETED, MILESTONE, NEVER, rank
from models.yc_bench.rules.checks import decimal, stored
from models.yc_bench.rules.formulas import trust_worn
from models.yc_bench.state import CompanyState

_MICROSECONDS = 10**6
_DAY_SECONDS = 86_400


def rate_of(
    company: CompanyState,
    domains: Iterable[str],
    team: Sequence[StaffMember],
    *,
    alone: bool = False,
) -> Decimal:
    """Return units an hour in the slowest of some domains.

    In one it is the sum over the fastest of a team, each shared among their tasks.

    Args:
        company: The state.
        domains: The domains of the work.
        team: The people.
        alone: Whether to assume that they have no other task.
    """
    return min([_rate_in(company, domain, team, alone=alone) for domain in domains])


def _rate_in(
    company: CompanyState, domain: str, team: Sequence[StaffMember], *, alone: bool
) -> Decimal:
    # Division by one is exact, so it is left out.
    rates = [e.rates[domain] if e.load <= 1 or alone else e.rates[domain] / e.load for e in team]
    rates.sort(reverse=True)
    return sum(rates[: company.params.efficient_team or None], Decimal(0))


def settle(company: CompanyState) -> None:
    """Record progress and the wear of trust and prestige up to the present instant."""
    since, now = company.settled, company.world.now
    if since == now:
        return
    if company.active:
        company.busy += len(company.active) * (now - since)
        hours = company.clock.hours_between(since, now)
        if hours > 0:
            for task in company.active:
                done = task.completed + rate_of(company, task.domains, task.team) * hours
                task.completed = stored(min(task.required, done), 4)
    _wear(company, (now - since) / _MICROSECONDS / _DAY_SECONDS)
    company.settled = now


def plan(company: CompanyState, task: Task) -> None:
    """Compute when an active task will be done, and move its process's wait to that tick."""
    now, clock, params = company.world.now, company.clock, company.params
    rate = rate_of(company, task.domains, task.team)
    remaining = task.required - task.completed
    task.due = now if remaining <= 0 else clock.add_hours(now, remaining / rate) if rate else None
    task.milestone_due = None
    if params.task_progress_milestones:
        task.milestone_due = _next_milestone(company, task, rate)
    _wait(company, task)


def plan_anew(company: CompanyState, tasks: Iterable[Task]) -> None:
    """Plan several active tasks, by row."""
    for task in sorted(tasks, key=lambda t: t.row):
        plan(company, task)


def sharing(people: Iterable[StaffMember]) -> set[Task]:
    """Return the active tasks to which any of these people are assigned."""
    return {task for who in people for task in who.tasks if task.status == "active"}


def note_workload(company: CompanyState) -> None:
    """Note how many tasks are active and how many people are on one, after a change."""
    world, tasks = company.world, company.active
    people = len({who for task in tasks for who in task.team})
    company.workload.append((world.now, len(tasks), people))
    world.point("tasks_active", len(tasks))
    world.point("staff_busy", people)


def forget(task: Task) -> None:
    """Drop a task's planned events; its process is never resumed."""
    if task.wait is not None and task.wait.callbacks is not None:
        task.wait.callbacks.clear()
    task.due = task.milestone_due = None


def _wear(company: CompanyState, days: float) -> None:
    params = company.params
    lost = decimal(trust_worn(params, days))
    for client in company.clients:
        if client.trust:
            left = max(Decimal(0), client.trust - lost)
            client.trust = left if client.unrounded else stored(left, params.trust_digits)
    if params.prestige_decay_per_day:
        lost, least = decimal(params.prestige_decay_per_day * days), decimal(params.prestige_min)
        for domain, level in company.prestige.items():
            company.prestige[domain] = stored(max(least, level - lost), 3)


def _next_milestone(company: CompanyState, task: Task, rate: Decimal) -> int | None:
    """Return when the next milestone will be reached, and set `next_milestone` to it."""
    for share in company.params.task_progress_milestones:
        if int(100 * share) > task.milestone:
            task.next_milestone = int(100 * share)
            missing = decimal(share) * task.required - task.completed
            now = company.world.now
            if missing <= 0:
                return now
            return company.clock.add_hours(now, missing / rate) if rate else None
    return None


def _wait(company: CompanyState, task: Task) -> None:
    """Move the wait of a task's process to the nearer of its two events."""
    world = company.world
    due, half = task.due, task.milestone_due
    if half is not None and (due is None or half < due):
        when, order = half, rank(MILESTONE, task.rank)
    else:
        when, order = NEVER if due is None else due, rank(COMPLETED, task.rank)
    if task.wait is not None and task.wait.callbacks is not None:
        task.wait = world.moved(task.wait, when - world.now, rank=order)
    else:
        # Its process has not started yet or is running now; it waits for this event next.
        task.wait = world.timeout(when - world.now, rank=order)
