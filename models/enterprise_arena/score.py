"""Score and metrics of an episode: the columns of the paper's Table 2 (SPEC section 13).

The published score counts money raised as value: a lender that raises equity whenever it may scores
best, whatever it does with it. `value_added` takes off what investors and creditors have put in.
"""

from collections.abc import Mapping
from typing import Any

from desim.show.column import DOLLARS, SHARE, Column, directed
from models.enterprise_arena.accounting.accounts import CASH, dollars
from models.enterprise_arena.state import SURVIVED, Lender


def score(lender: Lender) -> float:
    """Return the value or, by the parameter `score_of`, the value added, dollars."""
    return value_added(lender) if lender.params.score_of == "value_added" else value(lender)


def value(lender: Lender) -> float:
    """Return the value of the company less the charge for tools, dollars; 0 if bankrupt.

    valuation_multiple x trailing revenue + closing cash - tool_charge x calls (SPEC section 13).
    """
    if lender.world.ended != SURVIVED:
        return 0.0
    params = lender.params
    worth = params.valuation_multiple * dollars(trailing_revenue(lender))
    worth += dollars(lender.closing_cash)
    return worth - params.tool_charge * lender.tool_calls


def value_added(lender: Lender) -> float:
    """Return the value less the equity raised and the debt owed, dollars.

    A bankrupt lender is worth 0, so it has lost what was put in.
    """
    # To the cent, as the difference of large sums carries their rounding.
    return round(value(lender) - dollars(lender.raised["equity"]) - dollars(lender.debt), 2)


def score_net_of_debt(lender: Lender) -> float:
    """Return the value less the notes still owed, dollars, which may be negative; 0 if bankrupt.

    The published score counts borrowed cash in full, so a loan in the last months raises it by the
    amount drawn. Here the draw and the debt cancel.
    """
    survived = lender.world.ended == SURVIVED
    return value(lender) - dollars(lender.debt) if survived else 0.0


_DOLLARS = (
    *("score", "value", "value_added", "score_net_of_debt", "end_debt", "equity_raised"),
    *("debt_raised", "total_raised", "peak_cash", "end_cash", "low_cash", "trailing_revenue"),
)
_SHARES = (
    *("survived", "success_rate", "request_share", "successful_request_share"),
    *("closing_share", "pass_share"),
)
#: Units and directions of score and metrics; money raised is neither good nor bad by itself.
METRIC_COLUMNS: Mapping[str, Column] = directed(
    {**dict.fromkeys(_DOLLARS, DOLLARS), **dict.fromkeys(_SHARES, SHARE)},
    higher=(
        *("score", "value", "value_added", "score_net_of_debt", "survived", "success_rate"),
        *("end_cash", "low_cash", "peak_cash", "trailing_revenue"),
    ),
    lower=("end_debt", "requests_refused"),
)


def metrics(lender: Lender) -> dict[str, Any]:
    """Return the columns of the paper's Table 2; money in dollars, shares from 0 to 1.

    `months` is the index of the last month with an action. A request is any `fund_raising_request`;
    refused ones count as actions, unless they did not use the month, and not in `success_rate`,
    which is None without a request. `value` is the published score; it, `value_added`,
    `score_net_of_debt` and `end_debt` are in no table of the paper.
    """
    months = lender.months_closed
    divisor = max(1, months)  # before the first closing all counts are 0
    counts, raised = lender.counts, lender.raised
    successes = counts["equity"] + counts["debt"]
    accepted = counts["requests"] - counts["refused"]
    acted = counts["requests"] - counts["free_refusals"]
    return {
        "value": value(lender),
        "value_added": value_added(lender),
        "score_net_of_debt": score_net_of_debt(lender),
        "end_debt": dollars(lender.debt),
        "survived": lender.world.ended == SURVIVED,
        "months": months - 1,
        "equity_raised": dollars(raised["equity"]),
        "debt_raised": dollars(raised["debt"]),
        "total_raised": dollars(raised.total()),
        "success_rate": successes / accepted if accepted else None,
        "peak_cash": dollars(max(lender.peak, lender.closing_cash)),
        "end_cash": dollars(lender.closing_cash),
        "low_cash": dollars(min(lender.low, lender.closing_cash)),
        "tool_calls": lender.tool_calls,
        "tool_calls_per_month": lender.tool_calls / divisor,
        "requests": counts["requests"],
        "requests_refused": counts["refused"],
        "successes": successes,
        "equity_rounds": counts["equity"],
        "debts": counts["debt"],
        "request_share": acted / divisor,
        "successful_request_share": successes / divisor,
        "closings": counts["closings"],
        "closing_share": counts["closings"] / divisor,
        "passes": counts["passes"],
        "pass_share": counts["passes"] / divisor,
        "trailing_revenue": dollars(trailing_revenue(lender)),
    }


def trailing_revenue(lender: Lender, at: int | None = None) -> int:
    """Return the revenue of the `trailing_months` up to month *at*, cents.

    Without *at*, up to the last month closed. Before that many months have passed, of all of them.
    """
    last = lender.months_closed - 1 if at is None else at
    first = max(0, last - lender.params.trailing_months + 1)
    return sum(lender.revenue(month) for month in range(first, last + 1))


def curve(lender: Lender) -> list[float]:
    """Return the running score at the end of every month closed, dollars; for plots only.

    Before `trailing_months` have passed, revenue is scaled up to that many months.
    """
    return [_running(lender, month) for month in range(lender.months_closed)]


def _running(lender: Lender, month: int) -> float:
    params = lender.params
    trailing = params.trailing_months
    scale = trailing / min(trailing, month + 1)
    revenue = dollars(trailing_revenue(lender, month)) * scale
    cash = dollars(lender.books.book.balance(CASH, at=month))
    charged = params.tool_charge * sum(lender.calls[: month + 1])
    return params.valuation_multiple * revenue + cash - charged
