"""Score, metrics, series and consolidated statements by year, read from the group's book."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from desim.core.calendar import month_start
from desim.show.column import DOLLARS, Column, directed
from models.enterprise.accounts import reports
from models.enterprise.params import CONTROLLER, DEPARTMENTS
from models.enterprise.state import Company, dollars


def score(company: Company) -> float:
    """Return the group's net worth at the end, dollars."""
    return dollars(company.worths[-1])


_OWED = tuple(f"{name}.owed_to_treasury" for name in DEPARTMENTS)
_DOLLARS = ("score", "cash", "lowest_cash", *_OWED)
#: Units and directions of score and metrics of the group itself.
METRIC_COLUMNS: Mapping[str, Column] = directed(
    dict.fromkeys(_DOLLARS, DOLLARS), higher=("score", "cash", "lowest_cash"), lower=_OWED
)


def metrics(company: Company) -> dict[str, Any]:
    """Return the group's figures, dollars."""
    return {
        "months": company.month,
        "cash": dollars(company.cash[-1]),
        "lowest_cash": dollars(min(company.cash)),
        **{f"{name}.owed_to_treasury": dollars(company.owed(name)) for name in company.limits},
    }


def series(company: Company) -> dict[str, Sequence[float]]:
    """Return net worth and cash of the group, dollars, at the start and at every month's end."""
    each = {"net_worth": company.worths, "cash": company.cash}
    return {name: [*map(dollars, cents)] for name, cents in each.items()}


#: Unit and label of the series of the group itself.
COLUMNS = dict.fromkeys(("net_worth", "cash"), Column("dollars", role=CONTROLLER, period="month"))


def ticks(company: Company) -> list[int]:
    """Return the ticks of the start and of every month's end."""
    clock = company.group.clock
    days = [month_start(clock.start.date(), month) for month in range(len(company.worths))]
    return [clock.last_tick(dt.datetime.combine(day, dt.time())) for day in days]


_YEAR = 12


def statements(company: Company) -> dict[str, list[dict[str, Any]]]:
    """Return the consolidated income statement, balance sheet and cash flow by year, dollars."""
    years = [(m + 1, min(m + _YEAR, company.month)) for m in range(0, company.month, _YEAR)]
    columns = {f"month {last}": (first, last) for first, last in years}
    return reports(tuple(company.group.parts)).by_period(company.book, columns, 0)
