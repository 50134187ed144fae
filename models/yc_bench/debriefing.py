"""The debriefing of an episode: funds, tasks, and the costs by cause."""

from itertools import accumulate

from desim.core.reported import Debriefing, Overlay
from desim.show.column import Column
from models.yc_bench.accounts import FINES, WAGES
from models.yc_bench.state import CompanyState
from models.yc_bench.tables import monthly_series

_CENT = 100

_DOLLARS = Column("dollars", period="month")
_TASKS = Column("tasks", period="month")

_QUESTIONS = (
    "Which clients were worth their tasks, and after how many tasks could that be known?",
    "When did salaries rise, and did the rewards of the same months rise with them?",
    "In which month was most at risk, and which command would have lowered the risk?",
)


def debriefing(company: CompanyState) -> Debriefing:
    """Return funds and tasks by month, and wages and fines of the episode so far."""
    months = monthly_series(company)
    book = company.accounts.book
    money = {
        "funds": [cents / _CENT for cents in months["funds_cents"]],
        "rewards so far": _so_far(months["revenue_cents"]),
        "salaries so far": _so_far(months["payroll_cents"]),
    }
    tasks = {name: months[f"tasks_{name}"] for name in ("accepted", "succeeded", "failed")}
    costs = {"salaries": book.balance(WAGES), "fines": book.balance(FINES)}
    return Debriefing(
        (
            Overlay("Funds, rewards and salaries", money, _DOLLARS),
            Overlay("Tasks of each month", tasks, _TASKS),
        ),
        {"company": {cause: cents / _CENT for cause, cents in costs.items()}},
        _DOLLARS,
        questions=_QUESTIONS,
    )


def _so_far(cents: list[float]) -> list[float]:
    return [each / _CENT for each in accumulate(cents)]
