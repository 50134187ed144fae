"""Score, metrics and series of an episode, read from the group's book."""

from typing import Any

from desim.composition.joined import joined_metrics
from models.enterprise.state import Company, dollars

__all__ = ["metrics", "score", "series"]


def score(company: Company) -> float:
    """Return the group's net worth at the end, dollars."""
    return dollars(company.worths[-1])


def metrics(company: Company) -> dict[str, Any]:
    """Return the group's figures, dollars, and those of its parts under their names."""
    return {
        "months": company.month,
        "cash": dollars(company.cash[-1]),
        "lowest_cash": dollars(min(company.cash)),
        **{f"{name}.owed_to_treasury": dollars(company.owed(name)) for name in company.limits},
        **joined_metrics(company.group),
    }


def series(company: Company) -> dict[str, list[float]]:
    """Return net worth and cash of the group, dollars, at the start and at every month's end."""
    return {
        "net_worth": list(map(dollars, company.worths)),
        "cash": list(map(dollars, company.cash)),
    }
