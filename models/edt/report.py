"""The report of an episode: score and metrics of the last step, and the series by step.

Names and definitions: reference SPEC section 7. Accumulated figures leave out the last step, as in
the published code, or include it, as in the paper (`sums`). Utilisation counts effort or busy
consultants (`utilisation`).
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate
from math import fsum
from typing import Any

from desim.show.column import SHARE, Column, directed
from models.edt.agents import at_step
from models.edt.controlling import (
    AT_RISK,
    CAPACITY,
    CASH,
    COSTS,
    DEMAND,
    EFFORT,
    REVENUE,
    SALARIES,
    UNIT,
    WORKPLACES,
    units,
)
from models.edt.firm import Firm

_USE = ("mean_step_utilization", "overall_avg_utilization", "utilization")
_MARGINS = ("overall_profit_margin", "profit_margin")
_GAINS = ("accumulated_earnings", "accumulated_revenue", "cash", "cash_flow", "earnings", "revenue")

#: Units and directions of metrics; the scenario names no currency.
METRIC_COLUMNS: Mapping[str, Column] = directed(
    dict.fromkeys((*_USE, *_MARGINS, "revenue_risk"), SHARE),
    higher=(*_GAINS, *_USE, *_MARGINS),
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
    controlling, time = firm.controlling, units(firm.scenario.dt)
    money, capacity = controlling.book.money, controlling.posted(CAPACITY)
    flows = [controlling.posted(kind) for kind in (REVENUE, SALARIES, WORKPLACES)]
    earned = [
        billed - wages - places - controlling.fixed
        for billed, wages, places in zip(*flows, strict=True)
    ]
    cash = (controlling.book.balance(CASH, step) for step in range(1, controlling.booked + 1))
    return {
        "earnings": [*map(money, earned)],
        "accumulated_earnings": [*map(money, accumulate(earned))],
        "cash": [*map(money, cash)],
        "staff": [float(amount // time) for amount in capacity],
        "busy": [*map(float, _busy(firm))],
        "projects_under_way": [*map(float, _under_way(firm))],
        "utilisation": [*map(_ratio, _used(firm), capacity)],
    }


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
    return _counted(firm, (who.log for who in firm.employees), lambda project: project is not None)


def _under_way(firm: Firm) -> list[int]:
    phases = (project.phases for project in firm.engagements)
    return _counted(firm, phases, lambda phase: phase is not None and phase.active)


def _counted(firm: Firm, logs: Iterable[Any], counts: Callable[[Any], bool]) -> list[int]:
    """Return in how many logs the value counts, by posted step."""
    booked = firm.controlling.booked
    steps = zip(*(at_step(log, booked) for log in logs), strict=True)
    return [sum(map(counts, values)) for values in steps] or [0] * booked


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0
