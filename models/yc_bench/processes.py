"""Processes that run while time passes: paydays, a task's work, bankruptcy, the horizon.

The founder waits in a resume. Every event moves that wait: to the end of its instant, or, if it
stops the clock, to the front, so that the rest of the instant is left for the next resume.
"""

from collections.abc import Generator
from typing import Any

from simpy.events import Event

from desim import World
from desim.errors import UsageError, possible
from models.yc_bench.commands import withdraw_client
from models.yc_bench.company.entities import Task, by_row
from models.yc_bench.company.state import CompanyState
from models.yc_bench.company.work import (
    BANKRUPTCY,
    HORIZON,
    LAST,
    PAYDAY,
    complete,
    give_up,
    plan_anew,
    rank,
    settle,
)

Process = Generator[Event, Any, None]


def start_calendar(world: World, company: CompanyState) -> None:
    """Start the paydays and the horizon of a company that opens now."""
    world.process(paydays(world, company, company.episode))
    world.process(horizon(world, company, company.episode))


def paydays(world: World, company: CompanyState, episode: int) -> Process:
    """Pay the salaries on the first weekday of each month of an episode."""
    for payday in company.clock.paydays(company.clock.horizon):
        yield world.timeout(payday - world.now, rank=PAYDAY)
        if company.episode != episode:
            return
        # A resume whose event falls on a payday on the 1st skips it (SPEC 6).
        at_target = company.target == payday and company.clock.moment(payday).day == 1
        if company.params.payday_at_horizon or not at_target:
            _pay(company)


def _pay(company: CompanyState) -> None:
    settle(company)
    world, params = company.world, company.params
    company.accounts.pay_wages(world.now, company.employees)
    company.happened({"type": "monthly_payroll", "funds_after": company.funds_cents})
    if company.bankrupt and params.bankruptcy_is_queued and company.bankruptcy_due is None:
        world.process(bankruptcy(world, company, company.episode))
    if company.bankrupt or params.resume_stops_at_paydays:
        _stop(company, at_once=True)


def bankruptcy(world: World, company: CompanyState, episode: int) -> Process:
    """Report a bankruptcy by payroll in the next resume, as the published queue does."""
    company.bankruptcy_due = world.now
    yield world.timeout(0, rank=rank(BANKRUPTCY))
    if company.episode != episode:
        return
    company.bankruptcy_due = None
    company.happened({"type": "bankruptcy", "bankrupt": True})
    _stop(company, at_once=True)


def work(world: World, company: CompanyState, task: Task) -> Process:
    """Wait for a task's next milestone or its completion, at the tick that its plan gives."""
    while task.status == "active":
        assert task.wait is not None
        yield task.wait
        settle(company)
        if task.due is not None and task.due <= world.now:
            company.happened(complete(company, task))
        else:
            task.milestone = task.next_milestone
            plan_anew(company, company.active)
            reached = {"task_id": task.identifier, "milestone_pct": task.milestone}
            company.happened({"type": "task_half", **reached, "handled": True}, task=task.shown)
        _stop(company, at_once=company.bankrupt)


def horizon(world: World, company: CompanyState, episode: int) -> Process:
    """End the run after the years of an episode."""
    yield world.timeout(company.clock.horizon - world.now, rank=rank(HORIZON))
    if company.episode != episode:
        return
    settle(company)
    company.over = True
    company.happened({"type": "horizon_end", "reached": True})
    _stop(company, at_once=True)


def _stop(company: CompanyState, *, at_once: bool) -> None:
    """End the founder's resume: now, or when this instant's events have been handled."""
    if company.bankruptcy is None and company.bankrupt:
        company.bankruptcy = company.world.now
    if company.closing is not None and (company.bankrupt or company.over):
        company.closing.succeed()
        company.closing = None
    # Between a stop and the founder's next resume the wait has no callbacks.
    if company.wait is not None and company.wait.callbacks:
        company.wait = company.world.moved(company.wait, 0, rank=0 if at_once else rank(LAST))


def lose_client(company: CompanyState, name: str) -> None:
    """Let a client go at this instant, an event from outside that ends the founder's resume.

    Its tasks leave the market or are cancelled, which costs neither prestige nor trust. A company
    that is over does not change.

    Raises:
        UsageError: The client is unknown, or already lost.
    """
    clients = {client.name: client for client in company.clients if client.lost is None}
    if name not in clients:
        raise UsageError(f"there is no client {name!r}; {possible(name, clients)}")
    if company.ended is not None:
        return
    # Progress up to now is at the old rates: a cancelled task frees its people for other tasks.
    settle(company)
    clients[name].lost = company.world.now
    withdrawn = withdraw_client(company, clients[name])
    open_tasks = sorted(company.planned + company.active, key=by_row)
    cancelled = [task for task in open_tasks if task.client.name == name]
    for task in cancelled:
        give_up(company, task)
    company.happened(
        {
            "type": "client_lost",
            "client_name": name,
            "tasks_cancelled": [task.identifier for task in cancelled],
            "task_titles": [task.title for task in cancelled],
            "market_tasks_withdrawn": withdrawn,
        }
    )
    # A resume that ends at this instant anyway keeps its place among the events of the instant.
    if company.wait is not None and not company.wait.triggered:
        _stop(company, at_once=False)
