"""What the founder observes: desk, reply to the last command, status at the start of a turn."""

from typing import Any

from attrs import frozen

from models.yc_bench.read_only import ReadOnlyList, ReadOnlyRow
from models.yc_bench.rules.specs import TaskSpec

__all__ = ["CommandReply", "FounderDesk", "TurnStatus", "market_row"]


@frozen
class CommandReply:
    """The console's reply to a command.

    Attributes:
        command: The command as a line of the console.
        exit_code: 0 done, 1 refused, 2 not understood.
        out: The JSON document on standard output; none where nothing was printed.
        stderr: The text on standard error; empty if there was none.
    """

    command: str
    exit_code: int
    out: Any
    stderr: str = ""


@frozen
class TurnStatus:
    """The status message with which a turn begins (SPEC section 14).

    Attributes:
        number: The turn's number as the message gives it, from 1.
        kind: "initial" at the first turn, "reopened" at the first of a further episode, "status"
            afterwards.
        time: ISO date and time.
        horizon_end: ISO date and time.
        funds_cents: Money in the bank, cents.
        monthly_payroll_cents: Sum of the salaries, cents.
        runway_months: Funds over payroll, one decimal.
        employees: Number of employees.
        active_tasks: Number of tasks under way.
        planned_tasks: Number of tasks accepted and not dispatched.
        memory_countdown: Turns until the oldest messages drop, at least 0.
        bankrupt: Whether funds are below zero.
        events: What the last resume of the turn before reported; none without one.
        closing: What the last line calls for: "nothing running", "planned only" or "neutral".
        scratchpad: The scratchpad as the system prompt shows it.
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
class FounderDesk:
    """What the founder observes before each command.

    Attributes:
        time: ISO date and time.
        turn: The number of the turn, from 1.
        funds_cents: Money in the bank, cents.
        planned: Titles of tasks accepted and not dispatched, the oldest first; of very many only
            those created last.
        active: Titles of tasks under way, the oldest first.
        reply: The reply to the last command; none before the first of the episode.
        status: The status message; only before the first command of a turn.
    """

    time: str
    turn: int
    funds_cents: int
    planned: tuple[str, ...]
    active: tuple[str, ...]
    reply: CommandReply | None = None
    status: TurnStatus | None = None


def market_row(spec: TaskSpec, shown: str, client: str, prestige_delta: float) -> ReadOnlyRow:
    """Return a task's row of `market browse`, keys in the published order.

    Every observation that shows the task shares it.

    Args:
        spec: The task as drawn.
        shown: Its title or identifier.
        client: The client's name.
        prestige_delta: Prestige won with success, as used and shown.
    """
    requirement = ReadOnlyRow({"domain": spec.domain, "required_qty": float(spec.required_qty)})
    return ReadOnlyRow(
        {
            "task_id": shown,
            "client_name": client,
            "required_prestige": spec.required_prestige,
            "required_trust": spec.required_trust,
            "reward_funds_cents": spec.reward_cents,
            "reward_prestige_delta": prestige_delta,
            "skill_boost_pct": spec.skill_boost,
            "requirements": ReadOnlyList([requirement]),
        }
    )
