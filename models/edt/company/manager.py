"""The manager's process: one decision in the published game, commands at events in the other.

The manager's commands: each is carried out, or refused with a reason and without effect.
"""

from collections.abc import Generator
from functools import partial
from typing import Any, assert_never

from desim import World
from models.edt import processes, reporting
from models.edt.actions import (
    Accept,
    Answer,
    Command,
    Decide,
    Decline,
    Hire,
    Release,
    SetRisk,
    Staff,
    Wait,
)
from models.edt.company import listing
from models.edt.company.firm import LAST, MANAGER, Firm
from models.edt.params import DigitalTwinParams
from models.edt.planning.decision import DecisionLimits
from models.edt.planning.judgement import judged
from models.edt.state import Phase


def carry_out(firm: Firm, command: Command) -> str:
    """Carry out a command; return "", or the reason for which it is refused."""
    refusal = ""
    match command:
        case Accept(project=number):
            refusal = _accept(firm, number)
        case Decline(project=number):
            refusal = _decline(firm, number)
        case Staff(project=number, seats=seats):
            refusal = _staff(firm, number, seats)
        case Hire(consultants=count):
            refusal = _hire(firm, count)
        case Release(consultants=count):
            refusal = _release(firm, count)
        case SetRisk(revenue_risk=risk):
            firm.risk = risk
        case Wait():
            pass
        case _:
            assert_never(command)
    return refusal


def _closed(firm: Firm, number: int) -> str:
    """Return why a project takes no command: it does not exist, or is over."""
    if number >= len(firm.engagements):
        return f"there is no project {number}; they are 0 to {len(firm.engagements) - 1}"
    if firm.engagements[number].phase is Phase.COMPLETED:
        return f"project {number} is over"
    return ""


def _accept(firm: Firm, number: int) -> str:
    if reason := _closed(firm, number):
        return reason
    project = firm.engagements[number]
    if project.accepted:
        return f"project {number} was accepted before"
    project.accepted = True
    firm.review(project)
    firm.call(LAST)
    return ""


def _decline(firm: Firm, number: int) -> str:
    if reason := _closed(firm, number):
        return reason
    project = firm.engagements[number]
    if project.accepted:
        return f"project {number} was accepted; it ends at its deadline or when the work is done"
    firm.end_early(project)
    return ""


def _staff(firm: Firm, number: int, seats: int) -> str:
    if reason := _closed(firm, number):
        return reason
    project = firm.engagements[number]
    if not project.accepted:
        return f"project {number} was not accepted"
    if seats > project.terms.consultants:
        return f"project {number} has {project.terms.consultants} seats, not {seats}"
    project.seats = seats
    for who in project.staff[seats:]:
        firm.leave(project, who)
        firm.let_go(who, firm.world.now + 1)
    firm.review(project)
    firm.call(LAST)
    return ""


def _hire(firm: Firm, count: int) -> str:
    free = [e for e in firm.employees if not e.hired]
    if count > len(free):
        return f"{count} consultants are wanted; {len(free)} can be hired"
    for who in free[:count]:
        who.hired = True
        firm.controlling.payroll.employ(who.terms, who.rank, firm.world.now + 1)
        firm.world.process(processes.newcomer(firm, who))
        firm.world.log.info("consultant hired", consultant=who.rank)
    return ""


def _release(firm: Firm, count: int) -> str:
    hired = [e for e in firm.employees if e.hired]
    if count > len(hired):
        return f"{count} consultants are to go; {len(hired)} are on the payroll"
    firm.dismiss_idle_first(hired, count)
    return ""


Process = Generator[Any, Any, None]


def begin(world: World, params: DigitalTwinParams) -> Firm:
    """Set up the firm and start its processes; without a manager the scenario runs as given."""
    firm = Firm(world, params, params.loaded_scenario)
    if MANAGER not in world.seats:
        listing.open_as_given(firm)
        processes.start(world, firm)
    else:
        manage = decide_once if params.asks == "once" else manage_at_events
        world.process(manage(world, firm))
    world.process(processes.close(world, firm))
    return firm


def decide_once(world: World, firm: Firm) -> Process:
    """Ask until a decision is not refused, then open the firm with it."""
    limits = DecisionLimits.of(firm.scenario)
    while True:
        answer: Decide | Answer = yield world.ask(
            MANAGER, partial(reporting.briefing, firm, limits)
        )
        firm.refusal, plan = judged(answer, limits, firm.params.mode)
        if plan is not None:
            break
        world.log.info("refused", role=MANAGER, why=firm.refusal)
    firm.plan = plan
    listing.open_by(firm, plan)
    processes.start(world, firm)


def manage_at_events(world: World, firm: Firm) -> Process:
    """Open the whole firm, then carry out commands at every event until the manager waits."""
    listing.open_all(firm)
    processes.start(world, firm)
    firm.happenings.append((0, "opened", ""))
    if firm.params.thinking.takes_time:
        # Events before the first answer are noted only where there is a bell.
        firm.bell = world.timeout(0)
    while True:
        while True:
            asked = world.now
            command: Command = yield world.ask(MANAGER, partial(reporting.dashboard, firm))
            if isinstance(command, Wait):
                break
            firm.refusal = carry_out(firm, command)
            if firm.refusal:
                world.log.info("refused", role=MANAGER, command=command, why=firm.refusal)
        firm.refusal = ""
        # Events since then are left, so that a manager who took time is asked again at once.
        firm.happenings[:] = [each for each in firm.happenings if each[0] > asked]
        if not firm.happenings:
            yield _next_event(world, firm)
        if not firm.happenings:
            firm.happenings.append((world.now, "quarter", ""))
        firm.settle()


def _next_event(world: World, firm: Firm) -> Any:
    """Return the event of the quarter's end, which `Firm.happened` moves forward."""
    quarter = firm.params.quarter
    firm.bell = world.timeout(quarter - world.now % quarter, rank=LAST)
    return firm.bell
