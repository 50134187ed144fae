"""A resume: time passes until something has happened, which it reports (SPEC 9.4 and 13.3)."""

from collections.abc import Generator
from typing import Any, NamedTuple

from simpy.events import Event

from models.yc_bench.observation import CommandReply
from models.yc_bench.ranks import BANKRUPTCY, COMPLETED, HORIZON, MILESTONE
from models.yc_bench.rules.checks import stored
from models.yc_bench.state import CompanyState

Resuming = Generator[Event, Any, CommandReply]

_NO_ACTIVE_TASKS = (
    "No active tasks. Accept and dispatch a task before calling sim resume. "
    "Use: market browse → task accept → task dispatch → sim resume"
)


class _Upcoming(NamedTuple):
    """The next event; the order of the fields is the order of events."""

    tick: int
    priority: int
    order: int
    kind: str


def resume(company: CompanyState, line: str, *, forced: bool = False) -> Resuming:
    """Let time pass until something has happened and return the reply to the command.

    Args:
        company: The state.
        line: The command as a line of the console.
        forced: Whether time passes even if no task is active; otherwise the command is refused.
    """
    if not (company.active or forced):
        return CommandReply(line, 1, {"error": _NO_ACTIVE_TASKS})
    upcoming = _upcoming(company)
    before, funds = company.world.now, company.funds_cents
    if upcoming is not None:
        company.target = upcoming.tick
        company.wait = company.world.event()
        yield company.wait
        company.wait = company.target = None
    _round_trust(company)
    report, company.report = company.report, []
    return CommandReply(line, 0, _document(company, before, funds, upcoming, report))


def _upcoming(company: CompanyState) -> _Upcoming | None:
    """Return the next event; None after the horizon."""
    if company.over:
        return None
    events = [_Upcoming(company.horizon, HORIZON, 0, "horizon_end")]
    if company.bankruptcy_due is not None:
        events.append(_Upcoming(company.bankruptcy_due, BANKRUPTCY, 0, "bankruptcy"))
    for task in company.active:
        if task.due is not None:
            events.append(_Upcoming(task.due, COMPLETED, task.rank, "task_completed"))
        if task.milestone_due is not None:
            milestone = _Upcoming(task.milestone_due, MILESTONE, task.rank, "task_half_progress")
            events.append(milestone)
    return min(events)


def _document(
    company: CompanyState,
    before: int,
    funds: int,
    upcoming: _Upcoming | None,
    report: list[dict[str, Any]],
) -> dict[str, Any]:
    now, clock, params = company.world.now, company.clock, company.params
    payrolls = sum(entry["type"] == "monthly_payroll" for entry in report)
    over = now >= company.horizon
    return {
        "ok": True,
        "old_sim_time": clock.text(now if params.resume_reports_new_time else before),
        "new_sim_time": clock.text(now),
        "checkpoint_event_type": upcoming.kind if upcoming else None,
        "events_processed": len(report) - payrolls,
        "payrolls_applied": payrolls,
        "balance_delta": company.funds_cents - funds,
        "wake_events": report,
        "bankrupt": company.bankrupt,
        "horizon_reached": over,
        "terminal_reason": "bankruptcy" if company.bankrupt else "horizon_end" if over else None,
    }


def _round_trust(company: CompanyState) -> None:
    """Round the trust that the step has left unrounded."""
    for client in company.clients:
        if client.unrounded:
            client.unrounded = False
            client.trust = stored(client.trust, company.params.trust_digits)
