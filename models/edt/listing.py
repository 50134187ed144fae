"""The list of agents: who acts in an episode, in which order, and what follows a project."""

from itertools import takewhile

from models.edt.decision import Plan, Window
from models.edt.firm import Firm
from models.edt.scenario import Project
from models.edt.state import Employee, Engagement, State

__all__ = ["follow_on", "open_as_given", "open_by", "take_over"]


def open_by(firm: Firm, plan: Plan) -> None:
    """List agents as published: consultants kept, projects kept, then all others."""
    firm.risk = plan.revenue_risk
    _list_employees(firm, plan.consultants, 1, 0)
    windows = iter(plan.projects)
    rank = plan.consultants
    for number, project in enumerate(firm.scenario.projects):
        if not project.is_follow_on and (window := next(windows)) is not None:
            rank += 1
            _list_project(firm, number, rank, window)
    _list_others(firm, rank)


def _list_others(firm: Firm, rank: int) -> None:
    """List controlling, and projects that follow others, in the scenario's order."""
    number = 0
    for kind, count in firm.scenario.order:
        if kind == "controlling":
            rank += 1
            firm.accounts.rank = rank
        elif kind == "project":
            for at in range(number, number + count):
                if firm.scenario.projects[at].is_follow_on:
                    rank += 1
                    _list_project(firm, at, rank)
            number += count


def open_as_given(firm: Firm) -> None:
    """List agents in the scenario's own order."""
    order = firm.scenario.order
    # Who stands behind controlling is booked late, so its place is settled first.
    before = takewhile(lambda run: run[0] != "controlling", order)
    firm.accounts.rank = 1 + sum(count for _, count in before)
    listed, rank = {"consultant": 0, "project": 0, "controlling": 0}, 1
    for kind, count in order:
        if kind == "consultant":
            _list_employees(firm, count, rank, listed[kind])
        elif kind == "project":
            for at in range(count):
                _list_project(firm, listed[kind] + at, rank + at)
        listed[kind] += count
        rank += count


def take_over(firm: Firm) -> None:
    """Everybody is on the payroll, every project is offered and none accepted."""
    firm.offers = True
    scenario, rank = firm.scenario, len(firm.scenario.consultants)
    _list_employees(firm, rank, 1, 0)
    for number, project in enumerate(scenario.projects):
        if not project.is_follow_on:
            rank += 1
            _list_project(firm, number, rank)
    _list_others(firm, rank)


def follow_on(firm: Firm, parent: Engagement) -> Engagement:
    """Found the follow-on of a project that is at its deadline, behind everybody on the list."""
    now = firm.scenario.time(firm.world.now)
    listed = [agents[-1].rank for agents in (firm.employees, firm.engagements) if agents]
    return _engage(
        firm,
        parent.terms,
        max(*listed, firm.accounts.rank) + 1,
        (now + 1, min(firm.scenario.stoptime, now + parent.deadline - parent.start)),
        name=f"{parent.name} (Follow On)",
        key=f"{parent.key}+",
        chances=(parent.follow_on_probability, 0.0),
    )


def _list_employees(firm: Firm, count: int, rank: int, of: int) -> None:
    """Put consultants on the list, from the scenario's number `of` on."""
    for at, terms in enumerate(firm.scenario.consultants[of : of + count]):
        who = Employee(terms, rank + at)
        firm.employees.append(who)
        firm.accounts.employ(terms, who.rank, 1)


def _list_project(firm: Firm, number: int, rank: int, window: Window | None = None) -> None:
    """Put a project of the scenario on the list, in a window if one was decided."""
    scenario = firm.scenario
    terms = scenario.projects[number]
    moments = (terms.start_time, terms.deadline)
    if window is not None:
        # As published, a step's number is used as a time.
        first, last = scenario.starttime, scenario.stoptime
        moments = (max(min(last, window.start), first), max(min(last, window.deadline), first))
    chances = (terms.contracted_probability, terms.follow_on_probability)
    _engage(firm, terms, rank, moments, name=terms.name, key=str(number), chances=chances)


def _engage(
    firm: Firm,
    terms: Project,
    rank: int,
    window: tuple[float, float],
    *,
    name: str,
    key: str,
    chances: tuple[float, float],
) -> Engagement:
    """Put a project on the list.

    Args:
        firm: Whose list.
        terms: Of the scenario's project.
        rank: Place in the list.
        window: Start and deadline, as times.
        name: For people.
        key: Names its random streams.
        chances: Contracted and follow-on probability.
    """
    scenario, (start, deadline) = firm.scenario, window
    created = max(1, firm.world.now)
    started = scenario.step_at(start)
    ended = scenario.first_step_from(deadline)
    project = Engagement(
        terms=terms,
        name=name,
        index=len(firm.engagements),
        rank=rank,
        key=key,
        start=start,
        deadline=deadline,
        start_step=started if started is not None and started >= created else None,
        deadline_step=max(ended, created),
        on_time=ended >= created and scenario.time(ended) == deadline,
        contracted_probability=chances[0],
        follow_on_probability=chances[1],
        seats=terms.consultants,
        accepted=not firm.offers,
        worked=created - 1,
    )
    project.states.append((created, State.ACQUIRED))
    firm.engagements.append(project)
    return project
