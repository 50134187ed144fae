"""An episode step by step: the reported series, states, staff, assignments."""

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from models.edt.accounts import COSTS, UNIT
from models.edt.score import ratio
from models.edt.state import State, at_step

if TYPE_CHECKING:
    from models.edt.firm import Firm
    from models.edt.state import Engagement

__all__ = ["assignments", "remaining", "series", "staffing", "states"]

Series = list[float]


def series(firm: "Firm") -> dict[str, Series]:
    """Return the series of reference SPEC section 7 by name, one figure a booked step.

    Money is read from the ledger; accumulated figures are stocks before the flow of the step.
    """
    accounts = firm.accounts
    book = accounts.book
    flow = {a: _flow(firm, a) for a in ("revenue", "cash", *COSTS)}
    revenue = [-units for units in flow["revenue"]]
    expenses = [sum(step) for step in zip(*(flow[a] for a in COSTS), strict=True)]
    earnings = [r - e for r, e in zip(revenue, expenses, strict=True)]
    money = {
        "revenue": revenue,
        "expenses": expenses,
        "earnings": earnings,
        "accumulated_revenue": _stock(revenue),
        "accumulated_expenses": _stock(expenses),
        "accumulated_earnings": _stock(earnings),
        "cash": _stock(flow["cash"]),
        "cash_flow": flow["cash"],
    }
    told = {name: [book.money(units) for units in values] for name, values in money.items()}
    effort, capacity = accounts.effort(), accounts.capacity()
    return {
        **told,
        "effort": [units / UNIT for units in effort],
        "capacity": [units / UNIT for units in capacity],
        "utilization": [*map(ratio, effort, capacity)],
        "overall_avg_utilization": [*map(ratio, _stock(effort), _stock(capacity))],
        "revenue_risk": [*map(ratio, accounts.at_risk(), told["revenue"])],
        "consultant_demand": [*map(float, accounts.demand())],
        "profit_margin": [*map(ratio, earnings, revenue)],
        "overall_profit_margin": [*map(ratio, _stock(earnings), _stock(revenue))],
    }


def _flow(firm: "Firm", account: str) -> list[int]:
    """Return what an account took in, step by step, from the ledger."""
    book, last = firm.accounts.book, firm.accounts.booked
    balances = [book.balance(account, step) for step in range(last + 1)]
    return [after - before for before, after in pairwise(balances)]


def _stock(flow: list[int]) -> list[int]:
    """Return the sums before each step."""
    return [0, *accumulate(flow)][:-1]


def states(firm: "Firm") -> list[str]:
    """Return for every project a letter a step, `-` before it exists."""
    return [
        "".join(
            state.value if isinstance(state, State) else "-"
            for state in at_step(project.states, firm.steps)
        )
        for project in firm.engagements
    ]


def staffing(firm: "Firm") -> list[list[int]]:
    """Return for every project how many consultants it has had, step by step."""
    return [at_step(project.staffing, firm.steps, 0) for project in firm.engagements]


def remaining(firm: "Firm") -> list[list[float]]:
    """Return for every project the effort left after its own turn, step by step."""
    return [at_step(_left(project), firm.steps, 0.0) for project in firm.engagements]


def _left(project: "Engagement") -> list[tuple[int, float]]:
    """Return step and effort left from then on."""
    return [
        (first + at, before - delivered * (at + 1))
        for first, rounds, before, delivered in project.rounds
        for at in range(rounds)
    ]


def assignments(firm: "Firm") -> list[list[int | None]]:
    """Return for every consultant the project they are on, step by step; none when available."""
    return [at_step(who.log, firm.steps) for who in firm.employees]
