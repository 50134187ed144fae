"""The company's processes: the founder at the desk, paydays, a task's work, the horizon.

Time passes only while the founder waits in a resume. Whatever happens moves the founder's wait: an
event to the end of its instant, so that all events of one instant are handled in one resume; what
stops the clock to the front of it, so that the rest of the instant is left for the next resume.
"""

from collections.abc import Generator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from desim import World
from models.yc_bench import commandline, generation
from models.yc_bench.accounts import Accounts
from models.yc_bench.actions import DOMAINS, EndTurn, RunCommand, SimResume
from models.yc_bench.clock import Clock
from models.yc_bench.commands import NO_ACTIVE_TASKS, execute
from models.yc_bench.company import FOUNDER, Client, Company, Task, enter, identifier
from models.yc_bench.completion import complete
from models.yc_bench.numbers import stored
from models.yc_bench.observation import Desk, Reply
from models.yc_bench.ranks import (
    BANKRUPTCY,
    COMPLETED,
    DESK,
    HORIZON,
    LAST,
    MILESTONE,
    PAYDAY,
    rank,
)
from models.yc_bench.refusal import Crashed, Refused
from models.yc_bench.turns import Turns
from models.yc_bench.work import plan_anew, settle

if TYPE_CHECKING:
    from simpy.events import Event

    from models.yc_bench.params import YCBench
    from models.yc_bench.spec import ClientSpec, EmployeeSpec, TaskSpec

__all__ = ["begin"]

Process = Generator["Event", Any, None]
Resuming = Generator["Event", Any, Reply]

#: Behind every other priority: when all events of an instant have been handled.
_SETTLED = rank(LAST)


def begin(world: World, game: "YCBench") -> Company:
    """Draw the world and start its processes."""
    clock = Clock.of(game)
    clients, staff, tasks = _drawn(game, world.seed)
    company = Company(
        world=world,
        game=game,
        clock=clock,
        accounts=Accounts(_funds(game), fines_as_rewards=game.late_fines_as_rewards),
        horizon=clock.horizon,
        turns=Turns(game),
        drawn=clients,
    )
    _populate(company, staff, tasks)
    company.start = lambda task: world.process(work(world, company, task))
    # Paydays come before events of their instant; ranks say so, whoever is started first.
    world.process(paydays(world, company))
    world.process(horizon(world, company))
    world.process(founder(world, company))
    return company


def founder(world: World, company: Company) -> Process:
    """Let the founder give commands, one at a time; time passes when they resume."""
    turns: Turns = company.turns
    reply: Reply | None = None
    turns.begin(company)
    while True:
        desk = partial(_desk, company, turns, reply)
        given = yield world.ask(FOUNDER, desk, before=DESK)
        turns.status = None
        company.counts[type(given).__name__] += 1
        if type(given) is EndTurn:
            reply = yield from _end_turn(company, turns)
            continue
        line, command, reply = _understood(given)
        if type(command) is SimResume:
            reply = yield from resume(company, line)
            _note_resume(company, turns, reply)
        elif command is not None:
            reply = _answer(company, line, command)


def paydays(world: World, company: Company) -> Process:
    """Pay the salaries on the first weekday of each month."""
    for payday in company.clock.paydays(company.horizon):
        yield world.timeout(payday - world.now, rank=PAYDAY)
        if not _skipped(company, payday):
            pay(company)


def work(world: World, company: Company, task: Task) -> Process:
    """Wait for a task's next milestone or its end, whenever its plan puts it."""
    while task.status == "active":
        assert task.turn is not None
        yield task.turn
        settle(company)
        if task.due is not None and task.due <= world.now:
            company.report.append(complete(company, task))
        else:
            company.report.append(reach_milestone(company, task))
        stop(company, at_once=company.bankrupt)


def horizon(world: World, company: Company) -> Process:
    """End the run after its years."""
    yield world.timeout(company.horizon, rank=rank(HORIZON))
    settle(company)
    company.over = True
    company.report.append({"type": "horizon_end", "reached": True})
    stop(company, at_once=True)


def bankruptcy(world: World, company: Company) -> Process:
    """Report a bankruptcy by payroll in the next resume, as the published queue does."""
    company.bankruptcy_due = world.now
    yield world.timeout(0, rank=rank(BANKRUPTCY))
    company.bankruptcy_due = None
    company.report.append({"type": "bankruptcy", "bankrupt": True})
    stop(company, at_once=True)


def resume(company: Company, line: str, *, forced: bool = False) -> Resuming:
    """Let time pass until something has happened, and report it (SPEC 9.4 and 13.3)."""
    if not (company.active or forced):
        return Reply(line, 1, {"error": NO_ACTIVE_TASKS})
    coming = upcoming(company)
    before, funds = company.world.now, company.funds_cents
    if coming is not None:
        company.target = coming[0]
        company.wait = company.world.event()
        yield company.wait
        company.wait = company.target = None
    _round_trust(company)
    report, company.report = company.report, []
    return Reply(line, 0, _resumed(company, before, funds, coming, report))


def upcoming(company: Company) -> tuple[int, int, int, str] | None:
    """Return the next event: tick, priority, order, type; none when the horizon is over."""
    if company.over:
        return None
    events = [(company.horizon, HORIZON, 0, "horizon_end")]
    if company.bankruptcy_due is not None:
        events.append((company.bankruptcy_due, BANKRUPTCY, 0, "bankruptcy"))
    for task in company.active:
        if task.due is not None:
            events.append((task.due, COMPLETED, task.rank, "task_completed"))
        if task.milestone_due is not None:
            events.append((task.milestone_due, MILESTONE, task.rank, "task_half_progress"))
    return min(events)


def pay(company: Company) -> None:
    """Pay everybody a month's salary."""
    settle(company)
    world = company.world
    for who in company.employees:
        company.accounts.pay_wages(world.now, who.name, who.salary_cents)
    company.report.append({"type": "monthly_payroll", "funds_after": company.funds_cents})
    if company.bankrupt and company.game.bankruptcy_is_queued and company.bankruptcy_due is None:
        world.process(bankruptcy(world, company))
    if company.bankrupt or company.game.resume_stops_at_paydays:
        stop(company, at_once=True)


def reach_milestone(company: Company, task: Task) -> dict[str, Any]:
    """Record a milestone and plan anew."""
    task.milestone = task.next_milestone
    plan_anew(company, company.active)
    return {
        "type": "task_half",
        "task_id": identifier(task),
        "milestone_pct": task.milestone,
        "handled": True,
    }


def stop(company: Company, *, at_once: bool) -> None:
    """Let the founder's resume end: now, or when this instant's events have been handled."""
    if company.bankrupt and company.bankruptcy is None:
        company.bankruptcy = company.world.now
    # Nobody waits between a stop and the founder's next resume.
    if company.wait is not None and company.wait.callbacks:
        company.wait = company.world.moved(company.wait, 0, rank=0 if at_once else _SETTLED)


def _drawn(
    game: "YCBench", seed: int
) -> tuple[tuple["ClientSpec", ...], Sequence["EmployeeSpec"], Sequence["TaskSpec"]]:
    """Take the world from its file, or draw it."""
    if (told := game.told) is not None:
        return told.clients, told.employees, told.tasks
    clients = generation.clients(game, seed)
    return clients, generation.employees(game, seed), generation.market(game, seed, clients)


def _funds(game: "YCBench") -> int:
    return game.initial_funds_cents if game.told is None else game.told.funds_cents


def _populate(
    company: Company, staff: Sequence["EmployeeSpec"], tasks: Sequence["TaskSpec"]
) -> None:
    game = company.game
    company.clients = [Client(spec) for spec in company.drawn]
    company.midpoints = {tier.name: tier.midpoint for tier in game.tiers}
    told = game.told
    level = stored(game.initial_prestige_level if told is None else told.initial_prestige, 3)
    company.prestige = dict.fromkeys(DOMAINS, level)
    if told is not None:
        company.foreseen = told.foreseen
    for spec in staff:
        company.hire(spec)
    for task in tasks:
        enter(company, task)


def _desk(company: Company, turns: Turns, reply: Reply | None) -> Desk:
    return Desk(
        time=company.clock.text(company.world.now),
        turn=turns.number,
        funds_cents=company.funds_cents,
        planned=_planned(company),
        active=tuple([task.shown for task in company.active]),
        reply=reply,
        status=turns.status,
    )


def _planned(company: Company) -> tuple[str, ...]:
    # Thousands of tasks may lie there, and a desk is shown, and recorded, with every command.
    if company.planned_shown is None:
        last = company.planned[-company.game.desk_titles :]
        company.planned_shown = tuple([task.shown for task in last])
    return company.planned_shown


def _understood(given: Any) -> tuple[str, Any, Reply | None]:
    """Return the console's line, the command, or the reply to what is none."""
    if type(given) is not RunCommand:
        return commandline.line(given), given, None
    read = commandline.read(given.command)
    if isinstance(read, Reply):
        return given.command, None, read
    return given.command, read, None


def _answer(company: Company, line: str, command: Any) -> Reply:
    try:
        return Reply(line, 0, execute(company, command))
    except Refused as refused:
        return Reply(line, 1, {"error": str(refused)})
    except Crashed as crashed:
        return Reply(line, 1, None, str(crashed))


def _note_resume(company: Company, turns: Turns, reply: Reply) -> None:
    """Tell the turn of a resume, and end the episode where that is what it came to."""
    # The published loop looks at the text alone: blanks in front hide a resume from it.
    if reply.command.startswith("yc-bench sim resume"):
        if reply.exit_code == 0 or company.game.errors_count_as_resume:
            turns.resumed(reply.out)
        _end(company, reply.out.get("terminal_reason"))


def _end_turn(company: Company, turns: Turns) -> Generator["Event", Any, Reply | None]:
    """End the turn; after too many idle ones the clock is moved on."""
    reply: Reply | None = None
    if turns.close():
        forced = company.game.forced_advance
        reply = yield from resume(company, "yc-bench sim resume", forced=forced)
        _note_resume(company, turns, reply)
    _end(company, turns.finished(company))
    turns.begin(company)
    return reply


def _end(company: Company, reason: str | None) -> None:
    if reason and not company.game.plays_on:
        company.world.end(reason)


def _resumed(
    company: Company,
    before: int,
    funds: int,
    coming: tuple[int, int, int, str] | None,
    report: list[dict[str, Any]],
) -> dict[str, Any]:
    now, clock, game = company.world.now, company.clock, company.game
    payrolls = sum(entry["type"] == "monthly_payroll" for entry in report)
    over = now >= company.horizon
    return {
        "ok": True,
        "old_sim_time": clock.text(now if game.resume_reports_new_time else before),
        "new_sim_time": clock.text(now),
        "checkpoint_event_type": coming[3] if coming else None,
        "events_processed": len(report) - payrolls,
        "payrolls_applied": payrolls,
        "balance_delta": company.funds_cents - funds,
        "wake_events": report,
        "bankrupt": company.bankrupt,
        "horizon_reached": over,
        "terminal_reason": "bankruptcy" if company.bankrupt else "horizon_end" if over else None,
    }


def _skipped(company: Company, payday: int) -> bool:
    """Whether a resume that goes exactly to a payday on the 1st leaves it out (SPEC section 6)."""
    if company.game.payday_at_horizon or company.target != payday:
        return False
    return company.clock.moment(payday).day == 1


def _round_trust(company: Company) -> None:
    """Round what the step left unrounded."""
    for client in company.clients:
        if client.unrounded:
            client.unrounded = False
            client.trust = stored(client.trust, company.game.trust_digits)
