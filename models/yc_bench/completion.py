"""What happens when a task is done: reward or fine, prestige, skills, salaries, trust (SPEC 10)."""

import math
from typing import Any

from models.yc_bench.company import Client, Company, Employee, Task, identifier
from models.yc_bench.numbers import decimal, stored
from models.yc_bench.work import forget, plan_anew, rate_of

__all__ = ["complete", "late_cause", "lose_prestige", "set_trust"]

#: Trust won with the first success, times `trust_max` over `trust_build_rate`; the power with
#: which it slows down; shares of fragility and focus pressure lost (SPEC 2.3).
_GAIN, _POWER, _FAILURE, _FOCUS = 1.6, 1.5, 0.6, 0.06


def complete(company: Company, task: Task) -> dict[str, Any]:
    """End a task at this instant, on time or late, and return the entry of the report."""
    now = company.world.now
    assert task.deadline is not None
    task.completed, task.finished, success = task.required, now, now <= task.deadline
    if not success:
        task.cause = late_cause(company, task)
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


def late_cause(company: Company, task: Task) -> str:
    """Say why a task is late, before its team is released.

    Returns:
        "adversarial" where the client swelled it; "understaffed" where its team would have been
        late even if it had worked on nothing else since the task was accepted; else "thin".
    """
    if task.client.spec.adversarial:
        return "adversarial"
    rate = rate_of(company, task, alone=True)
    assert task.accepted is not None
    assert task.deadline is not None
    alone = company.clock.add_hours(task.accepted, task.required / rate) if rate else None
    return "understaffed" if alone is None or alone > task.deadline else "thin"


def lose_prestige(company: Company, task: Task, times: float) -> None:
    """Take a multiple of a task's prestige away from its domain."""
    least, level = decimal(company.game.prestige_min), company.prestige[task.domain]
    company.prestige[task.domain] = stored(max(least, level - decimal(times) * task.delta), 3)


def set_trust(company: Company, client: Client, trust: float) -> None:
    """Set a client's trust to a double, rounded as the published code rounds and stores it."""
    digits = company.game.trust_digits
    client.trust = stored(round(trust, digits), digits)


def _release(company: Company, task: Task, status: str) -> None:
    task.status = status
    company.active.remove(task)
    forget(task)
    for who in task.team:
        who.tasks.remove(task)
        who.load -= 1


def _succeed(company: Company, task: Task) -> tuple[int, int]:
    """Take the reward, learn and get a raise; return the reward and the reported raises."""
    game, domain = company.game, task.domain
    reward = _payout(company, task)
    company.accounts.earn(company.world.now, task.row, reward)
    task.client.succeeded += 1
    level = company.prestige[domain] + task.delta
    company.prestige[domain] = stored(min(decimal(game.prestige_max), level), 3)
    best = sorted(task.team, key=lambda e: -e.rates[domain])[: game.learners or None]
    limit = decimal(game.skill_rate_max)
    for who in best:
        rate = who.rates[domain]
        who.rates[domain] = stored(min(rate + rate * task.boost, limit), 4)
    return reward, sum(_raise(company, who) for who in task.team)


def _payout(company: Company, task: Task) -> int:
    game, listed = company.game, task.spec.reward_cents
    if game.payout_prestige == "required":
        return listed
    level = float(company.prestige[task.domain])
    return int(listed * (1 + game.reward_prestige_scale * (level - 1)))


def _raise(company: Company, who: Employee) -> int:
    """Raise a salary and return what the report says of it."""
    game, former = company.game, who.salary_cents
    if former < game.salary_max_cents:
        base = former if game.bump_of_salary else company.midpoints[who.spec.tier]
        who.salary_cents = min(game.salary_max_cents, former + int(base * game.salary_bump_pct))
    if game.bump_report_of_salary:
        return int(game.salary_bump_pct * who.salary_cents)
    return who.salary_cents - former


def _fail(company: Company, task: Task) -> int:
    """Pay the fine and lose prestige; return what funds gained, which is below zero."""
    game = company.game
    lose_prestige(company, task, game.penalty_fail_multiplier)
    fine = int(task.spec.reward_cents * game.penalty_fail_funds_pct)
    company.accounts.fine(company.world.now, task.row, fine)
    task.client.failed += 1
    return -fine


def _trust(company: Company, client: Client, x: float, *, success: bool) -> float:
    """Let trust grow or shrink and return by how much, unrounded."""
    game = company.game
    if success:
        gain = game.trust_max * _GAIN / game.trust_build_rate
        y = min(game.trust_max, x + gain * math.pow(max(0.0, 1 - x / game.trust_max), _POWER))
    else:
        y = max(0.0, x - game.trust_fragility * _FAILURE)
    set_trust(company, client, y)
    return y - x


def _lose_focus(company: Company, served: Client) -> None:
    """Every other client trusts less after a completion."""
    lost = company.game.trust_focus_pressure * _FOCUS
    for client in company.clients:
        if client is not served and client.trust > 0:
            set_trust(company, client, max(0.0, float(client.trust) - lost))


def _margin(ahead: int) -> str:
    hours = abs(ahead) / 10**6 / 3600
    return f"{'ahead' if ahead >= 0 else 'late'} by {hours:.0f}h"
