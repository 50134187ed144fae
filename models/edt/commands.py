"""The interactive game: the manager is asked at every event and commands until time may pass."""

from functools import partial
from typing import Any, assert_never

from desim import World
from models.edt import desk, listing, processes
from models.edt.actions import Accept, Command, Decline, Hire, Release, SetRisk, Staff, Wait
from models.edt.firm import LAST, MANAGER, Firm
from models.edt.state import State

__all__ = ["carry_out", "run_the_firm"]


def run_the_firm(world: World, firm: Firm) -> processes.Process:
    """Take over the firm as it stands; act at every event until time may pass."""
    listing.take_over(firm)
    processes.start(world, firm)
    firm.happenings.append((0, "opened", ""))
    while True:
        while True:
            command: Command = yield world.ask(MANAGER, partial(desk.see, firm))
            if isinstance(command, Wait):
                break
            firm.refusal = carry_out(firm, command)
        firm.refusal = ""
        firm.happenings.clear()
        yield _next_event(world, firm)
        if not firm.happenings:
            firm.happenings.append((world.now, "quarter", ""))
        firm.settle()


def _next_event(world: World, firm: Firm) -> Any:
    quarter = firm.game.quarter
    firm.bell = world.timeout(quarter - world.now % quarter, rank=LAST)
    return firm.bell


def carry_out(firm: Firm, command: Command) -> str:
    """Do what was commanded, or change nothing and return why it cannot be done."""
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


def _unknown(firm: Firm, number: int) -> str:
    if number >= len(firm.engagements):
        return f"there is no project {number}; they are 0 to {len(firm.engagements) - 1}"
    if firm.engagements[number].state is State.COMPLETED:
        return f"project {number} is over"
    return ""


def _accept(firm: Firm, number: int) -> str:
    if why := _unknown(firm, number):
        return why
    project = firm.engagements[number]
    if project.accepted:
        return f"project {number} was accepted before"
    project.accepted = True
    firm.review(project)
    firm.call(LAST)
    return ""


def _decline(firm: Firm, number: int) -> str:
    if why := _unknown(firm, number):
        return why
    project = firm.engagements[number]
    if project.accepted:
        return f"project {number} was accepted; it ends at its deadline or when the work is done"
    firm.give_away(project)
    return ""


def _staff(firm: Firm, number: int, seats: int) -> str:
    if why := _unknown(firm, number):
        return why
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
        firm.accounts.employ(who.terms, who.rank, firm.world.now + 1)
        firm.world.process(processes.newcomer(firm, who))
    return ""


def _release(firm: Firm, count: int) -> str:
    hired = [e for e in firm.employees if e.hired]
    if count > len(hired):
        return f"{count} consultants are to go; {len(hired)} are on the payroll"
    busy_last = sorted(hired, key=lambda e: (e.project is not None, -e.rank))
    for who in busy_last[:count]:
        firm.dismiss(who)
    firm.call(LAST)
    return ""
