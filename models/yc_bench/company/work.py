"""Work on tasks: plans, recorded progress, and the effects of completion (SPEC 7, 8 and 10).

As published, plans count nine-hour days, progress (`evening_progress`) weekdays until midnight.
"""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from models.yc_bench import formulas
from models.yc_bench.company.entities import Client, StaffMember, Task, by_row
from models.yc_bench.company.state import CompanyState
from models.yc_bench.specs import decimal, stored

#: Payroll comes before any other event of its instant, after the founder's decisions.
PAYDAY = 1

#: Priorities of the other events at one instant (SPEC 9.1); the clock stops after all of them.
COMPLETED, BANKRUPTCY, MILESTONE, HORIZON, LAST = 0, 2, 3, 4, 10

#: More events of one kind than a run can have, and a tick after every horizon.
_SPAN, _NEVER = 10**9, 10**19

#: The causes of late tasks, the classes of the paper's Figure 5(a), and the finer ones that its
#: text counts, recorded for some. The paper defines neither.
CAUSES = ("adversarial", "understaffed", "thin")
DETAILS = ("adversarial_again", "wrong_domain", "too_few")


def rank(priority: int, order: int = 0) -> int:
    """Return the rank of an event by its priority and, among equals, its order of creation."""
    return (priority + 1) * _SPAN + order


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
                done = task.completed + _rate(company, task, task.team) * hours
                task.completed = stored(min(task.required, done), 4)
    _wear(company, (now - since) / 10**6 / 86_400)
    company.settled = now


def plan_anew(company: CompanyState, tasks: Iterable[Task]) -> None:
    """Compute when active tasks will be done, and move their processes' waits to those ticks."""
    now, clock, params = company.world.now, company.clock, company.params
    for task in sorted(tasks, key=by_row):
        rate = _rate(company, task, task.team)
        left = task.required - task.completed
        task.due = now if left <= 0 else clock.add_hours(now, left / rate) if rate else None
        task.milestone_due = None
        if params.task_progress_milestones:
            task.milestone_due = _next_milestone(company, task, rate)
        _wait(company, task)


def sharing(people: Iterable[StaffMember]) -> set[Task]:
    """Return the active tasks to which any of these people are assigned."""
    return {task for who in people for task in who.tasks if task.status == "active"}


def note_workload(company: CompanyState) -> None:
    """Record how many tasks are active and how many people are on one, after a change."""
    world, tasks = company.world, company.active
    people = len({who for task in tasks for who in task.team})
    company.workload.append((world.now, len(tasks), people))
    world.point("tasks_active", len(tasks))
    world.point("staff_busy", people)


def give_up(company: CompanyState, task: Task) -> None:
    """Cancel an open task and plan anew the tasks that share its people; no penalty is posted."""
    active, task.status = task.status == "active", "cancelled"
    (company.active if active else company.planned).remove(task)
    _release(company, task, shared=active or company.params.planned_tasks_split)
    plan_anew(company, sharing(task.team))


def _rate(
    company: CompanyState, task: Task, team: Iterable[StaffMember], *, alone: bool = False
) -> Decimal:
    """Return the units an hour of the fastest of a team in the slowest domain of a task."""
    most, sums = company.params.efficient_team or None, []
    for each in task.domains:
        # Division by one is exact, so it is left out.
        rates = [e.rates[each] if e.load <= 1 or alone else e.rates[each] / e.load for e in team]
        rates.sort(reverse=True)
        sums.append(sum(rates[:most], Decimal(0)))
    return min(sums)


def _wear(company: CompanyState, days: float) -> None:
    params = company.params
    lost = decimal(formulas.trust_worn(params, days))
    for client in company.clients:
        if client.trust:
            left = max(Decimal(0), client.trust - lost)
            client.trust = left if client.unrounded else stored(left, params.trust_digits)
    if params.prestige_decay_per_day:
        lost, least = decimal(params.prestige_decay_per_day * days), decimal(params.prestige_min)
        for domain, level in company.prestige.items():
            company.prestige[domain] = stored(max(least, level - lost), 3)


def _next_milestone(company: CompanyState, task: Task, rate: Decimal) -> int | None:
    now = company.world.now
    for share in company.params.task_progress_milestones:
        if int(100 * share) > task.milestone:
            task.next_milestone = int(100 * share)
            missing = decimal(share) * task.required - task.completed
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
        when, order = _NEVER if due is None else due, rank(COMPLETED, task.rank)
    if task.wait is not None and task.wait.callbacks is not None:
        task.wait = world.moved(task.wait, when - world.now, rank=order)
    else:
        # Its process has not started yet or is running now; it waits for this event next.
        task.wait = world.timeout(when - world.now, rank=order)


def _release(company: CompanyState, task: Task, *, shared: bool) -> None:
    """Free the people of a task that is over; its process is never resumed."""
    if task.wait is not None and task.wait.callbacks is not None:
        task.wait.callbacks.clear()
    task.due = task.milestone_due = None
    for who in task.team:
        who.tasks.remove(task)
        who.load -= shared
    note_workload(company)


def complete(company: CompanyState, task: Task) -> dict[str, Any]:
    """Complete a task at this instant, in time or late, and return its entry of the report."""
    now = company.world.now
    assert task.deadline is not None
    task.completed, task.finished, success = task.required, now, now <= task.deadline
    if not success:
        _note_lateness(company, task)
    task.status = "completed_success" if success else "completed_fail"
    company.active.remove(task)
    _release(company, task, shared=True)
    client, before = task.client, float(task.client.trust)
    if success:
        funds, bump = _succeed(company, task)
        after = formulas.trust_after_success(company.params, before)
    else:
        funds, bump = -_fail(company, task), 0
        after = formulas.trust_after_failure(company.params, before)
    set_trust(company, client, after)
    for other in company.clients:
        if other is not client and other.trust > 0:
            left = formulas.trust_after_other_completions(company.params, float(other.trust))
            set_trust(company, other, left)
    plan_anew(company, company.active)
    ahead = task.deadline - now
    margin = f"{'ahead' if ahead >= 0 else 'late'} by {abs(ahead) / 10**6 / 3600:.0f}h"
    return {
        "type": "task_completed",
        "task_id": task.identifier,
        "task_title": task.title,
        "client_name": client.name,
        "success": success,
        "funds_delta": funds,
        "listed_reward": task.spec.reward_cents,
        "trust_delta": after - before,
        "deadline_margin": margin,
        "employees_assigned": len(task.team),
        "salary_bump_total_cents": bump,
        "bankrupt": company.bankrupt,
    }


def lose_prestige(company: CompanyState, task: Task, times: float) -> None:
    """Subtract a multiple of a task's prestige in each of its domains."""
    least, lost = decimal(company.params.prestige_min), decimal(times) * task.delta
    for domain in task.domains:
        company.prestige[domain] = stored(max(least, company.prestige[domain] - lost), 3)


def set_trust(company: CompanyState, client: Client, trust: float) -> None:
    """Set a client's trust to a double, rounded as the published code rounds and stores it."""
    digits = company.params.trust_digits
    client.trust = stored(round(trust, digits), digits)


def _succeed(company: CompanyState, task: Task) -> tuple[int, int]:
    """Post the reward, raise skills and salaries; return the reward and the reported raises."""
    level = float(min(company.prestige[domain] for domain in task.domains))
    reward = int(task.spec.reward_cents * formulas.payout_factor(company.params, level))
    company.accounts.earn(company.world.now, task.row, reward)
    task.client.succeeded += 1
    for domain in task.domains:
        _learn(company, task, domain)
    return reward, sum(_raise(company, who) for who in task.team)


def _learn(company: CompanyState, task: Task, domain: str) -> None:
    """Raise prestige and skills in a domain."""
    params = company.params
    level = company.prestige[domain] + task.delta
    company.prestige[domain] = stored(min(decimal(params.prestige_max), level), 3)
    best = sorted(task.team, key=lambda e: -e.rates[domain])[: params.learners or None]
    limit = decimal(params.skill_rate_max)
    for who in best:
        rate = who.rates[domain]
        who.rates[domain] = stored(min(rate + rate * task.boost, limit), 4)


def _raise(company: CompanyState, who: StaffMember) -> int:
    """Raise a salary and return the amount that the report counts for it."""
    params, former = company.params, who.salary_cents
    if former < params.salary_max_cents:
        base = former if params.bump_of_salary else company.midpoints[who.spec.tier]
        who.salary_cents = min(params.salary_max_cents, former + int(base * params.salary_bump_pct))
    if params.bump_report_of_salary:
        return int(params.salary_bump_pct * who.salary_cents)
    return who.salary_cents - former


def _fail(company: CompanyState, task: Task) -> int:
    """Lower prestige, and post and return the fine."""
    params = company.params
    lose_prestige(company, task, params.penalty_fail_multiplier)
    fine = int(task.spec.reward_cents * params.penalty_fail_funds_pct)
    company.accounts.fine(company.world.now, task.row, fine)
    task.client.failed += 1
    return fine


def _note_lateness(company: CompanyState, task: Task) -> None:
    """Set the cause of a task that is late now, before its team is released.

    "adversarial": its client swelled it; "adversarial_again": after an earlier one of that client.
    Else "understaffed": its team would have been late even on nothing else since the acceptance;
    "wrong_domain": as many of the fastest would have been in time, else "too_few". Else "thin".
    """
    client, now = task.client, company.world.now
    if client.spec.adversarial:
        task.cause = "adversarial"
        if client.unmasked is None:
            client.unmasked = now
        elif (task.accepted or 0) >= client.unmasked:
            task.cause_detail = "adversarial_again"
    elif _late_alone(company, task, task.team):
        task.cause = "understaffed"
        ranked = sorted(company.employees, key=lambda e: -min(e.rates[d] for d in task.domains))
        fastest = ranked[: len(task.team)]
        task.cause_detail = "too_few" if _late_alone(company, task, fastest) else "wrong_domain"
    else:
        task.cause = "thin"


def _late_alone(company: CompanyState, task: Task, team: Iterable[StaffMember]) -> bool:
    """Return whether a team would have been late on this task alone, at the rates it has now."""
    assert task.accepted is not None
    assert task.deadline is not None
    rate = _rate(company, task, team, alone=True)
    done = company.clock.add_hours(task.accepted, task.required / rate) if rate else None
    return done is None or done > task.deadline
