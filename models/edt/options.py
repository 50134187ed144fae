"""Sensible answers at this moment, with their worth in money."""

from math import fsum
from typing import TYPE_CHECKING

from desim import Option
from models.edt.actions import Accept, Command, Decide, Decline, Hire, Release, SetRisk, Wait
from models.edt.decision import Window
from models.edt.observation import Briefing, Desk, Offer, Position

if TYPE_CHECKING:
    from models.edt.params import EnterpriseDigitalTwin

__all__ = ["commands", "default", "idle", "plans"]


def plans(game: "EnterpriseDigitalTwin", seen: Briefing) -> list[Option]:
    """Return decisions that take the best-paid projects, one more each time, with R 0 and 1.

    Each employs as many consultants as there are seats, or as the work needs where it is not
    extended. Worth is a count of seats and steps: revenue that these seats can earn in the longest
    window, less all cost.
    """
    ranked = sorted(seen.projects, key=lambda p: -p.billing_rate)
    taken = [ranked[:count] for count in range(1, len(ranked) + 1)] or [[]]
    return [_plan(game, seen, some, risk) for some in taken for risk in (1.0, 0.0)]


def default(seen: Briefing) -> Decide:
    """Return the decision that takes the place of one that cannot be read: all as it is given."""
    windows = tuple(Window(p.start, p.deadline) for p in seen.projects)
    return Decide(seen.consultants, seen.revenue_risk, windows)


def _plan(game: "EnterpriseDigitalTwin", seen: Briefing, taken: list[Offer], risk: float) -> Option:
    seats = sum(p.seats for p in taken)
    staff = min(seen.consultants, max(1, seats))
    window = Window(0, seen.horizon)
    chosen = {p.index for p in taken}
    windows = tuple(window if p.index in chosen else None for p in seen.projects)
    worth = _revenue(seen, taken, staff, endless=risk == 1) - _cost(game, staff)
    return Option(
        Decide(staff, risk, windows), worth, note=f"the {len(taken)} best paid, {staff} consultants"
    )


def _revenue(seen: Briefing, taken: list[Offer], staff: int, *, endless: bool) -> float:
    """Return what the staff earns when it takes the best-paid seats first."""
    time = staff * seen.workable
    revenue = 0.0
    for project in taken:
        lasts = project.seats * seen.workable
        if not endless or not project.extension_probability:
            lasts = min(lasts, project.contracted_effort)
        spent = min(time, lasts)
        time -= spent
        revenue += spent * project.billing_rate
    return revenue


def _cost(game: "EnterpriseDigitalTwin", staff: int) -> float:
    firm = game.firm
    pay = fsum(c.salary + c.workplace_cost for c in firm.consultants[:staff])
    return (pay + firm.fixed_cost) * firm.dt * (firm.steps - 1)


# -- interactive -----------------------------------------------------------------------------------


def idle(_: Desk) -> Command:
    """Let time pass."""
    return Wait()


def commands(_: "EnterpriseDigitalTwin", seen: Desk) -> list[Option]:
    """Return commands that can be carried out now; waiting is always one, and worth nothing.

    Worth is money until the deadline or the end, on the assumption that work does not run out.
    """
    offered: list[Option] = [Option(Wait(), 0.0, note="let time pass")]
    for project in seen.projects:
        if not project.over and not project.accepted:
            worth = _seats(seen, project) * project.billing_rate * _left(seen, project)
            offered.append(Option(Accept(project.index), worth, note=project.name))
            offered.append(Option(Decline(project.index), -worth, note=project.name))
    return [*offered, *_payroll(seen), *_risk(seen)]


def _seats(seen: Desk, project: Position) -> int:
    return min(project.most_seats, seen.hired + seen.free)


def _left(seen: Desk, project: Position) -> float:
    """Time in which a project can still be worked on."""
    end = min(project.deadline, seen.time + (seen.steps - seen.step) * seen.dt)
    return max(0.0, end - max(seen.time, project.start))


def _payroll(seen: Desk) -> list[Option]:
    """Hire for seats that nobody fills; release who has none in sight."""
    wanted = _wanted(seen)
    rest = (seen.steps - seen.step) * seen.dt * seen.consultant_cost
    offered: list[Option] = []
    if seen.free:
        lacking = min(seen.free, wanted - seen.idle)
        worth = rest * lacking if lacking > 0 else -rest
        offered.append(Option(_hire(lacking), worth, note=f"{wanted} seats wait"))
    if seen.hired:
        spare = min(seen.hired, seen.idle - wanted)
        worth = rest * spare if spare > 0 else -rest
        offered.append(Option(_release(spare), worth, note=f"{seen.idle} are idle"))
    return offered


def _hire(count: int) -> Command:
    return Hire(max(1, count))


def _release(count: int) -> Command:
    return Release(max(1, count))


def _wanted(seen: Desk) -> int:
    """Free seats on projects that are open or will be: acquired ones, too, if not over."""
    return sum(
        max(0, p.seats - p.staff)
        for p in seen.projects
        if not p.over and (p.accepted or p.state == "acquired") and _left(seen, p) > 0
    )


def _risk(seen: Desk) -> list[Option]:
    """Open every gate, or close them."""
    return [
        Option(SetRisk(risk), (risk - seen.revenue_risk) * seen.consultant_cost, note=f"R = {risk}")
        for risk in (0.0, 1.0)
        if risk != seen.revenue_risk
    ]
