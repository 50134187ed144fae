"""Sensible decisions and commands with estimates of their values; usual ranges of numbers."""

from collections.abc import Mapping
from functools import lru_cache

from desim import Option
from desim.show.column import Column
from models.edt import actions
from models.edt.desk import Briefing, Dashboard, ProjectOffer, ProjectStatus
from models.edt.scenario import Scenario


def described(scenario: Scenario) -> Mapping[str, Mapping[str, Column]]:
    """Return the columns of numbers that the scenario limits: its consultants, and their seats."""
    seats = max((project.consultants for project in scenario.projects), default=0)
    people = {"consultants": _people(len(scenario.consultants))}
    return {
        "decide": {**actions.Decide.columns, **people},
        "hire": people,
        "release": people,
        "staff": {**actions.Staff.columns, "seats": _people(seats)},
    }


@lru_cache(16)
def _people(most: int) -> Column:
    return Column("consultants", usual=(0, most))


# -- the one decision of the published game --------------------------------------------------------


def default_decision(seen: Briefing) -> actions.Decide:
    """Return the scenario's own consultants, risk level and windows."""
    windows = tuple(actions.Window(p.start, p.deadline) for p in seen.projects)
    return actions.Decide(seen.consultants, seen.revenue_risk, windows)


def decisions(seen: Briefing) -> list[Option]:
    """Return decisions that take the 1, 2, ... best-paid projects, each with R = 1 and R = 0.

    Each employs one consultant per seat, as far as there are any. The value is an estimate in
    money: the revenue that the consultants can earn in the longest window, less the cost that the
    briefing shows.
    """
    ranked = sorted(seen.projects, key=lambda p: -p.billing_rate)
    choices = [ranked[:count] for count in range(1, len(ranked) + 1)] or [[]]
    return [_decision(seen, some, risk) for some in choices for risk in (1.0, 0.0)]


def _decision(seen: Briefing, chosen: list[ProjectOffer], risk: float) -> Option:
    staff = min(seen.consultants, max(1, sum(p.seats for p in chosen)))
    window = actions.Window(0, seen.horizon)
    indices = {p.index for p in chosen}
    windows = tuple(window if p.index in indices else None for p in seen.projects)
    pay = (seen.salary or 0.0) + (seen.workplace_cost or 0.0)
    cost = (staff * pay + (seen.fixed_cost or 0.0)) * (seen.stoptime - seen.starttime)
    value = _revenue(seen, chosen, staff, extended=risk == 1) - cost
    note = f"the {len(chosen)} best paid, {staff} consultants"
    return Option(actions.Decide(staff, risk, windows), value, note=note)


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


# -- the commands of the interactive game ----------------------------------------------------------


def default_command(_: Dashboard) -> actions.Command:
    """Return the command to wait."""
    return actions.Wait()


def commands(seen: Dashboard) -> list[Option]:
    """Return commands that can be carried out now; one of them is to wait, with the value 0.

    Values are money until the deadline or the end, on the assumption that work does not run out.
    """
    offered = [Option(actions.Wait(), 0.0, note="let time pass")]
    changes = []
    for project in seen.projects:
        if not project.over and not project.accepted:
            seats = min(project.most_seats, seen.hired + seen.free)
            value = seats * project.billing_rate * _time_left(seen, project)
            offered.append(Option(actions.Accept(project.index), value, note=project.name))
            offered.append(Option(actions.Decline(project.index), -value, note=project.name))
    for risk in (0.0, 1.0):
        value = (risk - seen.revenue_risk) * seen.consultant_cost
        if risk != seen.revenue_risk:
            changes.append(Option(actions.SetRisk(risk), value, note=f"R = {risk}"))
    return [*offered, *_payroll(seen), *changes]


def _time_left(seen: Dashboard, project: ProjectStatus) -> float:
    """Return the time in which a project can still be worked on."""
    end = min(project.deadline, seen.time + (seen.steps - seen.step) * seen.dt)
    return max(0.0, end - max(seen.time, project.start))


def _payroll(seen: Dashboard) -> list[Option]:
    """Return a command to hire for free seats, and one to release consultants without a seat."""
    wanted = sum(
        max(0, p.seats - p.staff)
        for p in seen.projects
        if not p.over and (p.accepted or p.state == "acquired") and _time_left(seen, p) > 0
    )
    rest = (seen.steps - seen.step) * seen.dt * seen.consultant_cost
    offered: list[Option] = []
    if seen.free:
        lacking = min(seen.free, wanted - seen.idle)
        value = rest * lacking if lacking > 0 else -rest
        offered.append(Option(actions.Hire(max(1, lacking)), value, note=f"{wanted} seats wait"))
    if seen.hired:
        spare = min(seen.hired, seen.idle - wanted)
        value = rest * spare if spare > 0 else -rest
        offered.append(Option(actions.Release(max(1, spare)), value, note=f"{seen.idle} are idle"))
    return offered
