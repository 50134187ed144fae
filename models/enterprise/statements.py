"""The consolidated statements, a column for each year."""

from typing import Any

from ledgers.standard_reports import by_period
from models.enterprise.accounts import reports
from models.enterprise.state import Company

__all__ = ["statements"]

_YEAR = 12


def statements(company: Company) -> dict[str, list[dict[str, Any]]]:
    """Return the consolidated income statement, balance sheet and cash flow by year, dollars."""
    years = [(m + 1, min(m + _YEAR, company.month)) for m in range(0, company.month, _YEAR)]
    columns = {f"month {last}": (first, last) for first, last in years}
    return by_period(reports(tuple(company.group.parts)), company.book, columns, 0)
