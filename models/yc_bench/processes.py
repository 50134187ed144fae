"""Processes that run while time passes: paydays, a task's work, bankruptcy, the horizon.

Time passes only while the founder waits in a resume. Every event moves that wait: to the end of its
instant, so that all events of one instant are handled in one resume; or, if it stops the clock, to
the front, so that the rest of the instant is left for the next resume.

A client goes away for good: an event from outside, which neither draws nor posts anything.
"""

from collections.abc import Generator
from typing import Any

from simpy.events import Event

from desim import World
from desim.errors import UsageError, possible
from models.yc_bench.commands.tasks import give_up
from models.yc_bench.company.completion import complete
from models.yc_bench.company.entities import Client, Task, identifier
from models.yc_bench.company.lookup import by_row
from models.yc_bench.company.open_market import remove_client
from models.yc_bench.company.work import plan_anew, settle
from models.yc_bench.ranks import BANKRUPTCY, HORIZON, LAST, PAYDAY, rank
from models.yc_bench.state import CompanyState

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
            company.happened(complete(company, task))
        else:
            company.happened(_reach_milestone(company, task), task=task.shown)
        stop(company, at_once=company.bankrupt)


def horizon(world: World, company: CompanyState, episode: int) -> Process:
    """End the run after the years of an episode."""
    yield world.timeout(company.horizon - world.now, rank=rank(HORIZON))
    if company.episode != episode:
        return
    settle(company)
    company.over = True
    company.happened({"type": "horizon_end", "reached": True})
    stop(company, at_once=True)


def bankruptcy(world: World, company: CompanyState, episode: int) -> Process:
    """Report a bankruptcy by payroll in the next resume, as the published queue does."""
    company.bankruptcy_due = world.now
    yield world.timeout(0, rank=rank(BANKRUPTCY))
    if company.episode != episode:
        return
    company.bankruptcy_due = None
    company.happened({"type": "bankruptcy", "bankrupt": True})
    stop(company, at_once=True)


def stop(company: CompanyState, *, at_once: bool) -> None:
    """End the founder's resume: now, or when this instant's events have been handled."""
    if company.bankrupt and company.bankruptcy is None:
        company.bankruptcy = company.world.now
    if company.closing is not None and (company.bankrupt or company.over):
        company.closing.succeed()
        company.closing = None
    # Between a stop and the founder's next resume the wait has no callbacks.
    if company.wait is not None and company.wait.callbacks:
        company.wait = company.world.moved(company.wait, 0, rank=0 if at_once else _SETTLED)


def _pay(company: CompanyState) -> None:
    """Pay every employee a month's salary."""
    settle(company)
    world, params = company.world, company.params
    for who in company.employees:
        company.accounts.pay_wages(world.now, who.name, who.salary_cents)
    company.happened({"type": "monthly_payroll", "funds_after": company.funds_cents})
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


def lose_client(company: CompanyState, name: str) -> None:
    """Let a client go at this instant, which is reported in the present or else the next resume.

    Its tasks leave the market and its planned and active tasks are cancelled. As the company did
    not give them up, prestige and trust are unchanged; a cancellation never costs money (SPEC
    11.5). A company that is over does not change.

    Raises:
        UsageError: The client is unknown, or already lost.
    """
    client = _present(company, name)
    if company.ended is not None:
        return
    # Progress up to now is at the old rates: a cancelled task frees its people for other tasks.
    settle(company)
    client.lost = company.world.now
    withdrawn = remove_client(company, client)
    cancelled = [task for task in company.planned + company.active if task.client is client]
    cancelled.sort(key=by_row)
    for task in cancelled:
        give_up(company, task)
    company.happened(
        {
            "type": "client_lost",
            "client_name": client.name,
            "tasks_cancelled": [identifier(task) for task in cancelled],
            "task_titles": [task.title for task in cancelled],
            "market_tasks_withdrawn": withdrawn,
        }
    )
    # A resume that ends at this instant anyway keeps its place among the events of the instant.
    if company.wait is not None and not company.wait.triggered:
        stop(company, at_once=False)


def _present(company: CompanyState, name: str) -> Client:
    clients = {client.name: client for client in company.clients if client.lost is None}
    if name not in clients:
        raise UsageError(f"there is no client {name!r}; {possible(name, clients)}")
    return clients[name]
