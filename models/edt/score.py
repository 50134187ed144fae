"""What an episode is scored by: reference SPEC section 7, at the last step."""

from math import fsum
from typing import TYPE_CHECKING, Any

from models.edt.accounts import COSTS

if TYPE_CHECKING:
    from models.edt.firm import Firm

__all__ = ["metrics", "score"]


def score(firm: "Firm") -> float:
    """Accumulated earnings: the sum over all steps but the last, in money."""
    before = firm.accounts.before_last
    return firm.accounts.book.money(-before["revenue"] - sum(before[a] for a in COSTS))


def metrics(firm: "Firm") -> dict[str, Any]:
    """Return the figures of the last step; stocks are read before its flow enters.

    `mean_step_utilization` is the mean over steps of effort over capacity, the paper's utilisation;
    `overall_avg_utilization` is the sum of effort over the sum of capacity before the last step.
    """
    accounts = firm.accounts
    book, before = accounts.book, accounts.before_last
    revenue, expenses = -before["revenue"], sum(before[account] for account in COSTS)
    effort, capacity = accounts.effort(), accounts.capacity()
    return {
        "accumulated_earnings": book.money(revenue - expenses),
        "accumulated_revenue": book.money(revenue),
        "accumulated_expenses": book.money(expenses),
        "cash": book.money(before["cash"]),
        "mean_step_utilization": fsum(map(ratio, effort, capacity)) / len(effort),
        "overall_avg_utilization": ratio(sum(effort[:-1]), sum(capacity[:-1])),
        "overall_profit_margin": ratio(revenue - expenses, revenue),
        **_last_step(firm),
        "utilization": ratio(effort[-1], capacity[-1]),
        "consultants": sum(e.hired for e in firm.employees),
        "projects_at_end": len(firm.engagements),
    }


def _last_step(firm: "Firm") -> dict[str, float]:
    """Return the flows of the last step."""
    accounts = firm.accounts
    book, before = accounts.book, accounts.before_last
    billed = before["revenue"] - book.balance("revenue")
    spent = sum(book.balance(account) - before[account] for account in COSTS)
    return {
        "revenue": book.money(billed),
        "expenses": book.money(spent),
        "earnings": book.money(billed - spent),
        "cash_flow": book.money(book.balance("cash") - before["cash"]),
        "profit_margin": ratio(billed - spent, billed),
        "revenue_risk": ratio(accounts.at_risk()[-1], book.money(billed)),
        "consultant_demand": accounts.demand()[-1],
    }


def ratio(part: float, whole: float) -> float:
    """Return a share; 0 of nothing."""
    return float(part / whole) if whole else 0.0
