"""Changed firms of the Enterprise Digital Twin, and a hill climb that knows nothing of the search.

Everything that a decision has to weigh is drawn anew: staff and pay, effort, rates, probabilities,
seats, windows, the order of the projects, fixed cost and horizon.
"""

import random

from attrs import evolve

from models.edt import Consultant, EnterpriseDigitalTwin, Plan, Project, Scenario, Window
from policies.informed.edt.fast_play import earnings
from policies.informed.edt.prepared_firm import PreparedFirm


def changed_firm(seed: int) -> Scenario:
    """Return the published firm with everything changed that a decision has to weigh."""
    rng = random.Random(seed)  # noqa: S311
    given = EnterpriseDigitalTwin().loaded_scenario
    count, pay = rng.randint(4, 16), rng.uniform(0.5, 2.5)
    staff = [
        Consultant(
            name=f"C{n}",
            salary=round(6_000 * pay * rng.uniform(0.8, 1.2)),
            workplace_cost=2_000.0,
        )
        for n in range(count)
    ]
    projects = [changed_project(rng, one) for one in given.projects if rng.random() >= 0.1]
    rng.shuffle(projects)
    stop = rng.choice([48.0, 96.0, 96.0])
    shortened = [
        evolve(one, start_time=min(one.start_time, stop), deadline=min(one.deadline, stop))
        for one in projects
    ]
    return evolve(
        given,
        stoptime=stop,
        fixed_cost=float(rng.randint(0, 40_000)),
        consultants=staff,
        projects=shortened,
        order=[("consultant", count), ("project", len(projects)), ("controlling", 1)],
    )


def changed_project(rng: random.Random, given: Project) -> Project:
    """Return a project of the template with other terms."""
    start = rng.randint(1, 60)
    return evolve(
        given,
        contracted_effort=float(round(given.contracted_effort * rng.uniform(0.3, 1.8))),
        extension_effort=float(round(given.extension_effort * rng.uniform(0.3, 2))),
        extension_probability=round(rng.random(), 2),
        follow_on_probability=round(rng.random(), 2),
        consultants=rng.randint(1, 5),
        start_time=start,
        deadline=rng.randint(start, 96),
        billing_rate=float(round(given.billing_rate * rng.uniform(0.5, 1.6), -2)),
    )


def climbed(firm: PreparedFirm, evaluations: int, seed: int, start: Plan | None = None) -> float:
    """Return the most that a hill climb earns: one random change a time, kept unless it earns less.

    Args:
        firm: The prepared firm.
        evaluations: Decisions to evaluate.
        seed: Seed of the climb.
        start: The first decision; by default all consultants, all gates and all projects in the
            longest windows.
    """
    rng, end = random.Random(seed), firm.limits.horizon  # noqa: S311
    full = (Window(0, end),) * len(firm.limits.windows)
    plan = start or Plan(firm.counts[-1], 1.0, full)
    most = earnings(firm, plan)
    for _ in range(evaluations - 1):
        other = _changed(rng, firm, plan)
        earned = earnings(firm, other)
        if earned >= most:
            plan, most = other, earned
    return most


def _changed(rng: random.Random, firm: PreparedFirm, plan: Plan) -> Plan:
    """Return a decision with another C, R, or window of one project."""
    draw, end = rng.random(), firm.limits.horizon
    if draw < 0.05:
        return evolve(plan, consultants=rng.choice(firm.counts))
    if draw < 0.1:
        return evolve(plan, revenue_risk=rng.random())
    windows = list(plan.projects)
    at = rng.randrange(len(windows))
    window = windows[at]
    if draw < 0.2 or window is None:
        first = rng.randint(0, end)
        windows[at] = Window(first, rng.randint(first, end)) if window is None else None
    elif draw < 0.6:
        windows[at] = Window(rng.randint(0, window.deadline), window.deadline)
    else:
        windows[at] = Window(window.start, rng.randint(window.start, end))
    return evolve(plan, projects=tuple(windows)) if any(windows) else plan
