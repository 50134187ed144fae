"""What a founder is told: the rules, the status of a turn, what a command was answered."""

import json
from collections.abc import Mapping
from typing import Any

from policies.llm.talk import shown

__all__ = ["CONSOLE", "DROPPED", "result", "rules", "status"]

DROPPED = "(Older messages have been dropped. What matters should be on your scratchpad.)"

CONSOLE = """Commands (give each as one line, starting with `yc-bench`):
- look: `company status`, `employee list`, `market browse [--domain D] [--reward-min-cents N] \
[--limit N]`, `task list [--status S]`, `task inspect --task-id T`, `client list`, \
`client history`, `finance ledger`
- act: `task accept --task-id T`, `task assign --task-id T --employees A,B`, \
`task dispatch --task-id T`, `task cancel --task-id T --reason TEXT`, `sim resume`
- note: `scratchpad write --content TEXT`, `scratchpad append --content TEXT`"""

_RULES = """You are the head of a start-up. Over the run make its funds and its prestige grow, \
and never let it go bankrupt.

Every turn, go through the same loop: browse the market, accept a task, assign people to it, \
dispatch it, resume the clock. Run several tasks at once where people are free for them. Time \
passes only when you resume.

Only the latest 20 turns of this conversation are kept. Write what you will need later on your \
scratchpad; it is shown to you here.

How the world works:
- Everybody assigned to a task gets a raise when it is done.
- Somebody who works on several tasks at once divides their rate among them.
- A task that is done after its deadline costs prestige instead of earning money.
- A client's trust grows with work done for it: it lessens the work and opens better tasks; trust \
of the other clients fades meanwhile.
- Some clients are not reliable.
- Salaries are paid every month; a company whose funds fall below zero is bankrupt.
- Prestige is counted by domain, and better tasks need more of it."""

_STEPS = """Your first steps:
1. Browse the market for tasks you can take.
2. Accept one whose reward is worth its work.
3. Assign people to it by name.
4. Dispatch it.
5. Resume the clock.
Without an active task the clock cannot move. Salaries are due every month, so do not lose time."""

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


def rules(*, console: bool) -> str:
    """Return the part of the system prompt that never changes."""
    return f"{_RULES}\n\n{CONSOLE}" if console else _RULES


def status(seen: Any) -> str:
    """Return the message with which a turn begins, its figures in the published order."""
    left = f"{seen.memory_countdown} turns until your oldest messages are dropped"
    lines = [
        f"Turn {seen.number}",
        f"Time: {seen.time}",
        f"End of the run: {seen.horizon_end}",
        f"Funds: {_dollars(seen.funds_cents)} ({seen.funds_cents} cents)",
        f"Monthly payroll: {_dollars(seen.monthly_payroll_cents)}",
        f"Runway: ~{seen.runway_months} months",
        f"Employees: {seen.employees}",
        f"Active tasks: {seen.active_tasks}",
        f"Planned tasks: {seen.planned_tasks}",
    ]
    if seen.kind == "initial":
        return "\n".join([*lines, "", _STEPS])
    lines.append(f"Memory: {left if seen.memory_countdown else 'older messages were dropped'}")
    if seen.bankrupt:
        lines.append("Warning: funds are below zero.")
    if seen.events:
        lines += ["", "Since your last turn:", *(f"- {_event(each)}" for each in seen.events)]
    return "\n".join([*lines, "", _CLOSINGS.get(seen.closing, _CLOSINGS["neutral"])])


def result(reply: Any) -> str:
    """Return what a command was answered, as the published tool does."""
    printed = ""
    if isinstance(reply.out, str):
        printed = reply.out
    elif reply.out is not None:
        printed = json.dumps(reply.out, indent=2 if reply.exit_code == 0 else None)
    return shown(
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
    """Return the line of one report of a resume; of what is not known its type alone."""
    kind = str(event.get("type", ""))
    if kind != "task_completed":
        return _ENDINGS.get(kind, kind)
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


def _dollars(cents: int) -> str:
    return f"${cents / 100:,.2f}"
