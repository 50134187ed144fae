"""Turns: the commands between two messages to the founder (SPEC section 14).

The published loop prepares the next status message at the end of a turn that resumed, with that
turn's own number, and reads the scratchpad only after a turn without a resume: both are switches.
"""

from collections.abc import Mapping
from typing import Any

from models.yc_bench.observation import TurnStatus
from models.yc_bench.rules.console import ConsoleRules
from models.yc_bench.state import CompanyState

#: Turns of a conversation that are kept, as the published message states.
MEMORY = 20

#: Months of runway shown without payroll.
_NO_PAYROLL = 9999.0


class FounderTurns:
    """Counts turns, and prepares the status with which each begins.

    Args:
        rules: The parameters.
        now: Tick at which the first turn begins.

    Attributes:
        number: Turns begun.
        idle: Turns in a row without a resume.
        still: Turns in a row in which no time passed.
        status: The status of the present turn; None before the first.
    """

    def __init__(self, rules: ConsoleRules, now: int = 0) -> None:
        self.rules = rules
        self.number = 0
        self.idle = 0
        self.still = 0
        self.status: TurnStatus | None = None
        self._payload: Mapping[str, Any] | None = None
        self._scratchpad = ""
        self._now = now

    def begin(self, company: CompanyState) -> None:
        """Begin the next turn."""
        payload, self._payload = self._payload, None
        self.number += 1
        company.turns = self.number
        self.still = self.still + 1 if company.world.now == self._now else 0
        self._now = company.world.now
        lags = payload is not None and self.rules.status_number_lags
        if payload is None or not self.rules.stale_scratchpad:
            self._scratchpad = company.scratchpad
        self.status = self._status(company, self.number - lags, payload or {})

    def resumed(self, payload: Mapping[str, Any]) -> None:
        """Record a resume of the present turn; the last one's events are shown in the next.

        Args:
            payload: The document it printed, `{"error": ...}` for a refused one, which counts
                only if `errors_count_as_resume`.
        """
        if "error" in payload and not self.rules.errors_count_as_resume:
            return
        self._payload = payload
        self.idle = 0

    def close(self) -> bool:
        """End the turn and return whether the clock must be moved on for the founder.

        That resume is recorded with `resumed`, as if the founder had resumed in this turn.
        """
        if self._payload is None:
            self.idle += 1
        return self.idle >= self.rules.auto_advance_after_turns

    def finished(self, company: CompanyState) -> str:
        """Return why no further turn may begin, "max_turns" or "idle"; an empty text if one may."""
        if 0 < self.rules.max_turns <= self.number:
            return "max_turns"
        stuck = 0 < self.rules.idle_limit <= self.still and not company.active
        return "idle" if stuck else ""

    def _status(self, company: CompanyState, number: int, payload: Mapping[str, Any]) -> TurnStatus:
        funds, payroll = company.funds_cents, company.payroll_cents
        return TurnStatus(
            number=number,
            kind=_kind(self.number, company.episode),
            time=company.clock.text(company.world.now),
            horizon_end=company.clock.text(company.horizon),
            funds_cents=funds,
            monthly_payroll_cents=payroll,
            runway_months=round(funds / payroll, 1) if payroll else _NO_PAYROLL,
            employees=len(company.employees),
            active_tasks=len(company.active),
            planned_tasks=len(company.planned),
            memory_countdown=max(0, MEMORY - number),
            bankrupt=company.bankrupt,
            # Copies: the payload is also part of an earlier observation.
            events=tuple([dict(event) for event in payload.get("wake_events", ())]),
            closing=_closing(company),
            scratchpad=self._scratchpad,
        )


def _kind(number: int, episode: int) -> str:
    if number > 1:
        return "status"
    return "initial" if episode == 1 else "reopened"


def _closing(company: CompanyState) -> str:
    if company.active:
        return "neutral"
    return "planned only" if company.planned else "nothing running"
