"""What the manager is shown, drawn from the firm."""

from statistics import fmean
from typing import TYPE_CHECKING

from models.edt.accounts import COSTS
from models.edt.decision import Limits
from models.edt.observation import Briefing, Desk, Event, Offer, Position

if TYPE_CHECKING:
    from models.edt.firm import Firm
    from models.edt.state import Engagement

__all__ = ["briefing", "see"]


def briefing(firm: "Firm", limits: Limits) -> Briefing:
    """Tell of the scenario before the one decision; costs only where the game tells them."""
    scenario, told = firm.scenario, firm.game.shows_costs
    staff = scenario.consultants
    offered = [p for p in scenario.projects if not p.is_follow_on]
    return Briefing(
        projects=tuple(
            Offer(
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
                extension_effort=p.extension_effort if told else None,
            )
            for at, p in enumerate(offered)
        ),
        consultants=len(staff),
        revenue_risk=scenario.revenue_risk_level,
        horizon=limits.horizon,
        dt=scenario.dt,
        starttime=scenario.starttime,
        stoptime=scenario.stoptime,
        fixed_cost=scenario.fixed_cost if told else None,
        salary=fmean(c.salary for c in staff) if told and staff else None,
        workplace_cost=fmean(c.workplace_cost for c in staff) if told and staff else None,
        refused=firm.refusal,
    )


def see(firm: "Firm") -> Desk:
    """Show the firm as it stands when all of a step is done and booked."""
    scenario, book, step = firm.scenario, firm.accounts.book, firm.world.now
    staff = scenario.consultants
    hired = [e for e in firm.employees if e.hired]
    earned = -sum(book.balance(account) for account in ("revenue", *COSTS))
    return Desk(
        step=step,
        steps=firm.steps,
        time=scenario.time(step),
        dt=scenario.dt,
        events=tuple(Event(*happening) for happening in firm.happenings),
        projects=tuple(_position(project) for project in firm.engagements),
        hired=len(hired),
        idle=sum(e.project is None for e in hired),
        free=len(firm.employees) - len(hired),
        revenue_risk=firm.risk,
        fixed_cost=scenario.fixed_cost,
        consultant_cost=fmean(c.salary + c.workplace_cost for c in staff) if staff else 0.0,
        cash=book.money(book.balance("cash")),
        receivables=book.money(book.balance("receivables")),
        earnings=book.money(earned),
        refused=firm.refusal,
    )


def _position(project: "Engagement") -> Position:
    terms = project.terms
    return Position(
        index=project.index,
        name=project.name,
        state=project.state.name.lower(),
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
