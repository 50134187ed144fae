"""What the manager sees: a briefing before the published game, a dashboard at events, the books."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any, ClassVar

from attrs import frozen

from desim.show.column import SHARE, Column
from models.edt.agents import Engagement
from models.edt.controlling import CASH, COSTS, RECEIVABLES, REVENUE
from models.edt.firm import Firm
from models.edt.planning import DecisionLimits

_BY_PROJECT = {
    "seats": Column("consultants"),
    "billing_rate": Column(label="Billing rate per effort", kind="money"),
    "extension_probability": SHARE,
    "follow_on_probability": SHARE,
}

#: Amounts of money for a unit of time.
_BY_TIME = {
    "fixed_cost": Column(label="Fixed cost per time", kind="money"),
    "salary": Column(label="Salary per time", kind="money"),
    "workplace_cost": Column(label="Workplace cost per time", kind="money"),
    "consultant_cost": Column(label="Cost of a consultant per time", kind="money"),
    "dt": Column(label="Time of a step"),
}


@frozen
class ProjectOffer:
    """A project before the decision.

    Attributes:
        index: Its place in the decision, from 0.
        name: For people.
        seats: Consultants at most.
        contracted_effort: Consultant time to deliver before the first extension.
        billing_rate: Money per unit of effort.
        contracted_probability: How sure the revenue is, 0 to 1; it changes no figure but the
            reported risk.
        extension_probability: 0 to 1; above 1 - R the work is extended whenever it is done.
        follow_on_probability: 0 to 1; above 1 - R another project follows at the deadline.
        start: Step at which it becomes ready, unless decided otherwise.
        deadline: Step with which it ends, unless decided otherwise.
        extension_effort: Consultant time of one extension; null where the briefing hides it.
    """

    columns: ClassVar[Mapping[str, Column]] = {
        **_BY_PROJECT,
        "contracted_probability": SHARE,
    }

    index: int
    name: str
    seats: int
    contracted_effort: float
    billing_rate: float
    contracted_probability: float
    extension_probability: float
    follow_on_probability: float
    start: int
    deadline: int
    extension_effort: float | None


@frozen
class Briefing:
    """The firm and its market before the one decision of the published game.

    Attributes:
        projects: Offers in the order of the decision.
        consultants: How many can be employed.
        revenue_risk: R of the scenario, 0 to 1.
        horizon: The last step a window may name; the first is 0.
        dt: Time between steps.
        starttime: Time of the first step; windows that start before start here.
        stoptime: Time of the last step.
        fixed_cost: Money per unit of time; null where the briefing hides it.
        salary: Money per consultant and unit of time, on average; null likewise.
        workplace_cost: Money per consultant and unit of time, on average; null likewise.
        refused: Why the last answer was refused; empty if it was not.
    """

    columns: ClassVar[Mapping[str, Column]] = {
        **_BY_TIME,
        "revenue_risk": SHARE,
        "horizon": Column(label="Last step of a window"),
        "starttime": Column(label="Start time"),
        "stoptime": Column(label="Stop time"),
    }

    projects: tuple[ProjectOffer, ...]
    consultants: int
    revenue_risk: float
    horizon: int
    dt: float
    starttime: float
    stoptime: float
    fixed_cost: float | None
    salary: float | None
    workplace_cost: float | None
    refused: str

    @property
    def workable(self) -> float:
        """Units of time in which one consultant can work on a project with the longest window.

        By the rules of the published code; by the paper's there are two steps more.
        """
        first = max(min(self.stoptime, 0), self.starttime)
        return max(min(self.stoptime, self.horizon), self.starttime) - first


@frozen
class ProjectStatus:
    """A project at an event.

    Attributes:
        index: Its number in commands, from 0; follow-ons have the highest numbers.
        name: For people.
        state: acquired, ready, started, fully_staffed, completed.
        accepted: Whether consultants may work on it.
        seats: Consultants at most, as limited now.
        most_seats: Consultants at most, by contract.
        staff: Consultants on it.
        remaining: Consultant time still to deliver.
        contracted_effort: Consultant time to deliver before the first extension.
        billing_rate: Money per unit of effort.
        extension_probability: 0 to 1; compared with 1 - R whenever the work is done.
        follow_on_probability: 0 to 1; compared with 1 - R at the deadline.
        start: Time at which it becomes ready.
        deadline: Time with which it ends.
    """

    columns: ClassVar[Mapping[str, Column]] = {
        **_BY_PROJECT,
        "most_seats": Column("consultants"),
        "staff": Column("consultants"),
        "remaining": Column(label="Remaining effort"),
    }

    index: int
    name: str
    state: str
    accepted: bool
    seats: int
    most_seats: int
    staff: int
    remaining: float
    contracted_effort: float
    billing_rate: float
    extension_probability: float
    follow_on_probability: float
    start: float
    deadline: float

    @property
    def over(self) -> bool:
        """Whether it is completed, so that no command applies to it."""
        return self.state == "completed"


@frozen
class FirmEvent:
    """An event since the manager was last asked.

    Attributes:
        step: Step of the event, from 1.
        what: opened, ready, completed, extended, deadline or quarter.
        project: Name of the project; empty for the firm as a whole.
    """

    step: int
    what: str
    project: str


@frozen
class Dashboard:
    """The firm at an event, after all of its step.

    Attributes:
        step: Steps completed.
        steps: Steps of the episode.
        time: Time of the last completed step.
        dt: Time between steps.
        events: Events since the last question.
        projects: All projects, completed ones too.
        hired: Consultants on the payroll.
        idle: Consultants on the payroll without a project.
        free: Consultants that can still be hired.
        revenue_risk: R, 0 to 1.
        fixed_cost: Money per unit of time.
        consultant_cost: Money per consultant and unit of time, on average: salary and workplace.
        cash: Money in the bank.
        receivables: Money billed and not yet paid.
        earnings: Revenue less expenses so far, money.
        refused: Why the last command was refused; empty if it was not.
    """

    columns: ClassVar[Mapping[str, Column]] = {
        **_BY_TIME,
        "step": Column(kind="tick", of=("steps",)),
        "hired": Column(label="Consultants hired"),
        "idle": Column(label="Consultants without a project"),
        "free": Column(label="Consultants you may still hire"),
        "revenue_risk": SHARE,
        "cash": Column(kind="money", priority=3),
        "earnings": Column(kind="money", priority=2),
        "receivables": Column(kind="money", priority=1),
    }

    step: int
    steps: int
    time: float
    dt: float
    events: tuple[FirmEvent, ...]
    projects: tuple[ProjectStatus, ...]
    hired: int
    idle: int
    free: int
    revenue_risk: float
    fixed_cost: float
    consultant_cost: float
    cash: float
    receivables: float
    earnings: float
    refused: str


# -- read from the firm ----------------------------------------------------------------------------


def briefing(firm: Firm, limits: DecisionLimits) -> Briefing:
    """Return the scenario before the one decision; with costs if `shows_costs` is set."""
    scenario, with_costs = firm.scenario, firm.params.shows_costs
    staff = scenario.consultants
    return Briefing(
        projects=tuple(
            ProjectOffer(
                index=at,
                name=p.name,
                seats=p.consultants,
                contracted_effort=p.contracted_effort,
                billing_rate=p.billing_rate,
                contracted_probability=p.contracted_probability,
                extension_probability=p.extension_probability,
                follow_on_probability=p.follow_on_probability,
                start=limits.windows[at].start,
                deadline=limits.windows[at].deadline,
                extension_effort=p.extension_effort if with_costs else None,
            )
            for at, p in enumerate(scenario.offered.values())
        ),
        consultants=len(staff),
        revenue_risk=scenario.revenue_risk_level,
        horizon=limits.horizon,
        dt=scenario.dt,
        starttime=scenario.starttime,
        stoptime=scenario.stoptime,
        fixed_cost=scenario.fixed_cost if with_costs else None,
        salary=fmean(c.salary for c in staff) if with_costs and staff else None,
        workplace_cost=fmean(c.workplace_cost for c in staff) if with_costs and staff else None,
        refused=firm.refusal,
    )


def dashboard(firm: Firm) -> Dashboard:
    """Return the firm after all turns and postings of a step."""
    scenario, book, step = firm.scenario, firm.controlling.book, firm.world.now
    staff = scenario.consultants
    hired = [e for e in firm.employees if e.hired]
    earned = -sum(book.balance(account) for account in (REVENUE, *COSTS))
    return Dashboard(
        step=step,
        steps=firm.steps,
        time=scenario.time(step),
        dt=scenario.dt,
        events=tuple(FirmEvent(*happening) for happening in firm.happenings),
        projects=tuple(_status(project) for project in firm.engagements),
        hired=len(hired),
        idle=sum(e.project is None for e in hired),
        free=sum(not e.hired for e in firm.employees),
        revenue_risk=firm.risk,
        fixed_cost=scenario.fixed_cost,
        consultant_cost=fmean(c.salary + c.workplace_cost for c in staff) if staff else 0.0,
        cash=book.money(book.balance(CASH)),
        receivables=book.money(book.balance(RECEIVABLES)),
        earnings=book.money(earned),
        refused=firm.refusal,
    )


def _status(project: Engagement) -> ProjectStatus:
    """Return the observation of a project; the previous object if it is unchanged."""
    terms, state, staff = project.terms, project.phase.label, len(project.staff)
    seen: ProjectStatus | None = project.status
    now = (project.remaining, staff, state, project.seats, project.accepted)
    if seen is None or now != (seen.remaining, seen.staff, seen.state, seen.seats, seen.accepted):
        seen = project.status = ProjectStatus(
            index=project.index,
            name=terms.name,
            state=state,
            accepted=project.accepted,
            seats=project.seats,
            most_seats=terms.consultants,
            staff=staff,
            remaining=project.remaining,
            contracted_effort=terms.contracted_effort,
            billing_rate=terms.billing_rate,
            extension_probability=terms.extension_probability,
            follow_on_probability=terms.follow_on_probability,
            start=project.start,
            deadline=project.deadline,
        )
    return seen


def tables(firm: Firm) -> dict[str, list[dict[str, Any]]]:
    """Return the trial balance and the journal; debits are positive, credits negative."""
    book = firm.controlling.book
    return {
        "trial_balance": [
            {"account": account, "balance": book.money(units)}
            for account, units in book.trial_balance().rows
        ],
        "journal": [
            {"step": entry.time, "text": entry.text, "account": name, "amount": book.money(units)}
            for entry in book.journal
            for name, units in entry.amounts.items()
        ],
    }
