"""The manager: one decision in the published game, commands at events in the interactive one.

A command is carried out, or refused with a reason, without effect and at no cost.
"""

from collections.abc import Mapping
from functools import partial

from desim import World
from desim.errors import possible
from models.edt import actions, desk, processes
from models.edt.agents import Engagement, Phase
from models.edt.firm import LAST, MANAGER, Firm
from models.edt.params import DigitalTwinParams
from models.edt.planning import DecisionLimits, judged
from models.edt.processes import Process
from models.edt.scenario import Agent


def begin(world: World, params: DigitalTwinParams) -> Firm:
    """Set up the firm and start its processes; without a manager the scenario runs as given."""
    firm = Firm(world, params)
    if MANAGER not in world.seats:
        firm.enlist(firm.scenario.agents, {})
        processes.start(world, firm)
    else:
        manage = decide_once if params.asks == "once" else manage_at_events
        world.process(manage(world, firm))
    world.process(processes.close(world, firm))
    return firm


def decide_once(world: World, firm: Firm) -> Process:
    """Ask until a decision is not refused, then open the firm with it."""
    limits = DecisionLimits.of(firm.scenario)
    while firm.plan is None:
        answer: actions.Decide | actions.Answer = yield world.ask(
            MANAGER, partial(desk.briefing, firm, limits)
        )
        given = answer.given if isinstance(answer, actions.Answer) else answer.raw()
        firm.refusal, firm.plan = judged(given, limits, firm.params.mode)
        if firm.refusal:
            world.log.info("refused", role=MANAGER, why=firm.refusal)
    firm.risk = firm.plan.revenue_risk
    windows = zip(firm.scenario.offered, firm.plan.projects, strict=True)
    _open(world, firm, firm.plan.consultants, {number: one for number, one in windows if one})


def manage_at_events(world: World, firm: Firm) -> Process:
    """Offer the whole market, then carry out commands at every event until the manager waits."""
    firm.offers = True
    _open(world, firm, len(firm.scenario.consultants), dict.fromkeys(firm.scenario.offered))
    firm.happenings.append((0, "opened", ""))
    if firm.params.thinking.takes_time:
        # Events before the first answer are noted only where there is a bell.
        firm.bell = world.timeout(0)
    while True:
        asked = world.now
        command: actions.Command = yield world.ask(MANAGER, partial(desk.dashboard, firm))
        firm.refusal = carry_out(firm, command)
        if firm.refusal:
            world.log.info("refused", role=MANAGER, command=command, why=firm.refusal)
        if not isinstance(command, actions.Wait):
            continue
        # Events since then are left, so that a manager who took time is asked again at once.
        firm.happenings[:] = [each for each in firm.happenings if each[0] > asked]
        if not firm.happenings:
            # The end of the quarter, which `Firm.happened` moves forward.
            quarter = firm.params.quarter
            firm.bell = world.timeout(quarter - world.now % quarter, rank=LAST)
            yield firm.bell
        if not firm.happenings:
            firm.happenings.append((world.now, "quarter", ""))
        firm.settle()


def _open(
    world: World, firm: Firm, staff: int, windows: Mapping[int, actions.Window | None]
) -> None:
    """Open the firm as published: consultants, the projects with a window, then all others."""
    scenario, offered = firm.scenario, firm.scenario.offered
    others = [
        (kind, number)
        for kind, number in scenario.agents
        if kind == "controlling" or (kind == "project" and number not in offered)
    ]
    decided: list[Agent] = [("consultant", number) for number in range(staff)]
    decided += [("project", number) for number in windows]
    firm.enlist([*decided, *others], windows)
    processes.start(world, firm)


# -- commands --------------------------------------------------------------------------------------


def carry_out(firm: Firm, command: actions.Command) -> str:
    """Carry out a command; return "", or the reason for which it is refused."""
    match command:
        case actions.OnProject(project=number) if number >= len(firm.engagements):
            return f"there is no project {number}; they are 0 to {len(firm.engagements) - 1}"
        case actions.OnProject(project=number) if firm.engagements[number].phase is Phase.COMPLETED:
            return f"project {number} is over"
        case actions.OnProject(project=number):
            return _arrange(firm, firm.engagements[number], command)
        case actions.Hire(consultants=count):
            return _hire(firm, count)
        case actions.Release(consultants=count):
            return _release(firm, count)
        case actions.SetRisk(revenue_risk=risk):
            firm.risk = risk
    return ""


def _arrange(firm: Firm, project: Engagement, command: actions.OnProject) -> str:
    number, most = project.index, project.terms.consultants
    match command:
        case actions.Accept() if project.accepted:
            return f"project {number} was accepted before"
        case actions.Accept():
            project.accepted = True
        case actions.Decline() if project.accepted:
            return (
                f"project {number} was accepted; it ends at its deadline or when the work is done"
            )
        case actions.Decline():
            firm.end_early(project)
            return ""
        case actions.Staff() if not project.accepted:
            return f"project {number} was not accepted"
        case actions.Staff(seats=seats) if seats > most:
            return f"project {number} has {most} seats, not {seats}"
        case actions.Staff(seats=seats):
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
        firm.controlling.employ(who.terms, who.rank, firm.world.now + 1)
        firm.world.process(processes.newcomer(firm, who))
        firm.world.log.info("consultant hired", consultant=who.rank)
    return ""


def _release(firm: Firm, count: int) -> str:
    """Dismiss idle consultants first, then the last on the list."""
    hired = [e for e in firm.employees if e.hired]
    if count > len(hired):
        return f"{count} consultants are to go; {len(hired)} are on the payroll"
    for who in sorted(hired, key=lambda e: (e.project is not None, -e.rank))[:count]:
        firm.dismiss(who)
        firm.world.log.info("consultant released", consultant=who.rank)
    firm.call(LAST)
    return ""


# -- a client that leaves --------------------------------------------------------------------------


def lose(firm: Firm, name: str = "") -> None:
    """End a project after the turns of a step, without a follow-on; bills already posted stay.

    Its consultants become free as after a completion. Effort that was delivered and not reported,
    by consultants behind the project on the list, is lost with it. Without a *name* it is the
    accepted project with the most contracted revenue left, of equal ones the first.

    Raises:
        ValueError: No such project is on the list, or it has ended.
    """
    # The effort left is computed here, and the work so far is billed.
    firm.settle()
    project = _chosen(firm, name)
    firm.end_early(project)
    firm.happened("lost", project)


def _chosen(firm: Firm, name: str) -> Engagement:
    going = [one for one in firm.engagements if one.phase is not Phase.COMPLETED]
    if not name:
        held = [one for one in going if one.accepted]
        if not held:
            raise ValueError("no project is under contract; there is none to lose")
        return max(held, key=_revenue_left)
    # Copies that a scenario document counts have one name.
    for one in going:
        if one.name == name:
            return one
    known = [one.name for one in firm.engagements]
    if name in known:
        raise ValueError(f"project {name!r} has ended")
    raise ValueError(f"no project is named {name!r}; {possible(name, known)}")


def _revenue_left(project: Engagement) -> float:
    effort = project.remaining if project.phase.active else project.terms.contracted_effort
    return effort * project.terms.billing_rate
