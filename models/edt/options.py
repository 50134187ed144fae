"""Sensible decisions and commands for an observation, each with an estimate of its value.

The usual ranges of their numbers.
"""

from collections.abc import Mapping

from desim import Option
from desim.show.column import Column
from models.edt.actions import (
    Accept,
    Command,
    Decide,
    Decline,
    Hire,
    Release,
    SetRisk,
    Staff,
    Wait,
)
from models.edt.observation import Briefing, Dashboard, ProjectOffer, ProjectStatus
from models.edt.params import DigitalTwinParams
from models.edt.planning.decision import Window


def decisions(seen: Briefing) -> list[Option]:
    """Return decisions that take the 1, 2, ... best-paid projects, each with R = 1 and R = 0.

    Each employs one consultant per seat, as far as there are any. The value is an estimate in
    money: the revenue that the consultants can earn in the longest window, less the cost that the
    briefing shows.
    """
    ranked = sorted(seen.projects, key=lambda p: -p.billing_rate)
    choices = [ranked[:count] for count in range(1, len(ranked) + 1)] or [[]]
    return [_decision(seen, some, risk) for some in choices for risk in (1.0, 0.0)]


def described(params: DigitalTwinParams) -> Mapping[str, Mapping[str, Column]]:
    """Return the columns of numbers that the scenario limits: its consultants, and their seats."""
    scenario = params.loaded_scenario
    people = len(scenario.consultants)
    seats = max((project.consultants for project in scenario.projects), default=0)
    consultants = {"consultants": Column("consultants", usual=(0, people))}
    return {
        "decide": {**Decide.columns, **consultants},
        "hire": consultants,
        "release": consultants,
        "staff": {**Staff.columns, "seats": Column("consultants", usual=(0, seats))},
    }


def default_decision(seen: Briefing) -> Decide:
    """Return the scenario's own consultants, risk level and windows."""
    windows = tuple(Window(p.start, p.deadline) for p in seen.projects)
    return Decide(seen.consultants, seen.revenue_risk, windows)


def _decision(seen: Briefing, chosen: list[ProjectOffer], risk: float) -> Option:
    seats = sum(p.seats for p in chosen)
    staff = min(seen.consultants, max(1, seats))
    window = Window(0, seen.horizon)
    indices = {p.index for p in chosen}
    windows = tuple(window if p.index in indices else None for p in seen.projects)
    value = _revenue(seen, chosen, staff, extended=risk == 1) - _cost(seen, staff)
    note = f"the {len(chosen)} best paid, {staff} consultants"
    return Option(Decide(staff, risk, windows), value, note=note)


def _revenue(seen: Briefing, chosen: list[ProjectOffer], staff: int, *, extended: bool) -> float:
    """Return the revenue in money when consultants take the best-paid seats first."""
    time = staff * seen.workable
    revenue = 0.0
    for project in chosen:
        effort = project.seats * seen.workable
        if not extended or not project.extension_probability:
            effort = min(effort, project.contracted_effort)
        spent = min(time, effort)
        time -= spent
        revenue += spent * project.billing_rate
    return revenue


def _cost(seen: Briefing, staff: int) -> float:
    """Return the cost in money of *staff* consultants from start to stop, 0 where it is hidden."""
    pay = (seen.salary or 0.0) + (seen.workplace_cost or 0.0)
    return (staff * pay + (seen.fixed_cost or 0.0)) * (seen.stoptime - seen.starttime)


# -- interactive -----------------------------------------------------------------------------------


def default_command(_: Dashboard) -> Command:
    """Return the command to wait."""
    return Wait()


def commands(seen: Dashboard) -> list[Option]:
    """Return commands that can be carried out now; one of them is to wait, with the value 0.

    Values are money until the deadline or the end, on the assumption that work does not run out.
    """
    offered: list[Option] = [Option(Wait(), 0.0, note="let time pass")]
    for project in seen.projects:
        if not project.over and not project.accepted:
            value = _seats(seen, project) * project.billing_rate * _time_left(seen, project)
            offered.append(Option(Accept(project.index), value, note=project.name))
            offered.append(Option(Decline(project.index), -value, note=project.name))
    return [*offered, *_payroll(seen), *_risk(seen)]


def _seats(seen: Dashboard, project: ProjectStatus) -> int:
    return min(project.most_seats, seen.hired + seen.free)


def _time_left(seen: Dashboard, project: ProjectStatus) -> float:
    """Return the time in which a project can still be worked on."""
    end = min(project.deadline, seen.time + (seen.steps - seen.step) * seen.dt)
    return max(0.0, end - max(seen.time, project.start))


def _payroll(seen: Dashboard) -> list[Option]:
    """Return a command to hire for free seats, and one to release consultants without a seat."""
    wanted = _free_seats(seen)
    rest = (seen.steps - seen.step) * seen.dt * seen.consultant_cost
    offered: list[Option] = []
    if seen.free:
        lacking = min(seen.free, wanted - seen.idle)
        value = rest * lacking if lacking > 0 else -rest
        offered.append(Option(Hire(max(1, lacking)), value, note=f"{wanted} seats wait"))
    if seen.hired:
        spare = min(seen.hired, seen.idle - wanted)
        value = rest * spare if spare > 0 else -rest
        offered.append(Option(Release(max(1, spare)), value, note=f"{seen.idle} are idle"))
    return offered


def _free_seats(seen: Dashboard) -> int:
    """Return the free seats of all projects that are accepted, or not yet ready."""
    return sum(
        max(0, p.seats - p.staff)
        for p in seen.projects
        if not p.over and (p.accepted or p.state == "acquired") and _time_left(seen, p) > 0
    )


def _risk(seen: Dashboard) -> list[Option]:
    """Return commands that close or open every gate."""
    return [
        Option(SetRisk(risk), (risk - seen.revenue_risk) * seen.consultant_cost, note=f"R = {risk}")
        for risk in (0.0, 1.0)
        if risk != seen.revenue_risk
    ]
