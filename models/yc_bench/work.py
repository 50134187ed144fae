"""Progress on record, and the plans that say when work will be done (SPEC sections 7 and 8).

Two mechanisms that the published code keeps apart: plans count nine-hour days, progress (with
`evening_progress`) counts full weekdays until midnight. A task that is planned anew is therefore
ahead of its old plan.
"""

from collections.abc import Iterable
from decimal import Decimal

from models.yc_bench.company import Company, Employee, Task
from models.yc_bench.numbers import decimal, stored
from models.yc_bench.ranks import COMPLETED, MILESTONE, NEVER, rank

__all__ = ["forget", "plan", "plan_anew", "rate_of", "settle", "sharing"]

#: Trust lost a calendar day, as a share of `trust_fragility`.
_DECAY = 0.03
_DAY = 86_400


def rate_of(company: Company, task: Task, *, alone: bool = False) -> Decimal:
    """Return units an hour: the fastest of the team, each shared among their active tasks.

    Args:
        company: Of the task.
        task: Any task with a team.
        alone: Reckon as if the team had no other task.
    """
    domain = task.domain
    # Division by one is exact, so it is left out.
    rates = [
        e.rates[domain] if e.load <= 1 or alone else e.rates[domain] / e.load for e in task.team
    ]
    rates.sort(reverse=True)
    return sum(rates[: company.game.efficient_team or None], Decimal(0))


def settle(company: Company) -> None:
    """Put progress and the wear of trust and prestige on record, up to the present instant."""
    since, now = company.settled, company.world.now
    if since == now:
        return
    if company.active:
        company.busy += len(company.active) * (now - since)
        hours = company.clock.hours_between(since, now)
        if hours > 0:
            for task in company.active:
                done = task.completed + rate_of(company, task) * hours
                task.completed = stored(min(task.required, done), 4)
    _wear(company, (now - since) / 10**6 / _DAY)
    company.settled = now


def plan(company: Company, task: Task) -> None:
    """Reckon when an active task will be done, and let its process wait until then."""
    now, clock, game = company.world.now, company.clock, company.game
    rate = rate_of(company, task)
    remaining = task.required - task.completed
    task.due = now if remaining <= 0 else clock.add_hours(now, remaining / rate) if rate else None
    task.milestone_due = None
    if game.task_progress_milestones:
        task.milestone_due = _next_milestone(company, task, rate)
    _wait(company, task)


def plan_anew(company: Company, tasks: Iterable[Task]) -> None:
    """Plan several active tasks, by row."""
    for task in sorted(tasks, key=lambda t: t.row):
        plan(company, task)


def sharing(people: Iterable[Employee]) -> set[Task]:
    """Return the active tasks that any of these people are on."""
    return {task for who in people for task in who.tasks if task.status == "active"}


def forget(task: Task) -> None:
    """Let nobody wait for a task any more."""
    if task.turn is not None and task.turn.callbacks is not None:
        task.turn.callbacks.clear()
    task.due = task.milestone_due = None


def _wear(company: Company, days: float) -> None:
    game = company.game
    lost = decimal(game.trust_fragility * _DECAY * days)
    for client in company.clients:
        if client.trust:
            left = max(Decimal(0), client.trust - lost)
            client.trust = left if client.unrounded else stored(left, game.trust_digits)
    if game.prestige_decay_per_day:
        lost, least = decimal(game.prestige_decay_per_day * days), decimal(game.prestige_min)
        for domain, level in company.prestige.items():
            company.prestige[domain] = stored(max(least, level - lost), 3)


def _next_milestone(company: Company, task: Task, rate: Decimal) -> int | None:
    """Return when the next milestone will be reached, and remember which it is."""
    for share in company.game.task_progress_milestones:
        if int(100 * share) > task.milestone:
            task.next_milestone = int(100 * share)
            missing = decimal(share) * task.required - task.completed
            now = company.world.now
            if missing <= 0:
                return now
            return company.clock.add_hours(now, missing / rate) if rate else None
    return None


def _wait(company: Company, task: Task) -> None:
    """Move the wait of a task's process to the nearer of its two events."""
    world = company.world
    due, half = task.due, task.milestone_due
    if half is not None and (due is None or half < due):
        when, order = half, rank(MILESTONE, task.rank)
    else:
        when, order = NEVER if due is None else due, rank(COMPLETED, task.rank)
    if task.turn is not None and task.turn.callbacks is not None:
        task.turn = world.moved(task.turn, when - world.now, rank=order)
    else:
        # Its process begins, or is just at work, and will wait for this next.
        task.turn = world.timeout(when - world.now, rank=order)
