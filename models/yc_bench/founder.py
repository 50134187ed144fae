"""The founder's process: one command at a time, in turns; they let time pass (SPEC 14)."""

from collections.abc import Callable, Generator, Mapping
from functools import partial
from typing import Any

from attrs import define
from simpy.events import Event

from desim import World
from desim.core.events import Decision
from models.yc_bench import actions, commands, reports
from models.yc_bench.actions import EndTurn, RunCommand, SimResume
from models.yc_bench.commands import CommandCrashed, CommandRefused
from models.yc_bench.company.state import CompanyState
from models.yc_bench.company.work import BANKRUPTCY, COMPLETED, HORIZON, MILESTONE
from models.yc_bench.console import line_of, parse
from models.yc_bench.desk import CommandReply, FounderDesk, TurnStatus
from models.yc_bench.params import YCBenchParams
from models.yc_bench.processes import Process, start_calendar
from models.yc_bench.specs import stored

#: The one role. It decides before anything of this rank or a higher one happens.
FOUNDER, _DESK = "founder", 1

#: Turns of a conversation that are kept, as the published message states.
MEMORY = 20

_RESUME = "yc-bench sim resume"
_NO_ACTIVE_TASKS = (
    "No active tasks. Accept and dispatch a task before calling sim resume. "
    "Use: market browse → task accept → task dispatch → sim resume"
)

_COMMANDS: Mapping[type, Callable[[CompanyState, Any], dict[str, Any]]] = {
    actions.TaskAccept: commands.accept,
    actions.TaskAssign: commands.assign,
    actions.TaskDispatch: commands.dispatch,
    actions.TaskCancel: commands.cancel,
    **dict.fromkeys((actions.ScratchpadRead, actions.ScratchpadWrite), commands.note),
    **dict.fromkeys((actions.ScratchpadAppend, actions.ScratchpadClear), commands.note),
    actions.CompanyStatus: reports.company_status,
    actions.EmployeeList: reports.employee_list,
    actions.MarketBrowse: reports.market_browse,
    actions.TaskList: reports.task_list,
    actions.TaskInspect: reports.task_inspect,
    actions.ClientList: reports.client_list,
    actions.ClientHistory: reports.client_history,
    actions.FinanceLedger: reports.finance_ledger,
    actions.ReportMonthly: reports.report_monthly,
}


def founder(world: World, company: CompanyState) -> Process:
    """Let the founder run one company after another, as many as the rules give."""
    while True:
        reason = yield from _run_company(world, company)
        if reason != "bankruptcy" or company.episode == company.params.episodes:
            company.ended = world.now
            world.end(reason)
            return
        company.reopen()
        start_calendar(world, company)


def _run_company(world: World, company: CompanyState) -> Generator[Event, Any, str]:
    """Carry out commands until the episode is over, and return why it is."""
    turns, params = FounderTurns(company.params, world.now), company.params
    reply: CommandReply | None = None
    reason, thinks = "", params.thinking.takes_time and not params.plays_on
    turns.begin(company)
    while not reason or params.plays_on:
        question = world.ask(FOUNDER, partial(_desk, company, turns, reply), before=_DESK)
        if thinks:
            reason = yield from _thinking(company, question)
            if reason:
                break
        action = yield question
        turns.status = None
        company.counts[type(action).__name__] += 1
        if type(action) is EndTurn:
            reply, reason = yield from _end_turn(company, turns)
            continue
        line = line_of(action)
        command = parse(line) if type(action) is RunCommand else action
        if isinstance(command, CommandReply):
            reply = command
        elif type(command) is SimResume:
            reply = yield from resume(company, line)
            reason = _note_resume(turns, reply)
        else:
            reply = _carry_out(company, line, command)
        if reply.exit_code:
            world.log.info("refused", role=FOUNDER, command=line, why=reply.stderr or reply.out)
    return reason


def _thinking(company: CompanyState, question: Decision) -> Generator[Event, Any, str]:
    """Wait for a command; return the reason if the company is over before it comes."""
    company.closing = closing = company.world.event()
    yield question | closing
    company.closing = None
    if question.processed:
        return ""
    return "bankruptcy" if company.bankrupt else "horizon_end"


def _desk(company: CompanyState, turns: "FounderTurns", reply: CommandReply | None) -> FounderDesk:
    # There may be thousands of planned tasks, and every observation is recorded with its titles.
    planned = company.planned[-company.params.desk_titles :]
    return FounderDesk(
        time=company.clock.text(company.world.now),
        turn=turns.number,
        funds_cents=company.funds_cents,
        planned=tuple([task.shown for task in planned]),
        active=tuple([task.shown for task in company.active]),
        reply=reply,
        status=turns.status,
    )


def _carry_out(company: CompanyState, line: str, command: Any) -> CommandReply:
    if refusal := commands.REFUSED.get(type(command)):
        return CommandReply(line, 1, {"error": refusal})
    try:
        return CommandReply(line, 0, _COMMANDS[type(command)](company, command))
    except CommandRefused as refused:
        return CommandReply(line, 1, {"error": str(refused)})
    except CommandCrashed as crashed:
        return CommandReply(line, 1, None, str(crashed))


def resume(
    company: CompanyState, line: str, *, forced: bool = False
) -> Generator[Event, Any, CommandReply]:
    """Let time pass until something has happened (SPEC 9.4 and 13.3).

    Without an active task the command, a *line* of the console, is refused, unless *forced*.
    """
    if not (company.active or forced):
        return CommandReply(line, 1, {"error": _NO_ACTIVE_TASKS})
    target, kind = _upcoming(company)
    before, funds = company.world.now, company.funds_cents
    if target is not None:
        company.target = target
        company.wait = company.world.event()
        yield company.wait
        company.wait = company.target = None
    for client in company.clients:
        if client.unrounded:
            client.unrounded = False
            client.trust = stored(client.trust, company.params.trust_digits)
    report, company.report = company.report, []
    now, clock = company.world.now, company.clock
    payrolls = sum([entry["type"] == "monthly_payroll" for entry in report])
    over, bankrupt = now >= company.clock.horizon, company.bankrupt
    document = {
        "ok": True,
        "old_sim_time": clock.text(now if company.params.resume_reports_new_time else before),
        "new_sim_time": clock.text(now),
        "checkpoint_event_type": kind,
        "events_processed": len(report) - payrolls,
        "payrolls_applied": payrolls,
        "balance_delta": company.funds_cents - funds,
        "wake_events": report,
        "bankrupt": bankrupt,
        "horizon_reached": over,
        "terminal_reason": "bankruptcy" if bankrupt else "horizon_end" if over else None,
    }
    return CommandReply(line, 0, document)


def _upcoming(company: CompanyState) -> tuple[int | None, str | None]:
    """Return tick and kind of the next event; None after the horizon."""
    if company.over:
        return None, None
    events = [(company.clock.horizon, HORIZON, 0, "horizon_end")]
    if company.bankruptcy_due is not None:
        events.append((company.bankruptcy_due, BANKRUPTCY, 0, "bankruptcy"))
    for task in company.active:
        if task.due is not None:
            events.append((task.due, COMPLETED, task.rank, "task_completed"))
        if task.milestone_due is not None:
            events.append((task.milestone_due, MILESTONE, task.rank, "task_half_progress"))
    tick, *_, kind = min(events)
    return tick, kind


def _note_resume(turns: "FounderTurns", reply: CommandReply) -> str:
    """Record a resume in the turn, and return the reason if it reports the episode's end."""
    # The published loop looks at the text alone: blanks in front hide a resume from it.
    if not reply.command.startswith(_RESUME):
        return ""
    turns.resumed(reply.out)
    return reply.out.get("terminal_reason") or ""


def _end_turn(
    company: CompanyState, turns: "FounderTurns"
) -> Generator[Event, Any, tuple[CommandReply | None, str]]:
    """End the turn; after too many idle ones the clock is moved on, and at last the year passes."""
    params, reply, reason = company.params, None, ""
    if turns.close():
        reply = yield from resume(company, _RESUME, forced=params.forced_advance)
        reason = _note_resume(turns, reply)
    reason = reason or turns.finished(company)
    if reason == "idle" and params.idle_year_passes and not params.plays_on:
        company.idle_since = company.world.now
        reason = ""
        while not reason:
            passed = yield from resume(company, _RESUME, forced=True)
            reason = passed.out["terminal_reason"] or ""
    turns.begin(company)
    return reply, reason


@define(eq=False)
class FounderTurns:
    """Counts turns; each begins with a status, which is None once it was shown."""

    _params: YCBenchParams
    _now: int = 0
    number: int = 0
    idle: int = 0  # turns in a row without a resume
    still: int = 0  # turns in a row in which no time passed
    status: TurnStatus | None = None
    _payload: Mapping[str, Any] | None = None
    _scratchpad: str = ""

    def begin(self, company: CompanyState) -> None:
        """Begin the next turn, and prepare its status."""
        payload, self._payload = self._payload, None
        self.number += 1
        company.turns = self.number
        self.still = self.still + 1 if company.world.now == self._now else 0
        self._now = company.world.now
        lags = payload is not None and self._params.status_number_lags
        if payload is None or not self._params.stale_scratchpad:
            self._scratchpad = company.scratchpad
        self.status = self._status(company, self.number - lags, payload or {})

    def resumed(self, payload: Mapping[str, Any]) -> None:
        """Record the document that a resume of the present turn printed; the last one is shown."""
        if "error" not in payload or self._params.errors_count_as_resume:
            self._payload, self.idle = payload, 0

    def close(self) -> bool:
        """End the turn and return whether the clock must be moved on for the founder."""
        if self._payload is None:
            self.idle += 1
        return self.idle >= self._params.auto_advance_after_turns

    def finished(self, company: CompanyState) -> str:
        """Return why no further turn may begin, "max_turns" or "idle"; an empty text if one may."""
        if 0 < self._params.max_turns <= self.number:
            return "max_turns"
        stuck = 0 < self._params.idle_limit <= self.still and not company.active
        return "idle" if stuck else ""

    def _status(self, company: CompanyState, number: int, payload: Mapping[str, Any]) -> TurnStatus:
        funds, payroll = company.funds_cents, company.payroll_cents
        opening = "initial" if company.episode == 1 else "reopened"
        idle = "planned only" if company.planned else "nothing running"
        return TurnStatus(
            number=number,
            kind="status" if self.number > 1 else opening,
            time=company.clock.text(company.world.now),
            horizon_end=company.clock.text(company.clock.horizon),
            funds_cents=funds,
            monthly_payroll_cents=payroll,
            runway_months=round(funds / payroll, 1) if payroll else 9999.0,
            employees=len(company.employees),
            active_tasks=len(company.active),
            planned_tasks=len(company.planned),
            memory_countdown=max(0, MEMORY - number),
            bankrupt=company.bankrupt,
            # Copies: the payload is also part of an earlier observation.
            events=tuple([dict(event) for event in payload.get("wake_events", ())]),
            closing="neutral" if company.active else idle,
            scratchpad=self._scratchpad,
        )
