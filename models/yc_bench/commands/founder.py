"""The founder's process: one command at a time; time passes when they resume."""

from collections.abc import Generator
from functools import partial
from typing import Any

from simpy.events import Event

from desim import World
from desim.core.events import Decision
from models.yc_bench.actions import EndTurn, RunCommand, SimResume
from models.yc_bench.commands.commandline import line_of, parse
from models.yc_bench.commands.execute import execute
from models.yc_bench.commands.resuming import resume
from models.yc_bench.commands.turns import FounderTurns
from models.yc_bench.company.founding import reopen, reopens
from models.yc_bench.company.lookup import CommandCrashed, CommandRefused
from models.yc_bench.observation import CommandReply, FounderDesk
from models.yc_bench.processes import Process
from models.yc_bench.ranks import DESK
from models.yc_bench.state import FOUNDER, CompanyState

_RESUME = "yc-bench sim resume"


def founder(world: World, company: CompanyState) -> Process:
    """Let the founder run one company after another, as many as the rules give."""
    while True:
        reason = yield from _run_company(world, company)
        if not reopens(company, reason):
            company.ended = world.now
            world.end(reason)
            return
        reopen(company)


def _run_company(world: World, company: CompanyState) -> Generator[Event, Any, str]:
    """Carry out commands until the episode is over, and return why it is."""
    turns = FounderTurns(company.params, world.now)
    reply: CommandReply | None = None
    reason = ""
    turns.begin(company)
    while not reason or company.params.plays_on:
        question = world.ask(FOUNDER, partial(_desk, company, turns, reply), before=DESK)
        if company.params.thinking.takes_time and not company.params.plays_on:
            reason = yield from _thinking(company, question)
            if reason:
                break
        action = yield question
        turns.status = None
        company.counts[type(action).__name__] += 1
        if type(action) is EndTurn:
            reply, reason = yield from _end_turn(company, turns)
            continue
        line, command, reply = _understood(action)
        if type(command) is SimResume:
            reply = yield from resume(company, line)
            reason = _note_resume(company, turns, reply)
        elif command is not None:
            reply = _carry_out(company, line, command)
        if reply is not None and reply.exit_code:
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


def _desk(company: CompanyState, turns: FounderTurns, reply: CommandReply | None) -> FounderDesk:
    return FounderDesk(
        time=company.clock.text(company.world.now),
        turn=turns.number,
        funds_cents=company.funds_cents,
        planned=_planned(company),
        active=tuple([task.shown for task in company.active]),
        reply=reply,
        status=turns.status,
    )


def _planned(company: CompanyState) -> tuple[str, ...]:
    # There may be thousands of planned tasks, and every observation is recorded with its titles.
    if company.planned_shown is None:
        last = company.planned[-company.params.desk_titles :]
        company.planned_shown = tuple([task.shown for task in last])
    return company.planned_shown


def _understood(action: Any) -> tuple[str, Any, CommandReply | None]:
    """Return the console's line, and the command or else the reply to an invalid line."""
    if type(action) is not RunCommand:
        return line_of(action), action, None
    parsed = parse(action.command)
    if isinstance(parsed, CommandReply):
        return action.command, None, parsed
    return action.command, parsed, None


def _carry_out(company: CompanyState, line: str, command: Any) -> CommandReply:
    try:
        return CommandReply(line, 0, execute(company, command))
    except CommandRefused as refused:
        return CommandReply(line, 1, {"error": str(refused)})
    except CommandCrashed as crashed:
        return CommandReply(line, 1, None, str(crashed))


def _note_resume(company: CompanyState, turns: FounderTurns, reply: CommandReply) -> str:
    """Record a resume in the turn, and return the reason if it reports the episode's end."""
    # The published loop looks at the text alone: blanks in front hide a resume from it.
    if not reply.command.startswith(_RESUME):
        return ""
    if reply.exit_code == 0 or company.params.errors_count_as_resume:
        turns.resumed(reply.out)
    return reply.out.get("terminal_reason") or ""


def _end_turn(
    company: CompanyState, turns: FounderTurns
) -> Generator[Event, Any, tuple[CommandReply | None, str]]:
    """End the turn; after too many idle ones the clock is moved on."""
    reply: CommandReply | None = None
    reason = ""
    if turns.close():
        reply = yield from resume(company, _RESUME, forced=company.params.forced_advance)
        reason = _note_resume(company, turns, reply)
    reason = reason or turns.finished(company)
    if reason == "idle" and company.params.idle_year_passes and not company.params.plays_on:
        reason = yield from _pass_year(company)
    turns.begin(company)
    return reply, reason


def _pass_year(company: CompanyState) -> Generator[Event, Any, str]:
    """Let time pass to the end of the year or to bankruptcy, and return which of them it was."""
    company.idle_since = company.world.now
    while True:
        reply = yield from resume(company, _RESUME, forced=True)
        if reason := reply.out["terminal_reason"]:
            return str(reason)
