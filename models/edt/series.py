"""An episode by step: the reported series, phases, staff and assignments.

The projects of an episode as spans for a trace.
"""

from collections.abc import Iterator
from itertools import accumulate, pairwise

from desim.core.reported import Span
from desim.show.column import Column
from models.edt.company.controlling import CASH, COSTS, REVENUE
from models.edt.company.firm import Firm
from models.edt.company.payroll import UNIT, units
from models.edt.state import Engagement, Phase, at_step

Series = list[float]


def series(firm: Firm) -> dict[str, Series]:
    """Return the series of reference SPEC section 7 by name, one figure for each posted step.

    Money is read from the ledger; accumulated figures are stocks before the flow of the step.
    """
    controlling = firm.controlling
    book = controlling.book
    flow = {a: _flow(firm, a) for a in (REVENUE, CASH, *COSTS)}
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
        "cash": _balances(firm, CASH)[:-1],
        "cash_flow": flow[CASH],
    }
    in_money = {name: [book.money(amount) for amount in values] for name, values in money.items()}
    effort, capacity = controlling.effort(), controlling.capacity()
    at_risk = map(controlling.at_risk, range(1, controlling.booked + 1))
    return {
        **in_money,
        "effort": [amount / UNIT for amount in effort],
        "capacity": [amount / UNIT for amount in capacity],
        "utilization": [*map(ratio, effort, capacity)],
        "overall_avg_utilization": [*map(ratio, _stock(effort), _stock(capacity))],
        "revenue_risk": [*map(ratio, at_risk, in_money["revenue"])],
        "consultant_demand": [*map(float, controlling.demand())],
        "profit_margin": [*map(ratio, earnings, revenue)],
        "overall_profit_margin": [*map(ratio, _stock(earnings), _stock(revenue))],
    }


def by_step(firm: Firm) -> dict[str, Series]:
    """Return the series of an episode, one number a step: README, "Series"."""
    controlling = firm.controlling
    book, time = controlling.book, units(firm.scenario.dt)
    earned = [
        -sum(change) for change in zip(*(_flow(firm, a) for a in (REVENUE, *COSTS)), strict=True)
    ]
    return {
        "earnings": [book.money(amount) for amount in earned],
        "accumulated_earnings": [book.money(amount) for amount in accumulate(earned)],
        "cash": [book.money(amount) for amount in _balances(firm, CASH)[1:]],
        "staff": [float(capacity // time) for capacity in controlling.capacity()],
        "busy": [float(count) for count in busy(firm)],
        "projects_under_way": [float(count) for count in _under_way(firm)],
        "utilisation": [*map(ratio, used(firm), controlling.capacity())],
    }


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


def busy(firm: Firm) -> list[int]:
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


def used(firm: Firm) -> list[int]:
    """Return the consultant time used by posted step, in whole units of 1e-12.

    By the parameter `utilisation`: the effort delivered, or the time of busy consultants.
    """
    if firm.params.utilisation == "effort":
        return firm.controlling.effort()
    time = units(firm.scenario.dt)
    return [count * time for count in busy(firm)]


def _under_way(firm: Firm) -> list[int]:
    """Return the number of projects that have started and are not completed, by posted step."""
    lines = [at_step(project.phases, firm.controlling.booked) for project in firm.engagements]
    return [
        sum(phase is not None and phase.active for phase in step)
        for step in zip(*lines, strict=True)
    ] or [0] * firm.controlling.booked


def ratio(part: float, whole: float) -> float:
    """Return *part* over *whole*, 0 if *whole* is 0."""
    return float(part / whole) if whole else 0.0


def _flow(firm: Firm, account: str) -> list[int]:
    """Return the change of an account's balance in each posted step."""
    return [after - before for before, after in pairwise(_balances(firm, account))]


def _balances(firm: Firm, account: str) -> list[int]:
    """Return an account's balance at tick 0 and behind each posted step."""
    book, last = firm.controlling.book, firm.controlling.booked
    return [book.balance(account, step) for step in range(last + 1)]


def _stock(flow: list[int]) -> list[int]:
    """Return the sums before each step."""
    return [0, *accumulate(flow)][:-1]


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


def projects(firm: Firm) -> Iterator[Span]:
    """Yield each project from the step in which it became ready, with its phases."""
    for project in firm.engagements:
        phases = [(step, phase.label) for step, phase in project.phases]
        if phases:
            is_over = project.phase is Phase.COMPLETED
            end = phases[-1][0] if is_over else None
            yield Span("project", project.name, phases[0][0], end, tuple(phases))
