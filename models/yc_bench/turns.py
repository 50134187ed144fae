"""Turns: what lies between two messages to the founder (SPEC section 14).

The published loop prepares the next status message at the end of a turn that resumed, with that
turn's own number, and reads the notes only where it did not: both are switches.
"""

from collections.abc import Mapping
from typing import Any

from models.yc_bench.company import Company
from models.yc_bench.observation import Status
from models.yc_bench.rules import Protocol

__all__ = ["MEMORY", "Turns", "event_line", "message"]

#: Turns a conversation holds; the published message says so whatever the parameter.
MEMORY = 20

#: Months of runway shown where nobody is paid.
_FOR_EVER = 9999.0


class Turns:
    """Counts turns, and prepares the status with which each begins.

    Args:
        game: The parameters.

    Attributes:
        number: Turns begun.
        idle: Turns in a row without a resume.
        still: Turns in a row in which no time passed.
        status: The status of the present turn; none before the first.
    """

    def __init__(self, game: Protocol) -> None:
        self.game = game
        self.number = 0
        self.idle = 0
        self.still = 0
        self.status: Status | None = None
        self._payload: Mapping[str, Any] | None = None
        self._scratchpad = ""
        self._now = 0

    def begin(self, company: Company) -> None:
        """Begin the next turn."""
        payload, self._payload = self._payload, None
        self.number += 1
        self.still = self.still + 1 if company.world.now == self._now else 0
        self._now = company.world.now
        lags = payload is not None and self.game.status_number_lags
        if payload is None or not self.game.stale_scratchpad:
            self._scratchpad = company.scratchpad
        self.status = self._look(company, self.number - lags, payload or {})

    def resumed(self, payload: Mapping[str, Any]) -> None:
        """Note a resume of the present turn; the last one's events are shown in the next.

        Args:
            payload: The document it printed, `{"error": ...}` for a refused one, which counts
                only if `errors_count_as_resume`.
        """
        if "error" in payload and not self.game.errors_count_as_resume:
            return
        self._payload = payload
        self.idle = 0

    def close(self) -> bool:
        """End the turn and return whether the clock must be moved on for the founder.

        Whoever then resumes tells `resumed`, as if the founder had done so in this turn.
        """
        if self._payload is None:
            self.idle += 1
        return self.idle >= self.game.auto_advance_after_turns

    def finished(self, company: Company) -> str:
        """Return why no further turn may begin: "max_turns", or "idle"; otherwise an empty text."""
        if 0 < self.game.max_turns <= self.number:
            return "max_turns"
        stuck = 0 < self.game.idle_limit <= self.still and not company.active
        return "idle" if stuck else ""

    def _look(self, company: Company, number: int, payload: Mapping[str, Any]) -> Status:
        funds, payroll = company.funds_cents, company.payroll_cents
        return Status(
            number=number,
            kind="initial" if self.number == 1 else "status",
            time=company.clock.text(company.world.now),
            horizon_end=company.clock.text(company.horizon),
            funds_cents=funds,
            monthly_payroll_cents=payroll,
            runway_months=round(funds / payroll, 1) if payroll else _FOR_EVER,
            employees=len(company.employees),
            active_tasks=len(company.active),
            planned_tasks=len(company.planned),
            memory_countdown=max(0, MEMORY - number),
            bankrupt=funds < 0,
            # Copies: the payload is also part of an earlier observation.
            events=tuple([dict(event) for event in payload.get("wake_events", ())]),
            closing=_closing(company),
            scratchpad=self._scratchpad,
        )


def _closing(company: Company) -> str:
    if company.active:
        return "neutral"
    return "planned only" if company.planned else "nothing running"


def message(status: Status) -> str:
    """Return a status as text, fields in the published order."""
    dropped = "Memory: your oldest messages have been dropped; keep notes on the scratchpad."
    left = f"Memory: {status.memory_countdown} turns until your oldest messages drop."
    lines = [
        f"Turn {status.number}",
        f"Current time: {status.time}",
        f"Horizon end: {status.horizon_end}",
        f"Funds: {_dollars(status.funds_cents)} ({status.funds_cents} cents)",
        f"Monthly payroll: {_dollars(status.monthly_payroll_cents)}",
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


_CLOSINGS = {
    "nothing running": "Nothing is running: accept a task, assign people and dispatch it before "
    "you resume.",
    "planned only": "Only planned tasks: dispatch one before you resume.",
    "neutral": "Decide what to do next.",
}

#: What a line says of an event that is no completion; of any other its type alone.
_FIXED = {
    "horizon_end": "The horizon has been reached; the run is over.",
    "bankruptcy": "The company went bankrupt; the run is over.",
}


def event_line(event: Mapping[str, Any]) -> str:
    """Return the line of one report of a resume.

    >>> event_line({"type": "monthly_payroll", "funds_after": 16199497})
    'monthly_payroll'
    """
    kind = str(event.get("type", ""))
    if kind != "task_completed":
        return _FIXED.get(kind, kind)
    task = f"{event['task_title']} (client: {event['client_name']})"
    if not event["success"]:
        return f"{task}: FAILED [{event['deadline_margin']}]"
    return (
        f"{task}: SUCCESS +${event['funds_delta'] / 100:,.0f} [{event['deadline_margin']}] | "
        f"{event['employees_assigned']} employees, "
        f"+${event['salary_bump_total_cents'] / 100:,.0f}/mo payroll"
    )


def _dollars(cents: int) -> str:
    return f"${cents / 100:,.2f}"
