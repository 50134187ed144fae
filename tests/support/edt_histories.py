"""What the traces of the Enterprise Digital Twin hold, read from a firm: series and histories."""

from itertools import accumulate, pairwise

from models.edt.agents import Engagement, Phase, at_step
from models.edt.controlling import (
    AT_RISK,
    CAPACITY,
    CASH,
    COSTS,
    DEMAND,
    EFFORT,
    REVENUE,
    UNIT,
)
from models.edt.firm import Firm


def series(firm: Firm) -> dict[str, list[float]]:
    """Return the series of reference SPEC section 7 by name, one figure for each posted step.

    Money is read from the ledger; accumulated figures are stocks before the flow of the step.
    """
    controlling = firm.controlling
    book, steps = controlling.book, range(controlling.booked + 1)
    balances = {a: [book.balance(a, step) for step in steps] for a in (REVENUE, CASH, *COSTS)}
    flow = {a: [after - before for before, after in pairwise(b)] for a, b in balances.items()}
    revenue = [-amount for amount in flow[REVENUE]]
    expenses = [sum(step) for step in zip(*(flow[a] for a in COSTS), strict=True)]
    earnings = [r - e for r, e in zip(revenue, expenses, strict=True)]
    money = {
        "revenue": revenue,
        "expenses": expenses,
        "earnings": earnings,
        "accumulated_revenue": _stock(revenue),
        "accumulated_expenses": _stock(expenses),
        "accumulated_earnings": _stock(earnings),
        "cash": balances[CASH][:-1],
        "cash_flow": flow[CASH],
    }
    in_money = {name: [book.money(amount) for amount in values] for name, values in money.items()}
    effort, capacity = controlling.posted(EFFORT), controlling.posted(CAPACITY)
    at_risk = [amount / UNIT for amount in controlling.posted(AT_RISK)]
    return {
        **in_money,
        "effort": [amount / UNIT for amount in effort],
        "capacity": [amount / UNIT for amount in capacity],
        "utilization": [*map(_ratio, effort, capacity)],
        "overall_avg_utilization": [*map(_ratio, _stock(effort), _stock(capacity))],
        "revenue_risk": [*map(_ratio, at_risk, in_money["revenue"])],
        "consultant_demand": [*map(float, controlling.posted(DEMAND))],
        "profit_margin": [*map(_ratio, earnings, revenue)],
        "overall_profit_margin": [*map(_ratio, _stock(earnings), _stock(revenue))],
    }


def _stock(flow: list[int]) -> list[int]:
    """Return the sums before each step."""
    return [0, *accumulate(flow)][:-1]


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0


def states(firm: Firm) -> list[str]:
    """Return for every project one letter for each step, `-` before it exists."""
    return [
        "".join(
            phase.value if isinstance(phase, Phase) else "-"
            for phase in at_step(project.phases, firm.steps)
        )
        for project in firm.engagements
    ]


def staffing(firm: Firm) -> list[list[int]]:
    """Return for every project the number of its consultants in each step."""
    return [at_step(project.staffing, firm.steps, 0) for project in firm.engagements]


def remaining(firm: Firm) -> list[list[float]]:
    """Return for every project the effort left after its own turn in each step."""
    return [at_step(_left(project), firm.steps, 0.0) for project in firm.engagements]


def _left(project: Engagement) -> list[tuple[int, float]]:
    """Return pairs of a step and the effort left from then on."""
    return [
        (first + at, before - delivered * (at + 1))
        for first, rounds, before, delivered in project.rounds
        for at in range(rounds)
    ]


def assignments(firm: Firm) -> list[list[int | None]]:
    """Return for every consultant the project they are on in each step; None while available."""
    return [at_step(who.log, firm.steps) for who in firm.employees]
