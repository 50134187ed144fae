"""The manager's commands: each is carried out, or changes nothing and is refused with a reason."""

from typing import assert_never

from models.edt import processes
from models.edt.actions import Accept, Command, Decline, Hire, Release, SetRisk, Staff, Wait
from models.edt.firm import LAST, Firm
from models.edt.state import Phase

__all__ = ["carry_out"]


def carry_out(firm: Firm, command: Command) -> str:
    """Carry out a command; return "", or the reason for which it changed nothing."""
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
    free = [e for e in firm.employees if e.hireable]
    if count > len(free):
        return f"{count} consultants are wanted; {len(free)} can be hired"
    for who in free[:count]:
        who.hired = True
        firm.controlling.payroll.employ(who.terms, who.rank, firm.world.now + 1)
        firm.world.process(processes.newcomer(firm, who))
    return ""


def _release(firm: Firm, count: int) -> str:
    hired = [e for e in firm.employees if e.releasable]
    if count > len(hired):
        lent = " and not lent" if any(e.lent_to for e in firm.employees) else ""
        return f"{count} consultants are to go; {len(hired)} are on the payroll{lent}"
    firm.dismiss_idle_first(hired, count)
    return ""
