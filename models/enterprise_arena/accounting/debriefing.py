"""The debriefing of an episode: cash and funding, borrowers, costs by cause, the hidden growth."""

from desim.core.reported import Debriefing, Overlay
from desim.show.column import DOLLARS, Column
from models.enterprise_arena import series
from models.enterprise_arena.accounting.accounts import CHART, CLOSE_YEAR, dollars
from models.enterprise_arena.state import Lender

_EXPENSE = "expense"

_MONEY = Column("dollars", period="month")
_BORROWERS = Column("borrowers", period="month")
_GROWTH = Column("% a month", period="month")

_QUESTIONS = (
    "In which month was cash lowest, and what was known three months before?",
    "Funding arrives months after its request: which request came too late, which was not needed?",
    "What did equity cost the owners, and what would a loan have cost in its place?",
)


def debriefing(lender: Lender) -> Debriefing:
    """Return cash and funding, borrowers and costs of the months closed, and the growth."""
    lines = series.series(lender)
    names = {"cash": "cash", "notes owed": "debt", "equity raised": "equity_raised"}
    money = {name: lines[column] for name, column in names.items()}
    return Debriefing(
        (
            Overlay("Cash in the bank, notes owed, and equity raised", money, _MONEY),
            Overlay("Borrowers at the end of the month", {"borrowers": lines["users"]}, _BORROWERS),
        ),
        {"lender": _costs(lender)},
        DOLLARS,
        revealed=_revealed([month.growth for month in lender.indicators]),
        questions=_QUESTIONS,
    )


def _costs(lender: Lender) -> dict[str, float]:
    """Return what was posted to each expense account, without the closings of the years."""
    names = {account.code: account.name for account in CHART if account.kind == _EXPENSE}
    sums = dict.fromkeys(names, 0)
    for entry in lender.books.book.journal:
        if entry.kind != CLOSE_YEAR.kind:
            for code in names.keys() & entry.amounts.keys():
                sums[code] += entry.amounts[code]
    return {names[code]: dollars(cents) for code, cents in sums.items()}


def _revealed(growth: list[float]) -> Overlay | None:
    if not growth:
        return None
    below = sum(each < 0 for each in growth)
    low = min(growth)
    text = (
        f"The number of borrowers fell in {below:,} of {len(growth):,} months. The worst was month "
        f"{growth.index(low) + 1}, with {low:.1f} %; no seat could know it before."
    )
    return Overlay("Growth of borrowers", {"growth": growth}, _GROWTH, text=text)
