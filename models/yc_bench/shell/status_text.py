"""The status of a turn as text, with the published lines for events (SPEC section 14)."""

from collections.abc import Mapping
from typing import Any

from desim.show.column import CENTS
from desim.show.labels import dollars_text, value_text
from models.yc_bench.observation import CommandReply, TurnStatus


def message(status: TurnStatus) -> str:
    """Return a status as text, fields in the published order."""
    dropped = "Memory: your oldest messages have been dropped; keep notes on the scratchpad."
    left = f"Memory: {status.memory_countdown} turns until your oldest messages drop."
    lines = [
        *([_REOPENED, ""] if status.kind == "reopened" else ()),
        f"Turn {status.number}",
        f"Current time: {status.time}",
        f"Horizon end: {status.horizon_end}",
        f"Funds: {dollars_text(status.funds_cents)} ({status.funds_cents} cents)",
        f"Monthly payroll: {dollars_text(status.monthly_payroll_cents)}",
        f"Runway: ~{status.runway_months} months",
        f"Employees: {status.employees}",
        f"Active tasks: {status.active_tasks}",
        f"Planned tasks: {status.planned_tasks}",
        left if status.memory_countdown else dropped,
    ]
    if status.bankrupt:
        lines.append("Warning: funds are below zero; the company is bankrupt.")
    if status.events:
        lines += ["", "Since the last turn:", *(f"- {event_line(e)}" for e in status.events)]
    return "\n".join([*lines, "", _CLOSINGS[status.closing]])


_REOPENED = (
    "The company went bankrupt. This is a new one in the same world, from its first day; your "
    "scratchpad was kept."
)

_CLOSINGS = {
    "nothing running": "Nothing is running: accept a task, assign people and dispatch it before "
    "you resume.",
    "planned only": "Only planned tasks: dispatch one before you resume.",
    "neutral": "Decide what to do next.",
}

#: Lines of events without details; an unknown event is written as `Event: TYPE`.
_FIXED = {
    "horizon_end": "The horizon has been reached; the run is over.",
    "bankruptcy": "The company went bankrupt; the run is over.",
}


def event_line(event: Mapping[str, Any]) -> str:
    """Return the line of one report of a resume.

    >>> event_line({"type": "monthly_payroll", "funds_after": 16199497})
    'Event: monthly_payroll'
    """
    kind = str(event.get("type", ""))
    if kind == "client_lost":
        titles = ", ".join(event["task_titles"]) or "no tasks"
        return f"{event['client_name']} is no longer a client; cancelled: {titles}"
    if kind != "task_completed":
        return _FIXED.get(kind, f"Event: {kind}")
    task = f"{event['task_title']} (client: {event['client_name']})"
    if not event["success"]:
        return f"{task}: FAILED [{event['deadline_margin']}]"
    return (
        f"{task}: SUCCESS +${event['funds_delta'] / 100:,.0f} [{event['deadline_margin']}] | "
        f"{event['employees_assigned']} employees, "
        f"+${event['salary_bump_total_cents'] / 100:,.0f}/mo payroll"
    )


def effect(reply: CommandReply | None) -> str:
    """Return what a command that was carried out did, in sentences; empty for one that only shows.

    >>> effect(CommandReply("", 0, {"task_id": "Task-3", "deadline": "2025-01-09T18:00:00"}))
    'Task-3 is due on 2025-01-09 18:00:00. Put people on it, then dispatch it.'
    """
    match reply.out if reply else None:
        case {"task_id": task, "deadline": str(due)}:
            return f"{task} is due on {value_text(due)}. Put people on it, then dispatch it."
        case {"task_id": task, "total_assigned": people}:
            return f"{len(people)} people are on {task} now."
        case {"task_id": task, "assignment_count": people}:
            return f"Work on {task} begins, with {people} people, when you resume the clock."
        case {"wake_events": events, "new_sim_time": str(now)}:
            happened = " ".join(filter(None, map(_event_sentence, events)))
            return f"It is {value_text(now)} now. {happened}".rstrip()
    return ""


def _event_sentence(event: Mapping[str, Any]) -> str:
    """Return an event for a person, who reads no line of the console."""
    match event:
        case {"type": "task_completed", "task_title": task, "funds_delta": cents}:
            when = "in time" if event["success"] else "too late"
            return f"{task} was done {when}: {CENTS.text(cents)}."
        case {"type": "monthly_payroll"}:
            return "Salaries were paid."
        case {"type": "task_half"}:
            return "A task has reached a part of its work."
    return f"{event_line(event).rstrip('.')}."
