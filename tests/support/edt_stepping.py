"""The rules of reference SPEC sections 3 to 7 in plain loops, to compare the model with.

Random scenarios for the comparison are made of small and awkward numbers.
"""

import random
from dataclasses import dataclass, field
from typing import Any

from models.edt import Consultant, Project, Scenario

LETTERS = ("acquired", "ready", "started", "fully_staffed", "completed")


@dataclass(eq=False)
class SteppedConsultant:
    """A consultant."""

    terms: Consultant
    project: "SteppedProject | None" = None
    seen: list[int | None] = field(default_factory=list)


@dataclass(eq=False)
class SteppedProject:
    """A project."""

    index: int
    terms: Project
    start: float
    deadline: float
    contracted: float
    follow_on: float
    created: int = 1
    state: str = "a"
    remaining: float = 0.0
    staff: int = 0
    delivered: float = 0.0
    risk: float = 0.0
    followed: bool = False
    states: str = ""
    staffing: list[int] = field(default_factory=list)


class Stepping:
    """Every agent acts in every step, in the order of the list."""

    def __init__(self, scenario: Scenario, risk: float) -> None:
        self.scenario, self.risk = scenario, risk
        self.workers = [SteppedConsultant(c) for c in scenario.consultants]
        self.works = [
            SteppedProject(
                at,
                p,
                p.start_time,
                p.deadline,
                p.contracted_probability,
                p.follow_on_probability,
            )
            for at, p in enumerate(scenario.projects)
        ]
        agents = {"consultant": iter(self.workers), "project": iter(self.works)}
        self.agents: list[Any] = [
            kind if kind == "controlling" else next(agents[kind])
            for kind, count in scenario.order
            for _ in range(count)
        ]
        self.inbox = dict.fromkeys(("costs", "revenue", "at_risk", "effort", "room", "seats"), 0.0)
        self.booked: list[dict[str, float]] = []

    def run(self) -> "Stepping":
        """Play all steps."""
        for step in range(1, self.scenario.steps + 1):
            time = self.scenario.starttime + (step - 1) * self.scenario.dt
            # The list grows while it is walked: follow-ons act in the step of their creation.
            for agent in self.agents:
                if isinstance(agent, SteppedConsultant):
                    self.work(agent)
                elif isinstance(agent, SteppedProject):
                    self.live(agent, step, time)
                else:
                    self.book()
            for worker in self.workers:
                worker.seen.append(worker.project.index if worker.project else None)
            for work in self.works:
                work.states += work.state
                work.staffing.append(work.staff)
        return self

    def work(self, me: SteppedConsultant) -> None:
        """SPEC section 4."""
        dt = self.scenario.dt
        self.inbox["costs"] += (me.terms.salary + me.terms.workplace_cost) * dt
        self.inbox["room"] += dt
        left = dt
        while left > 0:
            if me.project is None and not self.take(me):
                return
            project = me.project
            assert project is not None
            if project.state == "c":
                me.project = None
                return
            effort = min(left, project.remaining)
            if effort <= 0:
                return
            project.remaining = max(0.0, project.remaining - effort)
            project.delivered += effort
            left -= effort

    def take(self, me: SteppedConsultant) -> bool:
        """Ready projects first, then started ones."""
        works = [a for a in self.agents if isinstance(a, SteppedProject)]
        project = next((w for w in works if w.state == "r"), None)
        if project:
            project.remaining = project.terms.contracted_effort
            project.risk = 1 - project.contracted
        project = project or next((w for w in works if w.state == "s"), None)
        if project:
            project.staff += 1
            project.state = "f" if project.staff == project.terms.consultants else "s"
            me.project = project
        return project is not None

    def live(self, me: SteppedProject, step: int, time: float) -> None:
        """SPEC section 5, rules 1 to 6."""
        money = me.delivered * me.terms.billing_rate
        self.inbox["revenue"] += money
        self.inbox["at_risk"] += money * me.risk
        self.inbox["effort"] += me.delivered
        me.delivered = 0.0
        if me.state == "a" and time == me.start:
            me.state = "r"
        if time >= me.deadline:
            me.state = "c"
        if time < min(me.deadline, self.scenario.stoptime) and me.remaining <= 0:
            self.finish(me)
        if me.state in "rsf":
            self.inbox["seats"] += me.terms.consultants
        if time == me.deadline and not me.followed and me.follow_on > 1.0 - self.risk:
            me.followed = True
            self.found(me, step, time)

    def finish(self, me: SteppedProject) -> None:
        """Rule 4."""
        if me.state not in "sf":
            return
        if me.terms.extension_probability > 1.0 - self.risk:
            me.remaining += me.terms.extension_effort
            me.risk = 1 - me.terms.extension_probability
        if me.remaining <= 0:
            me.state = "c"

    def found(self, me: SteppedProject, step: int, time: float) -> None:
        """SPEC section 6."""
        end = min(self.scenario.stoptime, time + me.deadline - me.start)
        child = SteppedProject(len(self.works), me.terms, time + 1, end, me.follow_on, 0.0, step)
        child.states = "-" * (step - 1)
        child.staffing = [0] * (step - 1)
        self.works.append(child)
        self.agents.append(child)

    def book(self) -> None:
        """SPEC section 7."""
        inbox = self.inbox
        revenue = inbox["revenue"]
        expenses = inbox["costs"] + self.scenario.fixed_cost * self.scenario.dt
        paid = self.booked[-2]["revenue"] if len(self.booked) > 1 else 0.0
        self.booked.append(
            {
                "revenue": revenue,
                "expenses": expenses,
                "cash_flow": paid - expenses,
                "utilization": inbox["effort"] / inbox["room"] if inbox["room"] else 0.0,
                "revenue_risk": inbox["at_risk"] / revenue if revenue else 0.0,
                "consultant_demand": inbox["seats"],
                "effort": inbox["effort"],
            }
        )
        self.inbox = dict.fromkeys(inbox, 0.0)


def dice(seed: int) -> random.Random:
    """Random numbers for tests, the same every time."""
    return random.Random(seed)  # noqa: S311 (no secret)


def random_scenario(draw: random.Random, longest: int = 30) -> Scenario:
    """Make a scenario from small and awkward numbers, agents in a random order."""
    dt = draw.choice([1.0, 1.0, 0.5, 0.25, 0.1, 0.3])
    start = draw.choice([1.0, 0.0, 2.5])
    steps = draw.randint(1, longest)
    consultants = [
        Consultant(
            name=f"C{n}",
            salary=draw.choice([0, 10, 5500.5]),
            workplace_cost=draw.choice([0, 1 / 3]),
        )
        for n in range(draw.randint(0, 5))
    ]
    projects = [random_project(draw, n, start, steps, dt) for n in range(draw.randint(0, 5))]
    kinds = ["consultant"] * len(consultants) + ["project"] * len(projects)
    if draw.random() < 0.7:
        kinds = ["controlling", *kinds] if draw.random() < 0.2 else [*kinds, "controlling"]
    else:
        kinds.append("controlling")
        draw.shuffle(kinds)
    return Scenario(
        starttime=start,
        stoptime=start + (steps - 1) * dt + draw.choice([0, 0, dt / 2]),
        dt=dt,
        revenue_risk_level=draw.choice([0, 0.2, 0.5, 0.9, 1]),
        fixed_cost=draw.choice([0, 100, 1 / 7]),
        consultants=consultants,
        projects=projects,
        order=[(kind, 1) for kind in kinds],
    )


def random_project(
    draw: random.Random, number: int, start: float, steps: int, dt: float
) -> Project:
    """Make a project; its moments mostly lie on the grid, and mostly within the run."""
    moments = sorted(start + draw.randint(-2, steps + 3) * dt for _ in range(2))
    if draw.random() < 0.1:
        moments = [moments[0], moments[1] + dt / 3]
    chances = [0, 0.1, 0.2, 0.5, 0.8, 1]
    return Project(
        name=f"P{number}",
        contracted_effort=draw.choice([0, 1, 3, 7, 20, 0.1, 2.65, draw.uniform(0, 15)]),
        contracted_probability=draw.random(),
        extension_probability=draw.choice(chances),
        extension_effort=draw.choice([0, 1, 2.5, 0.3]),
        follow_on_probability=draw.choice(chances),
        deadline=moments[1],
        consultants=draw.randint(1, 3),
        start_time=moments[0],
        billing_rate=draw.choice([0, 100, 333.3]),
    )
