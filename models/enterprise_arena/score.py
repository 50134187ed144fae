"""Score and metrics of an episode: the columns of the paper's Table 2 (SPEC section 13)."""

from typing import Any

from models.enterprise_arena.company import Company, dollars
from models.enterprise_arena.macro import YEAR
from models.enterprise_arena.processes import SURVIVED

__all__ = ["curve", "metrics", "score", "trailing_revenue"]


def score(company: Company) -> float:
    """Return what the company is worth less what information cost, dollars; 0 if bankrupt."""
    if company.world.ended != SURVIVED:
        return 0.0
    game = company.game
    worth = game.valuation_multiple * dollars(trailing_revenue(company)) + dollars(company.cash)
    return worth - game.tool_charge * company.tool_calls


def metrics(company: Company) -> dict[str, Any]:
    """Return the columns of the paper's Table 2; money in dollars, shares from 0 to 1.

    `months` is the index of the last month acted in. A request is any `fund_raising_request`;
    refused ones count among actions and not in `success_rate`, which is None without a request.
    """
    months = company.months_closed
    counts, raised = company.counts, company.raised
    successes = counts["equity"] + counts["debt"]
    accepted = counts["requests"] - counts["refused"]
    return {
        "survived": company.world.ended == SURVIVED,
        "months": months - 1,
        "equity_raised": dollars(raised["equity"]),
        "debt_raised": dollars(raised["debt"]),
        "total_raised": dollars(raised.total()),
        "success_rate": successes / accepted if accepted else None,
        "peak_cash": dollars(max(company.peak, company.closing_cash)),
        "end_cash": dollars(company.closing_cash),
        "low_cash": dollars(min(company.low, company.closing_cash)),
        "tool_calls": company.tool_calls,
        "tool_calls_per_month": company.tool_calls / months,
        "requests": counts["requests"],
        "requests_refused": counts["refused"],
        "successes": successes,
        "equity_rounds": counts["equity"],
        "debts": counts["debt"],
        "request_share": counts["requests"] / months,
        "successful_request_share": successes / months,
        "closing_share": counts["closings"] / months,
        "passes": counts["passes"],
        "pass_share": counts["passes"] / months,
        "trailing_revenue": dollars(trailing_revenue(company)),
    }


def trailing_revenue(company: Company, at: int | None = None) -> int:
    """Return the revenue of the last months up to month *at*, cents, from the books."""
    last = company.months_closed - 1 if at is None else at
    first = max(0, last - company.game.trailing_months + 1)
    return sum(_revenue(company, month) for month in range(first, last + 1))


def _revenue(company: Company, month: int) -> int:
    """Return a month's revenue: what the year to date gained, which January begins anew."""
    to_date = company.revenue_to_date
    return to_date[month] - (to_date[month - 1] if month % YEAR else 0)


def curve(company: Company) -> list[float]:
    """Return the running score of every month closed, dollars; for curves only.

    Where fewer months have passed than trail, their revenue is annualised.
    """
    return [_running(company, month) for month in range(company.months_closed)]


def _running(company: Company, month: int) -> float:
    game = company.game
    trailing = game.trailing_months
    scale = trailing / min(trailing, month + 1)
    revenue = dollars(trailing_revenue(company, month)) * scale
    cash = dollars(company.books.book.balance("1000", at=month))
    charged = game.tool_charge * sum(company.calls[: month + 1])
    return game.valuation_multiple * revenue + cash - charged
