"""The rules of the consulting firm in words, for its manager."""

from collections.abc import Mapping

from desim.core.reported import SeatBriefing, Texts
from models.edt.actions import Accept, Decline, Hire, Release, SetRisk, Staff, Wait
from models.edt.desk import Dashboard
from models.edt.params import DigitalTwinParams

_AIM = (
    "The aim is the highest accumulated earnings at the end: revenue less salaries, workplaces and "
    "fixed cost."
)
_STAFFED = (
    "Free consultants go to open projects by themselves, up to each project's seats, and stay "
    "until it ends"
)
_BILLED = "work delivered is billed at the project's rate."

_ONCE = (
    "You run a consulting firm for one simulated stretch of time. Before it starts you "
    "make one decision; then the firm runs by itself and you cannot step in. "
    f"{_AIM}\n"
    "You choose C, the consultants kept (each costs money in every step, busy or not); R, "
    "the level of revenue risk (the higher it is, the less sure the extensions and "
    "follow-on projects on which the firm counts); and P, which projects to take and when "
    f"each is open. You cannot change salaries, rates or efforts. {_STAFFED}; {_BILLED}"
)
_REFUSED = "\nA decision that cannot be carried out is refused with a reason and asked for again."

_EVENTS = (
    "You run a consulting firm step by step. You are asked at its events: a project that becomes "
    "ready, is completed or extended, a deadline, and in quiet times once in {quarter} steps. Give "
    "one command at a time; `wait` lets time pass until the next event. "
    f"{_AIM}\n"
    "You accept or decline projects, limit their seats, hire and release consultants (each on the "
    "payroll costs money in every step, busy or not), and set R, the level of revenue risk: an "
    "extension or a follow-on project with a probability above 1 - R can come about, others "
    f"cannot. {_STAFFED} or you take them off; {_BILLED}\n"
    "A command that cannot be carried out changes nothing; the next observation says why."
)


def texts(params: DigitalTwinParams) -> Texts:
    """Return the rules for the manager, also in five answers."""
    if params.asks == "once":
        when = "once, before it starts"
        rules = _ONCE + _REFUSED if params.mode == "strict" else _ONCE
    else:
        when, rules = "at its events", _EVENTS.format(quarter=params.quarter)
    briefing = SeatBriefing(
        title="The consulting firm",
        you_are=f"The manager of a consulting firm. You decide {when}.",
        you_want="Projects that earn more than the people on them cost.",
        it_costs="Every consultant on the payroll costs money in every step, busy or not; so do "
        "workplaces and the firm itself.",
        it_ends=f"After {params.loaded_scenario.steps} steps.",
        score="Earnings of the whole run: revenue less all costs, in a currency without a name.",
    )
    return Texts(rules, briefing)


#: Events that the sentence about a wait names.
_MOST_EVENTS = 5

_HAPPENED = {
    "ready": "is ready",
    "completed": "is completed",
    "extended": "was extended",
    "deadline": "has reached its deadline",
}

_DONE: Mapping[type, str] = {
    Hire: "The consultants hired cost money and look for work from the next step on.",
    Release: "The consultants released cost nothing from the next step on.",
    SetRisk: "The risk counts for every extension and follow-on from now on.",
}


def effect(action: object, seen: Dashboard) -> str:
    """Return what a command did that was carried out, and when the rest of it shows."""
    match action:
        case Wait():
            return _passed(seen)
        case Accept(project=number):
            one = seen.projects[number]
            window = f"from time {one.start:g} to {one.deadline:g}"
            return f"Consultants may work on {one.name} {window}."
        case Decline(project=number):
            return f"{seen.projects[number].name} is given away for good."
        case Staff(project=number, seats=seats):
            one = seen.projects[number]
            return f"{one.name} may have {seats} consultants; {one.staff} work on it."
    return _DONE.get(type(action), "")


def _passed(seen: Dashboard) -> str:
    """Return the time, and the first events since the last decision."""
    told = [
        f"{event.project} {_HAPPENED.get(event.what, event.what)}"
        if event.project
        else f"end of the {event.what}"
        for event in seen.events
    ]
    if len(told) > _MOST_EVENTS:
        told[_MOST_EVENTS:] = [f"and {len(told) - _MOST_EVENTS} more events"]
    happened = f": {', '.join(told)}" if told else ""
    return f"It is time {seen.time:g} now{happened}."
