"""What happens while time passes: paydays, a task's work, bankruptcy, the horizon.

Time passes only while the founder waits in a resume. Every event moves that wait: to the end of its
instant, so that all events of one instant are handled in one resume; or, if it stops the clock, to
the front, so that the rest of the instant is left for the next resume.
"""

from collections.abc import Generator
from typing import Any

from simpy.events import Event

from desim import World
from models.yc_bench.completion import complete
from models.yc_bench.entities import Task, identifier
from models.yc_bench.ranks import BANKRUPTCY, HORIZON, LAST, PAYDAY, rank
from models.yc_bench.state import CompanyState
from models.yc_bench.work import plan_anew, settle

__all__ = ["Process", "bankruptcy", "horizon", "paydays", "stop", "work"]

Process = Generator[Event, Any, None]

#: After every other priority: when all events of an instant have been handled.
_SETTLED = rank(LAST)


def paydays(world: World, company: CompanyState, episode: int) -> Process:
    """Pay the salaries on the first weekday of each month of an episode."""
    for payday in company.clock.paydays(company.horizon):
        yield world.timeout(payday - world.now, rank=PAYDAY)
        if company.episode != episode:
            return
        if not _skipped(company, payday):
            _pay(company)


def work(world: World, company: CompanyState, task: Task) -> Process:
    """Wait for a task's next milestone or its completion, at the tick that its plan gives."""
    while task.status == "active":
        assert task.wait is not None
        yield task.wait
        settle(company)
        if task.due is not None and task.due <= world.now:
            company.report.append(complete(company, task))
        else:
            company.report.append(_reach_milestone(company, task))
        stop(company, at_once=company.bankrupt)


def horizon(world: World, company: CompanyState, episode: int) -> Process:
    """End the run after the years of an episode."""
    yield world.timeout(company.horizon - world.now, rank=rank(HORIZON))
    if company.episode != episode:
        return
    settle(company)
    company.over = True
    company.report.append({"type": "horizon_end", "reached": True})
    stop(company, at_once=True)


def bankruptcy(world: World, company: CompanyState, episode: int) -> Process:
    """Report a bankruptcy by payroll in the next resume, as the published queue does."""
    company.bankruptcy_due = world.now
    yield world.timeout(0, rank=rank(BANKRUPTCY))
    if company.episode != episode:
        return
    company.bankruptcy_due = None
    company.report.append({"type": "bankruptcy", "bankrupt": True})
    stop(company, at_once=True)


def stop(company: CompanyState, *, at_once: bool) -> None:
    """End the founder's resume: now, or when this instant's events have been handled."""
    if company.bankrupt and company.bankruptcy is None:
        company.bankruptcy = company.world.now
    # Between a stop and the founder's next resume the wait has no callbacks.
    if company.wait is not None and company.wait.callbacks:
        company.wait = company.world.moved(company.wait, 0, rank=0 if at_once else _SETTLED)


def _pay(company: CompanyState) -> None:
    """Pay every employee a month's salary."""
    settle(company)
    world, params = company.world, company.params
    for who in company.employees:
        company.accounts.pay_wages(world.now, who.name, who.salary_cents)
    company.report.append({"type": "monthly_payroll", "funds_after": company.funds_cents})
    if company.bankrupt and params.bankruptcy_is_queued and company.bankruptcy_due is None:
        world.process(bankruptcy(world, company, company.episode))
    if company.bankrupt or params.resume_stops_at_paydays:
        stop(company, at_once=True)


def _skipped(company: CompanyState, payday: int) -> bool:
    """Return whether a resume whose event falls on a payday on the 1st skips it (SPEC 6)."""
    if company.params.payday_at_horizon or company.target != payday:
        return False
    return company.clock.moment(payday).day == 1


def _reach_milestone(company: CompanyState, task: Task) -> dict[str, Any]:
    """Record a milestone and plan all active tasks anew."""
    task.milestone = task.next_milestone
    plan_anew(company, company.active)
    return {
        "type": "task_half",
        "task_id": identifier(task),
        "milestone_pct": task.milestone,
        "handled": True,
    }
