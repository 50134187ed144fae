"""The list of agents: consultants and projects with their ranks, follow-ons included."""

from itertools import takewhile

from models.edt.company.firm import Firm
from models.edt.planning.decision import Plan, Window
from models.edt.scenario import Project
from models.edt.state import Engagement, Phase, StaffMember


def open_by(firm: Firm, plan: Plan) -> None:
    """List the agents of a decision as published: consultants, projects, then all others."""
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
    """List controlling and the scenario's follow-on projects, in the scenario's order."""
    number = 0
    for kind, count in firm.scenario.order:
        if kind == "controlling":
            rank += 1
            firm.controlling.rank = rank
        elif kind == "project":
            for at in range(number, number + count):
                if firm.scenario.projects[at].is_follow_on:
                    rank += 1
                    _list_project(firm, at, rank)
            number += count


def open_as_given(firm: Firm) -> None:
    """List the agents in the scenario's own order."""
    order = firm.scenario.order
    # Reports depend on controlling's rank, so it is set before any other agent is listed.
    before = takewhile(lambda run: run[0] != "controlling", order)
    firm.controlling.rank = 1 + sum(count for _, count in before)
    listed, rank = {"consultant": 0, "project": 0, "controlling": 0}, 1
    for kind, count in order:
        if kind == "consultant":
            _list_employees(firm, count, rank, listed[kind])
        elif kind == "project":
            for at in range(count):
                _list_project(firm, listed[kind] + at, rank + at)
        listed[kind] += count
        rank += count


def open_all(firm: Firm) -> None:
    """List all consultants as hired, and all projects as offered and not accepted."""
    firm.offers = True
    scenario, rank = firm.scenario, len(firm.scenario.consultants)
    _list_employees(firm, rank, 1, 0)
    for number, project in enumerate(scenario.projects):
        if not project.is_follow_on:
            rank += 1
            _list_project(firm, number, rank)
    _list_others(firm, rank)


def follow_on(firm: Firm, parent: Engagement) -> Engagement:
    """List the follow-on of a project at its deadline, behind all other agents."""
    now = firm.scenario.time(firm.world.now)
    return _engage(
        firm,
        parent.terms,
        _next_rank(firm),
        (now + 1, min(firm.scenario.stoptime, now + parent.deadline - parent.start)),
        name=f"{parent.name} (Follow On)",
        key=f"{parent.key}+",
        chances=(parent.follow_on_probability, 0.0),
    )


def _next_rank(firm: Firm) -> int:
    """Return the place behind all agents of the list."""
    listed = [agents[-1].rank for agents in (firm.employees, firm.engagements) if agents]
    return max([*listed, firm.controlling.rank]) + 1


def _list_employees(firm: Firm, count: int, rank: int, first: int) -> None:
    """List *count* consultants of the scenario, from number *first* on."""
    for at, terms in enumerate(firm.scenario.consultants[first : first + count]):
        who = StaffMember(terms, rank + at)
        firm.employees.append(who)
        firm.controlling.payroll.employ(terms, who.rank, 1)


def _list_project(firm: Firm, number: int, rank: int, window: Window | None = None) -> None:
    """List a project of the scenario, with the window of a decision if given."""
    scenario = firm.scenario
    terms = scenario.projects[number]
    moments = (terms.start_time, terms.deadline)
    if window is not None:
        first, last = scenario.starttime, scenario.stoptime
        numbers = [float(window.start), float(window.deadline)]
        if firm.params.step_numbers == "step":
            numbers = [first + number * scenario.dt for number in numbers]
        # As published, a step's number is otherwise used as a time.
        moments = (max(min(last, numbers[0]), first), max(min(last, numbers[1]), first))
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
    """List a project.

    Args:
        firm: The firm.
        terms: The project of the scenario.
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
    project.phases.append((created, Phase.ACQUIRED))
    firm.engagements.append(project)
    return project
