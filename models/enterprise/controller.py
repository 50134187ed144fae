"""The controller's seat: commands, the position of the group, options, and the rules in words."""

from collections.abc import Mapping
from typing import ClassVar

from attrs import evolve, field, frozen
from attrs.validators import ge, in_, le, optional

from desim import Option
from desim.core.reported import SeatBriefing
from desim.schema.validators import finite
from desim.show.column import DOLLARS, Column
from models.enterprise.params import DEPARTMENTS, EnterpriseParams

#: The largest amount of a command, dollars.
LARGEST = 1e12

_name = in_(DEPARTMENTS)
_money = (finite, ge(0), le(LARGEST))


@frozen
class SetLimits:
    """Set between which amounts the cash pool keeps a department's cash from now on.

    Attributes:
        department: Whose.
        floor: Dollars; below it the pool pays from the treasury what is missing.
        ceiling: Dollars; above it the pool moves the rest to the treasury. None: never.
    """

    columns: ClassVar[Mapping[str, Column]] = {"floor": DOLLARS, "ceiling": DOLLARS}

    department: str = field(validator=_name)
    floor: float = field(validator=_money)
    ceiling: float | None = field(default=None, validator=optional(_money))


@frozen
class Transfer:
    """Pay cash now from the treasury to a department, or back.

    Attributes:
        department: Which.
        amount: Dollars; above 0 to the department, below 0 to the treasury.
    """

    columns: ClassVar[Mapping[str, Column]] = {"amount": DOLLARS}

    department: str = field(validator=_name)
    amount: float = field(validator=(finite, ge(-LARGEST), le(LARGEST)))


@frozen
class Continue:
    """Let the pool balance the departments, and let the next month begin."""


Command = SetLimits | Transfer | Continue


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
        "month": Column(kind="tick", of=("months",)),
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


#: Months of the last month's outflow that a suggested floor covers.
_MONTHS = 3


def options(seen: GroupPosition) -> list[Option]:
    """Return the commands: go on, or a floor for each department that spends more than it earns.

    The value is in dollars: the cash that the floor would bring, none for going on.
    """
    floors = [
        Option(_floor(each, wanted), min(missing, seen.treasury_cash), "for months of losses")
        for each in seen.departments
        if (wanted := round(-_MONTHS * each.cash_change, 2)) > 0 and each.status == "open"
        if (missing := wanted - max(each.floor, each.cash)) > 0
    ]
    return [Option(Continue(), 0.0, "let the pool balance"), *floors]


def described(params: EnterpriseParams) -> Mapping[str, Mapping[str, Column]]:
    """Return the columns of amounts, usual up to ten times the treasury's opening cash."""
    most = 10 * max(params.treasury.opening_cash, 1)
    limit = evolve(DOLLARS, usual=(0, most))
    return {
        "set_limits": {"floor": limit, "ceiling": limit},
        "transfer": {"amount": evolve(DOLLARS, usual=(-most, most))},
    }


def _floor(each: Department, wanted: float) -> SetLimits:
    ceiling = None if each.ceiling is None else max(each.ceiling, wanted)
    return SetLimits(each.name, wanted, ceiling)


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
    """Return the rules; README and pages are cut from them."""
    return _RULES.format(months=params.months, reserve=params.reserve, grace=params.grace)


def briefing(params: EnterpriseParams) -> SeatBriefing:
    """Return the rules in five answers."""
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
