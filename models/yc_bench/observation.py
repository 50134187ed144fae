"""What the founder sees: the desk, the answer to the last command, a status when a turn begins."""

from typing import Any

from attrs import frozen

__all__ = ["Desk", "Reply", "Status"]


@frozen
class Reply:
    """What the console answered to a command.

    Attributes:
        command: The command as a line of the console.
        exit_code: 0 done, 1 refused, 2 not understood.
        out: The JSON document it printed; none where nothing was printed.
        stderr: What it said beside; empty if nothing.
    """

    command: str
    exit_code: int
    out: Any
    stderr: str = ""


@frozen
class Status:
    """The status message with which a turn begins (SPEC section 14).

    Attributes:
        number: The turn's number as the message gives it, from 1.
        kind: "initial" at the first turn, "status" afterwards.
        time: ISO date and time.
        horizon_end: ISO date and time.
        funds_cents: Money in the bank, cents.
        monthly_payroll_cents: Sum of the salaries, cents.
        runway_months: Funds over payroll, one decimal.
        employees: How many work here.
        active_tasks: Tasks under way.
        planned_tasks: Tasks accepted and not dispatched.
        memory_countdown: Turns until the oldest messages drop, at least 0.
        bankrupt: Whether funds are below zero.
        events: What the last resume of the turn before reported; none without one.
        closing: What the last line calls for: "nothing running", "planned only" or "neutral".
        scratchpad: The notes as the system prompt shows them.
    """

    number: int
    kind: str
    time: str
    horizon_end: str
    funds_cents: int
    monthly_payroll_cents: int
    runway_months: float
    employees: int
    active_tasks: int
    planned_tasks: int
    memory_countdown: int
    bankrupt: bool
    events: tuple[dict[str, Any], ...]
    closing: str
    scratchpad: str


@frozen
class Desk:
    """What lies on the founder's desk.

    Attributes:
        time: ISO date and time.
        turn: The number of the turn, from 1.
        funds_cents: Money in the bank, cents.
        planned: Titles of tasks accepted and not dispatched, the oldest first; of very many only
            those created last.
        active: Titles of tasks under way, the oldest first.
        reply: What the last command was answered; none before the first of the episode.
        status: The status message; only before the first command of a turn.
    """

    time: str
    turn: int
    funds_cents: int
    planned: tuple[str, ...]
    active: tuple[str, ...]
    reply: Reply | None = None
    status: Status | None = None
