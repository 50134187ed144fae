"""Texts for the founder of YC-Bench: the rules, the status of a turn, the result of a command."""

import json
from collections.abc import Mapping
from typing import Any

from desim.show.labels import dollars_text
from policies.llm.messages import as_json

DROPPED = "(Older messages have been dropped. What matters should be on your scratchpad.)"

CONSOLE = """Commands (give each as one line, starting with `yc-bench`):
- look: `company status`, `employee list`, `market browse [--domain D] [--reward-min-cents N] \
[--limit N]`, `task list [--status S]`, `task inspect --task-id T`, `client list`, \
`client history`, `finance ledger`
- act: `task accept --task-id T`, `task assign --task-id T --employees A,B`, \
`task dispatch --task-id T`, `task cancel --task-id T --reason TEXT`, `sim resume`
- note: `scratchpad write --content TEXT`, `scratchpad append --content TEXT`"""

_MEMORY = """Only the latest 20 turns of this conversation are kept. Write what you will need \
later on your scratchpad; it is shown to you here."""

_STEPS = """Your first steps:
1. Browse the market for tasks you can take.
2. Accept one whose reward is worth its work.
3. Assign people to it by name.
4. Dispatch it.
5. Resume the clock.
Without an active task the clock cannot move. Salaries are due every month, so do not lose time."""

_REOPENED = """Your company went bankrupt. This is a new one in the same world, on its first day. \
Your scratchpad was kept; nothing else was."""

_CLOSINGS = {
    "nothing running": "Nothing is under way: accept a task, assign people and dispatch it; the "
    "clock cannot move before.",
    "planned only": "There are only planned tasks: dispatch one before you resume.",
    "neutral": "What will you do next?",
}

_ENDINGS = {
    "horizon_end": "The end of the run has been reached.",
    "bankruptcy": "The company is bankrupt.",
}


def rules(world: str, *, console: bool) -> str:
    """Return the part of the system prompt that never changes, given the rules of the world."""
    parts = [world, _MEMORY, *([CONSOLE] if console else [])]
    return "\n\n".join(parts)


def status(turn: Any) -> str:
    """Return the message with which a turn begins, its figures in the published order."""
    left = f"{turn.memory_countdown} turns until your oldest messages are dropped"
    lines = [
        f"Turn {turn.number}",
        f"Time: {turn.time}",
        f"End of the run: {turn.horizon_end}",
        f"Funds: {dollars_text(turn.funds_cents)} ({turn.funds_cents} cents)",
        f"Monthly payroll: {dollars_text(turn.monthly_payroll_cents)}",
        f"Runway: ~{turn.runway_months} months",
        f"Employees: {turn.employees}",
        f"Active tasks: {turn.active_tasks}",
        f"Planned tasks: {turn.planned_tasks}",
    ]
    if turn.kind == "initial":
        return "\n".join([*lines, "", _STEPS])
    if turn.kind == "reopened":
        return "\n".join([_REOPENED, "", *lines, "", _STEPS])
    lines.append(f"Memory: {left if turn.memory_countdown else 'older messages were dropped'}")
    if turn.bankrupt:
        lines.append("Warning: funds are below zero.")
    if turn.events:
        lines += ["", "Since your last turn:", *(f"- {_event(each)}" for each in turn.events)]
    return "\n".join([*lines, "", _CLOSINGS.get(turn.closing, _CLOSINGS["neutral"])])


def result(reply: Any) -> str:
    """Return the result of a command, as the published tool writes it."""
    printed = ""
    if isinstance(reply.out, str):
        printed = reply.out
    elif reply.out is not None:
        printed = json.dumps(reply.out, indent=2 if reply.exit_code == 0 else None)
    return as_json(
        {
            "ok": reply.exit_code == 0,
            "exit_code": reply.exit_code,
            "stdout": printed,
            "stderr": reply.stderr,
            "sim_time": None,
            "command": reply.command,
        }
    )


def _event(event: Mapping[str, Any]) -> str:
    """Return the line of one event; an unknown type is shown as `Event: TYPE`."""
    kind = str(event.get("type", ""))
    if kind != "task_completed":
        return _ENDINGS.get(kind, f"Event: {kind}")
    task = f"{event.get('task_title')} for {event.get('client_name')}"
    margin = event.get("deadline_margin")
    if not event.get("success"):
        return f"{task}: FAILED [{margin}]"
    return (
        f"{task}: done, {_gain(event.get('funds_delta'))} [{margin}]; "
        f"{event.get('employees_assigned')} people, "
        f"{_gain(event.get('salary_bump_total_cents'))} payroll a month"
    )


def _gain(cents: Any) -> str:
    return f"+${(cents or 0) / 100:,.0f}"
