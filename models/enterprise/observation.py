"""The controller's observation at the end of a month, before the pool moves cash.

The rules of the enterprise in words, for its controller.
"""

from collections.abc import Mapping
from typing import ClassVar

from attrs import evolve, frozen

from desim.core.reported import SeatBriefing
from desim.show.column import DOLLARS, Column
from models.enterprise.params import EnterpriseParams


@frozen
class Department:
    """One department.

    Attributes:
        name: Its name.
        cash: Dollars on hand.
        cash_change: Dollars earned less spent in the month, transfers apart.
        floor: Dollars below which the pool covers it.
        ceiling: Dollars above which the pool takes the rest; None: never.
        owed_to_treasury: Dollars received from the treasury less those paid to it.
        unpaid: Dollars of its own costs that it could not pay.
        months_unpaid: Month ends in a row with unpaid costs.
        status: "open", or why it has ended.
    """

    columns: ClassVar[Mapping[str, Column]] = dict.fromkeys(
        ("cash", "cash_change", "floor", "ceiling", "owed_to_treasury", "unpaid"), DOLLARS
    )

    name: str
    cash: float
    cash_change: float
    floor: float
    ceiling: float | None
    owed_to_treasury: float
    unpaid: float
    months_unpaid: int
    status: str


@frozen
class GroupPosition:
    """The group at the end of a month.

    Attributes:
        month: Months that have passed.
        months: Months of the episode.
        grace: Month ends in a row with unpaid costs after which a department is closed.
        treasury_cash: Dollars on hand at the treasury.
        notes: Dollars that the treasury owes to lenders.
        net_worth: Dollars: the score if the episode ended now.
        departments: All departments but the treasury, in the order in which they are covered.
        reply: Why the last command was refused; empty if it was not.
    """

    columns: ClassVar[Mapping[str, Column]] = {
        "month": Column(kind="tick", of="months"),
        "net_worth": evolve(DOLLARS, priority=3),
        "treasury_cash": evolve(DOLLARS, priority=2),
        "notes": evolve(DOLLARS, priority=1),
    }

    month: int
    months: int
    grace: int
    treasury_cash: float
    notes: float
    net_worth: float
    departments: tuple[Department, ...]
    reply: str


_RULES = """You control the cash of a company for {months} months: a treasury, which raises equity \
and debt, and the departments that it finances. Your aim is the highest net worth of the whole \
company at the end, in dollars.

You are asked at the end of every month and give one command at a time. `set_limits` says between \
which amounts the cash pool keeps a department's cash from then on, `transfer` pays cash now from \
the treasury to a department or back, and `continue` ends the month: the pool takes from a \
department what is above its ceiling, then covers what is missing to its floor, as far as the \
treasury has more than {reserve:,.0f} dollars.

A department that has unpaid costs at {grace} month ends in a row is closed. The group ends if the \
treasury opens a month with cash below zero. A command that cannot be carried out changes nothing; \
the next observation says why."""


def rules(params: EnterpriseParams) -> str:
    """Return the rules for the controller."""
    return _RULES.format(months=params.months, reserve=params.reserve, grace=params.grace)


def briefing(params: EnterpriseParams) -> SeatBriefing:
    """Return the rules for the controller in five answers."""
    return SeatBriefing(
        title="The enterprise",
        you_are="The controller of a company: you move cash between its treasury and its "
        "departments, once a month.",
        you_want="The highest net worth of the whole company.",
        it_costs="Cash that lies idle in one department is missing in another. A department with "
        f"unpaid costs at {params.grace} month ends in a row is closed.",
        it_ends=f"After {params.months} months, or when the treasury opens a month below $0.",
        score="Dollars: the net worth of the company at the end.",
    )
