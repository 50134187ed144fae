"""The debriefing of an episode: money, staff against what projects needed, costs by cause."""

from desim.core.reported import Debriefing, Overlay
from desim.show.column import Column
from models.edt import series
from models.edt.company.controlling import COSTS
from models.edt.company.firm import Firm

#: The line of the seats of all projects under way.
_NEEDED = "seats of projects"

_MONEY = Column("money", period="step")
_PEOPLE = Column("consultants", period="step")

_QUESTIONS = (
    "In which steps were consultants without a project, and when could that have been foreseen?",
    "With one consultant less: which costs fall, and which projects begin later?",
    "Customers pay two steps after the work: when was cash lowest, and who watched it?",
)


def debriefing(firm: Firm) -> Debriefing:
    """Return money, staff and costs of an episode by posted step; the hidden demand is revealed."""
    lines = series.by_step(firm)
    book = firm.controlling.book
    money = {"earnings so far": lines["accumulated_earnings"], "cash": lines["cash"]}
    staff = {"on the payroll": lines["staff"], "on projects": lines["busy"]}
    needed = [float(count) for count in firm.controlling.demand()]
    return Debriefing(
        (
            Overlay("Earnings so far, and cash in the bank", money, _MONEY),
            Overlay("Consultants on the payroll and on projects", staff, _PEOPLE),
        ),
        {"firm": {account: book.money(book.balance(account)) for account in COSTS}},
        _MONEY,
        revealed=_revealed(needed, lines["staff"]),
        questions=_QUESTIONS,
    )


def _revealed(needed: list[float], staff: list[float]) -> Overlay | None:
    if not needed:
        return None
    short = sum(want > have for want, have in zip(needed, staff, strict=True))
    text = (
        f"Projects under way had more seats than the firm had consultants in {short:,} of "
        f"{len(needed):,} steps; the most seats were {max(needed):,.0f}."
    )
    lines = {_NEEDED: needed, "consultants": staff}
    return Overlay("Seats of projects under way, and consultants", lines, _PEOPLE, _NEEDED, text)
