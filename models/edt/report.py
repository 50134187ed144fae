"""What is reported of an episode: score and metrics of the last step, and the series by step.

Names and definitions: reference SPEC section 7. Accumulated figures leave out the last step, as in
the published code, or include it, as in the paper (`sums`). Utilisation counts effort or busy
consultants (`utilisation`).
"""

from collections.abc import Iterator, Mapping
from itertools import accumulate, pairwise
from math import fsum
from typing import Any

from desim.core.reported import Span
from desim.show.column import SHARE, Column, directed
from models.edt.agents import Phase, at_step
from models.edt.controlling import (
    AT_RISK,
    CAPACITY,
    CASH,
    COSTS,
    DEMAND,
    EFFORT,
    REVENUE,
    UNIT,
    units,
)
from models.edt.firm import Firm

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

#: Unit and label of the series of `by_step`.
COLUMNS = {
    name: Column(unit, label, period="step")
    for name, unit, label in (
        ("earnings", "money", ""),
        ("accumulated_earnings", "money", ""),
        ("cash", "money", "Cash in the bank"),
        ("staff", "consultants", "Staff on the payroll"),
        ("busy", "consultants", "Consultants on a project"),
        ("projects_under_way", "projects", ""),
        ("utilisation", "share of capacity", ""),
    )
}


def score(firm: Firm) -> float:
    """Return the accumulated earnings in money."""
    firm.settle()
    return firm.controlling.book.money(-sum(_sums(firm)[account] for account in (REVENUE, *COSTS)))


def metrics(firm: Firm) -> dict[str, Any]:
    """Return the figures of the last step and the accumulated ones.

    `mean_step_utilization` is the mean over steps of the utilisation of each, the figure of the
    paper's tables; `overall_avg_utilization` is the sum of its numerators over that of capacity.
    """
    firm.settle()
    controlling, sums = firm.controlling, _sums(firm)
    book, before, after = controlling.book, controlling.before_last, controlling.book.held
    revenue, expenses = -sums[REVENUE], sum(sums[account] for account in COSTS)
    billed = before[REVENUE] - after[REVENUE]
    spent = sum(after[account] - before[account] for account in COSTS)
    # A firm that was closed before its first step has no figures; its use is 0.
    used, capacity = _used(firm) or [0], controlling.posted(CAPACITY) or [0]
    counted = len(used) - (firm.params.sums == "before_last")
    return {
        "accumulated_earnings": book.money(revenue - expenses),
        "accumulated_revenue": book.money(revenue),
        "accumulated_expenses": book.money(expenses),
        "cash": book.money(sums[CASH]),
        "mean_step_utilization": fsum(map(_ratio, used, capacity)) / len(used),
        "overall_avg_utilization": _ratio(sum(used[:counted]), sum(capacity[:counted])),
        "overall_profit_margin": _ratio(revenue - expenses, revenue),
        "revenue": book.money(billed),
        "expenses": book.money(spent),
        "earnings": book.money(billed - spent),
        "cash_flow": book.money(after[CASH] - before[CASH]),
        "profit_margin": _ratio(billed - spent, billed),
        "revenue_risk": _ratio((controlling.posted(AT_RISK) or [0])[-1] / UNIT, book.money(billed)),
        "consultant_demand": (controlling.posted(DEMAND) or [0])[-1],
        "utilization": _ratio(used[-1], capacity[-1]),
        "consultants": sum(e.hired for e in firm.employees),
        "projects_at_end": len(firm.engagements),
    }


def by_step(firm: Firm) -> dict[str, list[float]]:
    """Return the series of an episode, one number a step: README, "Series"."""
    firm.settle()
    book, time = firm.controlling.book, units(firm.scenario.dt)
    capacity = firm.controlling.posted(CAPACITY)
    flows = [_flow(firm, account) for account in (REVENUE, *COSTS)]
    earned = [-sum(change) for change in zip(*flows, strict=True)]
    return {
        "earnings": [book.money(amount) for amount in earned],
        "accumulated_earnings": [book.money(amount) for amount in accumulate(earned)],
        "cash": [book.money(amount) for amount in _balances(firm, CASH)[1:]],
        "staff": [float(amount // time) for amount in capacity],
        "busy": [float(count) for count in _busy(firm)],
        "projects_under_way": [float(count) for count in _under_way(firm)],
        "utilisation": [*map(_ratio, _used(firm), capacity)],
    }


def projects(firm: Firm) -> Iterator[Span]:
    """Yield each project from the step in which it was listed, with its phases."""
    for project in firm.engagements:
        phases = [(step, phase.label) for step, phase in project.phases]
        end = phases[-1][0] if project.phase is Phase.COMPLETED else None
        yield Span("project", project.name, phases[0][0], end, tuple(phases))


def _sums(firm: Firm) -> Mapping[str, int]:
    """Return the balances that are the accumulated figures."""
    controlling = firm.controlling
    return controlling.book.held if firm.params.sums == "all_steps" else controlling.before_last


def _used(firm: Firm) -> list[int]:
    """Return the consultant time used by posted step, by the parameter `utilisation`."""
    if firm.params.utilisation == "effort":
        return firm.controlling.posted(EFFORT)
    time = units(firm.scenario.dt)
    return [count * time for count in _busy(firm)]


def _busy(firm: Firm) -> list[int]:
    """Return the number of consultants on a project in each posted step."""
    change = [0] * (firm.steps + 2)
    for who in firm.employees:
        on = 0
        # The last entry of a step counts.
        for step, project in dict(who.log).items():
            now = int(project is not None)
            change[min(step, firm.steps + 1)] += now - on
            on = now
    return [*accumulate(change)][1 : firm.controlling.booked + 1]


def _under_way(firm: Firm) -> list[int]:
    """Return the number of projects that have started and are not completed, by posted step."""
    lines = [at_step(project.phases, firm.controlling.booked) for project in firm.engagements]
    return [
        sum(phase is not None and phase.active for phase in step)
        for step in zip(*lines, strict=True)
    ] or [0] * firm.controlling.booked


def _balances(firm: Firm, account: str) -> list[int]:
    """Return an account's balance at tick 0 and behind each posted step."""
    book, last = firm.controlling.book, firm.controlling.booked
    return [book.balance(account, step) for step in range(last + 1)]


def _flow(firm: Firm, account: str) -> list[int]:
    """Return the change of an account's balance in each posted step."""
    return [after - before for before, after in pairwise(_balances(firm, account))]


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0
