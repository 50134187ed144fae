"""Completion of a task: reward or fine, prestige, skills, salaries and trust (SPEC section 10).

Causes and costs of late tasks: the basis of the metrics of failure.

The three causes are the classes of the paper's Figure 5(a), in which a late task has one cause: a
client that swelled it, staff too slow for it, staff spread over too many tasks. The details are the
finer ones that its text counts; ours are stated here, as the paper gives no definitions.
"""

from collections.abc import Sequence
from typing import Any

from models.yc_bench.accounts import FINE
from models.yc_bench.company.entities import Client, StaffMember, Task, identifier
from models.yc_bench.company.work import forget, note_workload, plan_anew, rate_of
from models.yc_bench.rules import formulas
from models.yc_bench.rules.checks import decimal, stored
from models.yc_bench.state import CompanyState

#: The causes, one for each late task.
CAUSES = ("adversarial", "understaffed", "thin")


#: Details of the cause, recorded for some late tasks.
DETAILS = ("adversarial_again", "wrong_domain", "too_few")


def note_lateness(company: CompanyState, task: Task) -> None:
    """Set the cause of a task that is late now; its team must not have been released yet.

    "adversarial": its client swelled it; in detail "adversarial_again" if it was accepted after
    the company had already finished a task of that client late. Else "understaffed": its team would
    have been late even if it had worked on nothing else since the acceptance; in detail
    "wrong_domain" if as many people, the fastest of the staff in their slowest domain of the task,
    would have been in time, otherwise "too_few". Else "thin": its people had other tasks, or began
    too late.
    """
    client, now = task.client, company.world.now
    if client.spec.adversarial:
        task.cause = "adversarial"
        if client.unmasked is not None and (task.accepted or 0) >= client.unmasked:
            task.cause_detail = "adversarial_again"
        if client.unmasked is None:
            client.unmasked = now
    elif _late_alone(company, task, task.team):
        task.cause = "understaffed"
        ranked = sorted(
            company.employees, key=lambda e: -min(e.rates[each] for each in task.domains)
        )
        fastest = ranked[: len(task.team)]
        task.cause_detail = "too_few" if _late_alone(company, task, fastest) else "wrong_domain"
    else:
        task.cause = "thin"


def losses(company: CompanyState) -> dict[str, int]:
    """Return by cause the fines paid and the rewards missed, cents; the fines are the ledger's."""
    lost = dict.fromkeys(CAUSES, 0)
    for entry in company.accounts.book.journal:
        if entry.kind == FINE:
            task = company.tasks[int(entry.references["task"])]
            lost[task.cause] += task.spec.reward_cents - entry.amounts["cash"]
    return lost


def bankruptcy_cause(company: CompanyState) -> str | None:
    """Return the cause that lost most; "payroll" without a late task; None without a bankruptcy."""
    if not company.bankrupt:
        return None
    lost = losses(company)
    return max(CAUSES, key=lost.__getitem__) if any(lost.values()) else "payroll"


def _late_alone(company: CompanyState, task: Task, team: Sequence[StaffMember]) -> bool:
    """Return whether a team would have been late on this task alone, at the rates it has now."""
    assert task.accepted is not None
    assert task.deadline is not None
    rate = rate_of(company, task.domains, team, alone=True)
    done = company.clock.add_hours(task.accepted, task.required / rate) if rate else None
    return done is None or done > task.deadline


def complete(company: CompanyState, task: Task) -> dict[str, Any]:
    """Complete a task at this instant, in time or late, and return its entry of the report."""
    now = company.world.now
    assert task.deadline is not None
    task.completed, task.finished, success = task.required, now, now <= task.deadline
    if not success:
        note_lateness(company, task)
    _release(company, task, "completed_success" if success else "completed_fail")
    before = float(task.client.trust)
    funds, bump = _succeed(company, task) if success else (_fail(company, task), 0)
    trust = _trust(company, task.client, before, success=success)
    _lose_focus(company, task.client)
    plan_anew(company, company.active)
    return {
        "type": "task_completed",
        "task_id": identifier(task),
        "task_title": task.title,
        "client_name": task.client.name,
        "success": success,
        "funds_delta": funds,
        "listed_reward": task.spec.reward_cents,
        "trust_delta": trust,
        "deadline_margin": _margin(task.deadline - now),
        "employees_assigned": len(task.team),
        "salary_bump_total_cents": bump,
        "bankrupt": company.bankrupt,
    }


def lose_prestige(company: CompanyState, task: Task, times: float) -> None:
    """Subtract a multiple of a task's prestige in each of its domains."""
    least = decimal(company.params.prestige_min)
    for domain in task.domains:
        level = company.prestige[domain]
        company.prestige[domain] = stored(max(least, level - decimal(times) * task.delta), 3)


def set_trust(company: CompanyState, client: Client, trust: float) -> None:
    """Set a client's trust to a double, rounded as the published code rounds and stores it."""
    digits = company.params.trust_digits
    client.trust = stored(round(trust, digits), digits)


def _release(company: CompanyState, task: Task, status: str) -> None:
    task.status = status
    company.active.remove(task)
    forget(task)
    for who in task.team:
        who.tasks.remove(task)
        who.load -= 1
    note_workload(company)


def _succeed(company: CompanyState, task: Task) -> tuple[int, int]:
    """Post the reward, raise skills and salaries; return the reward and the reported raises."""
    reward = _payout(company, task)
    company.accounts.earn(company.world.now, task.row, reward)
    task.client.succeeded += 1
    for domain in task.domains:
        _learn(company, task, domain)
    return reward, sum(_raise(company, who) for who in task.team)


def _learn(company: CompanyState, task: Task, domain: str) -> None:
    """Raise prestige and skills in a domain after a success."""
    params = company.params
    level = company.prestige[domain] + task.delta
    company.prestige[domain] = stored(min(decimal(params.prestige_max), level), 3)
    best = sorted(task.team, key=lambda e: -e.rates[domain])[: params.learners or None]
    limit = decimal(params.skill_rate_max)
    for who in best:
        rate = who.rates[domain]
        who.shown_rates = None
        who.rates[domain] = stored(min(rate + rate * task.boost, limit), 4)


def _payout(company: CompanyState, task: Task) -> int:
    level = float(min(company.prestige[domain] for domain in task.domains))
    return int(task.spec.reward_cents * formulas.payout_factor(company.params, level))


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
    """Post the fine and lower prestige; return the change of funds, which is not above zero."""
    params = company.params
    lose_prestige(company, task, params.penalty_fail_multiplier)
    fine = int(task.spec.reward_cents * params.penalty_fail_funds_pct)
    company.accounts.fine(company.world.now, task.row, fine)
    task.client.failed += 1
    return -fine


def _trust(company: CompanyState, client: Client, before: float, *, success: bool) -> float:
    """Change the trust of the served client and return the change, unrounded."""
    change = formulas.trust_after_success if success else formulas.trust_after_failure
    after = change(company.params, before)
    set_trust(company, client, after)
    return after - before


def _lose_focus(company: CompanyState, served: Client) -> None:
    """Lower the trust of every other client after a completion."""
    for client in company.clients:
        if client is not served and client.trust > 0:
            left = formulas.trust_after_other_completions(company.params, float(client.trust))
            set_trust(company, client, left)


def _margin(ahead: int) -> str:
    hours = abs(ahead) / 10**6 / 3600
    return f"{'ahead' if ahead >= 0 else 'late'} by {hours:.0f}h"
