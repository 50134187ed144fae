"""Score and metrics of an episode, at the last step: reference SPEC section 7.

Accumulated figures leave out the last step, as in the published code, or include it, as in the
paper (`sums`). Utilisation counts effort or busy consultants (`utilisation`).
"""

from collections.abc import Mapping
from math import fsum
from typing import Any

from desim.show.column import SHARE, Column, directed
from models.edt import series
from models.edt.company.controlling import CASH, COSTS, REVENUE
from models.edt.company.firm import Firm
from models.edt.series import ratio


def score(firm: Firm) -> float:
    """Return the accumulated earnings in money."""
    sums = _sums(firm)
    return firm.controlling.book.money(-sums[REVENUE] - sum(sums[a] for a in COSTS))


_SHARES = (
    *("mean_step_utilization", "overall_avg_utilization", "overall_profit_margin"),
    *("profit_margin", "revenue_risk", "utilization"),
)
#: Units and directions of metrics; the scenario names no currency.
METRIC_COLUMNS: Mapping[str, Column] = directed(
    dict.fromkeys(_SHARES, SHARE),
    higher=(
        *("accumulated_earnings", "accumulated_revenue", "cash", "earnings", "revenue"),
        *("cash_flow", "mean_step_utilization", "overall_avg_utilization", "utilization"),
        *("overall_profit_margin", "profit_margin"),
    ),
    lower=("accumulated_expenses", "expenses", "revenue_risk"),
)


def metrics(firm: Firm) -> dict[str, Any]:
    """Return the figures of the last step and the accumulated ones.

    `mean_step_utilization` is the mean over steps of the utilisation of each, the figure of the
    paper's tables; `overall_avg_utilization` is the sum of its numerators over that of capacity.
    """
    book, sums = firm.controlling.book, _sums(firm)
    revenue, expenses = -sums[REVENUE], sum(sums[account] for account in COSTS)
    # A firm that was closed before its first step has no figures; its use is 0.
    used, capacity = series.used(firm) or [0], firm.controlling.capacity() or [0]
    counted = len(used) - (firm.params.sums == "before_last")
    return {
        "accumulated_earnings": book.money(revenue - expenses),
        "accumulated_revenue": book.money(revenue),
        "accumulated_expenses": book.money(expenses),
        "cash": book.money(sums[CASH]),
        "mean_step_utilization": fsum(map(ratio, used, capacity)) / len(used),
        "overall_avg_utilization": ratio(sum(used[:counted]), sum(capacity[:counted])),
        "overall_profit_margin": ratio(revenue - expenses, revenue),
        **_last_step(firm),
        "utilization": ratio(used[-1], capacity[-1]),
        "consultants": sum(e.hired for e in firm.employees),
        "projects_at_end": len(firm.engagements),
    }


def _sums(firm: Firm) -> Mapping[str, int]:
    """Return the balances that are the accumulated figures."""
    controlling = firm.controlling
    if firm.params.sums == "all_steps":
        return controlling.book.held
    return controlling.before_last


def _last_step(firm: Firm) -> dict[str, float]:
    """Return the flows of the last step."""
    controlling = firm.controlling
    book, before = controlling.book, controlling.before_last
    billed = before[REVENUE] - book.balance(REVENUE)
    spent = sum(book.balance(account) - before[account] for account in COSTS)
    return {
        "revenue": book.money(billed),
        "expenses": book.money(spent),
        "earnings": book.money(billed - spent),
        "cash_flow": book.money(book.balance(CASH) - before[CASH]),
        "profit_margin": ratio(billed - spent, billed),
        "revenue_risk": ratio(controlling.at_risk(controlling.booked), book.money(billed)),
        "consultant_demand": (controlling.demand() or [0])[-1],
    }
