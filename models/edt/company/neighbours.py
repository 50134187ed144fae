"""Consultants lent to and borrowed from the other companies of a group.

Every move is an entry of the ledger `firm.staff`, so that staff that leaves one firm can be
compared with staff that enters another. All calls are made after the turns of a step and take
effect from the next step on.

A client that leaves: a project ends early, without a follow-on.
"""

from bisect import insort

from desim.errors import possible
from desim.short_repr import short_repr
from models.edt import processes
from models.edt.company import listing
from models.edt.company.firm import HERE, LAST, Firm, by_rank
from models.edt.scenario import AGENTS
from models.edt.state import Engagement, Phase, StaffMember

#: Before the name of a partner in the ledger, since a partner may be named as the firm's account.
_PARTNER = "partner."


def lend(firm: Firm, consultants: int, partner: str) -> None:
    """Lend idle consultants of the firm, the last on the list first; they stay on its payroll.

    Raises:
        ValueError: So many do not wait for a seat, or an argument is of the wrong kind.
    """
    _check(consultants, partner)
    idle = [who for who in firm.idle if not who.borrowed_from]
    if consultants > len(idle):
        raise ValueError(
            f"{consultants} consultants were to be lent to {partner}; {len(idle)} are idle"
        )
    _post(firm, "lent to", partner, consultants)
    for who in idle[-consultants:]:
        firm.idle.remove(who)
        who.lent_to = partner


def take_back(firm: Firm, consultants: int, partner: str) -> None:
    """Let lent consultants wait for a seat again, the first on the list first.

    Raises:
        ValueError: So many are not lent to the partner, or an argument is of the wrong kind.
    """
    _check(consultants, partner)
    away = [who for who in firm.employees if who.lent_to == partner]
    if consultants > len(away):
        raise ValueError(
            f"{consultants} consultants were to come back from {partner}; {len(away)} are lent "
            "to it"
        )
    _post(firm, "back from", partner, -consultants)
    for who in away[:consultants]:
        who.lent_to = ""
        insort(firm.idle, who, key=by_rank)
    firm.call(LAST)


def borrow(firm: Firm, consultants: int, partner: str) -> None:
    """Let consultants of a partner look for work from the next step on, without pay.

    They act behind all agents that are on the list when the partner first lends so many.

    Raises:
        ValueError: They are more than a firm can have, the manager has not opened the firm yet, or
            an argument is of the wrong kind.
    """
    _check(consultants, partner)
    if not firm.listed:
        raise ValueError(
            f"{consultants} consultants were to be borrowed from {partner}; the firm opens with "
            "its manager's decision"
        )
    here = sum(who.hired for who in firm.employees)
    if here + consultants > AGENTS:
        raise ValueError(
            f"{consultants} consultants were to be borrowed from {partner}; with {here} here, "
            f"{AGENTS - here} can be"
        )
    _post(firm, "borrowed from", partner, -consultants)
    for who in _guests(firm, consultants, partner):
        firm.controlling.payroll.employ(who.terms, who.rank, firm.world.now + 1)
        firm.world.process(processes.newcomer(firm, who))


def _guests(firm: Firm, count: int, partner: str) -> list[StaffMember]:
    """Return the partner's consultants who were here before, and new ones if these are too few."""
    known = [who for who in firm.employees if who.borrowed_from == partner]
    guests = [who for who in known if not who.hired][:count]
    for who in guests:
        who.hired = True
    numbers = range(len(known) + 1, len(known) + 1 + count - len(guests))
    return guests + [listing.guest(firm, f"{partner} {number}", partner) for number in numbers]


def give_back(firm: Firm, consultants: int, partner: str) -> None:
    """Send borrowed consultants back, idle ones first, then the last on the list.

    A project reports their effort up to its own last turn. They act after the project, so the last
    step of a consultant who is still on a project is not billed.

    Raises:
        ValueError: Fewer are borrowed, or an argument is of the wrong kind.
    """
    _check(consultants, partner)
    guests = [who for who in firm.employees if who.hired and who.borrowed_from == partner]
    if consultants > len(guests):
        raise ValueError(
            f"{consultants} consultants were to go back to {partner}; {len(guests)} are borrowed "
            "from it"
        )
    _post(firm, "back to", partner, consultants)
    # Rounds of work are computed with the hands that delivered them.
    firm.settle()
    firm.dismiss_idle_first(guests, consultants)


def balances(firm: Firm) -> dict[str, int]:
    """Return the consultants by partner: above 0 are lent to it, below 0 borrowed from it."""
    held = firm.staff.held.items()
    return {name.removeprefix(_PARTNER): count for name, count in held if name != HERE}


def _post(firm: Firm, text: str, partner: str, count: int) -> None:
    account = _PARTNER + partner
    if account not in firm.staff.held:
        firm.staff.add_account(account)
    firm.staff.transfer(firm.world.now, f"{text} {partner}", account, HERE, count)


def _check(consultants: int, partner: str) -> None:
    if type(consultants) is not int or consultants < 1:
        raise ValueError(
            f"{short_repr(consultants)} consultants were given; they are a whole number above 0"
        )
    if type(partner) is not str or not partner:
        raise ValueError(
            f"partner={short_repr(partner)} was given; it is the name of another company"
        )


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
