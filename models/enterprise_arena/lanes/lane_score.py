"""Score and metrics of all lanes; see `score.py`."""

from typing import Any

import numpy as np

from desim.lanes.lane_columns import Array
from models.enterprise_arena.lanes.decimals import rounded
from models.enterprise_arena.lanes.lane_draws import Luck
from models.enterprise_arena.lanes.lane_state import SURVIVING, LaneState


def score(luck: Luck, state: LaneState) -> Array:
    """Return the value or, by the parameter `score_of`, the value added, dollars."""
    of = value_added if luck.params.score_of == "value_added" else value
    return of(luck, state)


def value(luck: Luck, state: LaneState) -> Array:
    """Return the value of each company less the charge for tools, dollars; 0 if bankrupt."""
    params = luck.params
    worth = params.valuation_multiple * (trailing_revenue(luck, state) / 100)
    worth = worth + _closing(state) / 100
    worth = worth - params.tool_charge * state.tallies.tool_calls
    return np.where(state.ended == SURVIVING, worth, 0.0)


def value_added(luck: Luck, state: LaneState) -> Array:
    """Return the value less the equity raised and the debt owed, dollars."""
    owed = state.money.debt / 100
    return rounded(value(luck, state) - state.tallies.equity_raised / 100 - owed, 2)


def trailing_revenue(luck: Luck, state: LaneState) -> Array:
    """Return the revenue of the last `trailing_months` closed, or of all if fewer, cents."""
    earned, lanes = luck.months.earned, np.arange(len(state.month))
    first = np.maximum(0, state.month - luck.params.trailing_months)
    return earned[state.month, lanes] - earned[first, lanes]


def metrics(luck: Luck, state: LaneState) -> dict[str, Any]:
    """Return the metrics of every lane, as `score.metrics`."""
    tallies, money, closed = state.tallies, state.money, state.month
    months = np.maximum(1, closed)
    survived = state.ended == SURVIVING
    worth, owed, cash = value(luck, state), money.debt / 100, _closing(state)
    successes = tallies.equity + tallies.debt
    accepted = (tallies.requests - tallies.refused).tolist()
    raised = tallies.equity_raised + tallies.debt_raised
    pairs = zip(successes.tolist(), accepted, strict=True)
    columns = {
        "value": worth,
        "value_added": value_added(luck, state),
        "score_net_of_debt": np.where(survived, worth - owed, 0.0),
        "end_debt": owed,
        "survived": survived,
        "months": closed - 1,
        "equity_raised": tallies.equity_raised / 100,
        "debt_raised": tallies.debt_raised / 100,
        "total_raised": raised / 100,
        "success_rate": [won / count if count else None for won, count in pairs],
        "peak_cash": np.maximum(money.peak, cash) / 100,
        "end_cash": cash / 100,
        "low_cash": np.minimum(money.low, cash) / 100,
        "tool_calls": tallies.tool_calls,
        "tool_calls_per_month": tallies.tool_calls / months,
        "requests": tallies.requests,
        "requests_refused": tallies.refused,
        "successes": successes,
        "equity_rounds": tallies.equity,
        "debts": tallies.debt,
        "request_share": (tallies.requests - tallies.free_refusals) / months,
        "successful_request_share": successes / months,
        "closings": tallies.closings,
        "closing_share": tallies.closings / months,
        "passes": tallies.passes,
        "pass_share": tallies.passes / months,
        "trailing_revenue": trailing_revenue(luck, state) / 100,
    }
    return {
        name: column if isinstance(column, list) else column.tolist()
        for name, column in columns.items()
    }


def _closing(state: LaneState) -> Array:
    """Return the cash at the end of the last month closed, cents; 0 before the first."""
    return np.where(state.month > 0, state.money.closing, 0.0)
