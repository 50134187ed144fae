"""A client that leaves: a project ends early, without a follow-on."""

from desim.errors import possible
from models.edt.company.firm import Firm
from models.edt.state import Engagement, Phase


def lose(firm: Firm, name: str = "") -> None:
    """End a project after the turns of a step; bills already posted stay.

    Its consultants become free as after a completion. Effort that was delivered and not reported,
    by consultants behind the project on the list, is lost with it.

    Args:
        firm: The firm.
        name: Name of the project; without it, the accepted one with the most contracted revenue
            left, of equal ones the first.

    Raises:
        ValueError: No project of that name is on the list, or it has ended.
    """
    # The effort left is computed here, and the work so far is billed.
    firm.settle()
    project = _named(firm, name) if name else _largest(firm)
    firm.end_early(project)
    firm.happened("lost", project)


def _named(firm: Firm, name: str) -> Engagement:
    named = [project for project in firm.engagements if project.name == name]
    if not named:
        known = [project.name for project in firm.engagements]
        raise ValueError(f"no project is named {name!r}; {possible(name, known)}")
    # Copies that a scenario document counts have one name.
    for project in named:
        if project.phase is not Phase.COMPLETED:
            return project
    raise ValueError(f"project {name!r} has ended")


def _largest(firm: Firm) -> Engagement:
    under_contract = [
        project
        for project in firm.engagements
        if project.accepted and project.phase is not Phase.COMPLETED
    ]
    if not under_contract:
        raise ValueError("no project is under contract; there is none to lose")
    return max(under_contract, key=_revenue_left)


def _revenue_left(project: Engagement) -> float:
    """Return the money that the contracted effort left will bring."""
    terms = project.terms
    effort = project.remaining if project.phase.active else terms.contracted_effort
    return effort * terms.billing_rate
