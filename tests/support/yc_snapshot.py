"""The whole state in the form in which the reference data holds it after a command."""

import json
from typing import Any

from models.yc_bench.company.clock import CompanyClock
from models.yc_bench.company.entities import StaffMember, Task
from models.yc_bench.company.state import CompanyState

_ENDINGS = {
    "horizon_end": "The horizon has been reached; the run is over.",
    "bankruptcy": "The company went bankrupt; the run is over.",
}


def event_line(event: dict[str, Any]) -> str:
    """Return an event of a resume as the recorded loops note its line."""
    kind = event["type"]
    if kind != "task_completed":
        return _ENDINGS.get(kind, f"Event: {kind}")
    task = f"{event['task_title']} (client: {event['client_name']})"
    if not event["success"]:
        return f"{task}: FAILED [{event['deadline_margin']}]"
    return (
        f"{task}: SUCCESS +${event['funds_delta'] / 100:,.0f} [{event['deadline_margin']}] | "
        f"{event['employees_assigned']} employees, "
        f"+${event['salary_bump_total_cents'] / 100:,.0f}/mo payroll"
    )


def stamp(clock: CompanyClock, tick: int) -> str:
    """Return a tick as the published store writes it: always with six decimals."""
    return clock.moment(tick).isoformat(" ", "microseconds")


def snapshot(company: CompanyState) -> dict[str, Any]:
    """Return time, funds, levels, staff, open tasks and pending events as plain JSON values.

    Prestige and trust are text with 3 decimals, rates and quantities with 4; events are sorted by
    time, then type.
    """
    prestige, clients = company.prestige, sorted(company.clients, key=lambda c: c.name)
    return {
        "sim_time": stamp(company.clock, company.world.now),
        "funds_cents": company.funds_cents,
        "prestige": {domain: f"{prestige[domain]:.3f}" for domain in sorted(prestige)},
        "trust": {client.name: f"{client.trust:.3f}" for client in clients},
        "employees": {who.name: _employee(who) for who in company.employees},
        "open_tasks": [_open_task(company, task) for task in _open_tasks(company)],
        "pending_events": _pending(company),
    }


def _employee(who: StaffMember) -> dict[str, Any]:
    rates = {domain: f"{who.rates[domain]:.4f}" for domain in sorted(who.rates)}
    return {"salary_cents": who.salary_cents, "rates": rates}


def _open_tasks(company: CompanyState) -> list[Task]:
    return sorted(company.planned + company.active, key=lambda task: task.row)


def _open_task(company: CompanyState, task: Task) -> dict[str, Any]:
    return {
        "title": task.title,
        "status": task.status,
        "deadline": None if task.deadline is None else stamp(company.clock, task.deadline),
        "req": [[each, f"{task.required:.4f}", f"{task.completed:.4f}"] for each in task.domains],
        "assigned": sorted(who.name for who in task.team),
    }


def _pending(company: CompanyState) -> list[list[Any]]:
    events: list[list[Any]] = []

    def add(tick: int | None, kind: str, **payload: Any) -> None:
        if tick is not None:
            events.append([stamp(company.clock, tick), kind, payload])

    for task in company.active:
        add(task.due, "task_completed", task_id=task.identifier)
        half = {"task_id": task.identifier, "milestone_pct": task.next_milestone}
        add(task.milestone_due, "task_half_progress", **half)
    add(company.bankruptcy_due, "bankruptcy", reason="funds_negative_after_payroll")
    add(None if company.over else company.clock.horizon, "horizon_end", reason="horizon_end")
    return sorted(events, key=lambda event: (event[0], event[1], json.dumps(event[2])))
