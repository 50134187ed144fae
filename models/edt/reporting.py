"""The manager's observations, read from the firm.

The manager's tables: the trial balance and the journal, in money.
"""

from statistics import fmean
from typing import Any

from models.edt.company.controlling import CASH, COSTS, RECEIVABLES, REVENUE
from models.edt.company.firm import Firm
from models.edt.observation import (
    Briefing,
    Dashboard,
    FirmEvent,
    ProjectOffer,
    ProjectStatus,
)
from models.edt.planning.decision import DecisionLimits
from models.edt.state import Engagement


def briefing(firm: Firm, limits: DecisionLimits) -> Briefing:
    """Return the scenario before the one decision; with costs if `shows_costs` is set."""
    scenario, with_costs = firm.scenario, firm.params.shows_costs
    staff = scenario.consultants
    offered = [p for p in scenario.projects if not p.is_follow_on]
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
            for at, p in enumerate(offered)
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
    seen = project.status
    if (
        seen is None
        or seen.remaining != project.remaining
        or seen.staff != len(project.staff)
        or seen.state != project.phase.label
        or seen.seats != project.seats
        or seen.accepted != project.accepted
    ):
        seen = project.status = _new_status(project)
    return seen


def _new_status(project: Engagement) -> ProjectStatus:
    terms = project.terms
    return ProjectStatus(
        index=project.index,
        name=project.name,
        state=project.phase.label,
        accepted=project.accepted,
        seats=project.seats,
        most_seats=terms.consultants,
        staff=len(project.staff),
        remaining=project.remaining,
        contracted_effort=terms.contracted_effort,
        billing_rate=terms.billing_rate,
        extension_probability=terms.extension_probability,
        follow_on_probability=project.follow_on_probability,
        start=project.start,
        deadline=project.deadline,
    )


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
