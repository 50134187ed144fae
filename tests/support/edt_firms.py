"""Firms of the Enterprise Digital Twin, changed at random or computed by hand.

A link acts at the ticks of a group.
"""

import random
from collections.abc import Callable, Generator
from typing import Any

from attrs import evolve

from desim import Run
from models.edt import Consultant, EnterpriseDigitalTwin, Project, Scenario
from models.edt.firm import LAST


def changed_firm(seed: int) -> Scenario:
    """Return the published firm with everything changed that a decision has to weigh.

    These are staff and pay, effort, rates, probabilities, seats, windows, the order of the
    projects, fixed cost and horizon.
    """
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


#: The rank of a link that acts when all events of a tick are over.
BEHIND = LAST + 1

#: What a link does at a tick.
Act = Callable[[int], object]

#: What a manager answers to an observation.
Decides = Callable[[Any], Any]


def linked(run: Run, act: Act, rank: int = BEHIND) -> None:
    """Call *act* at every tick up to the end, at a rank of the tick."""

    def link() -> Generator[Any, Any, None]:
        yield run.world.timeout(0, rank=rank)
        while True:
            act(run.world.now)
            yield run.world.timeout(1, rank=rank)

    run.world.process(link())


def answered(run: Run, decides: Decides | None = None) -> Run:
    """Play a run to its end."""
    while handed := run.advance():
        assert decides is not None
        for decision in handed:
            run.answer(decision, decides(decision.observation))
    return run


def played_linked(
    game: EnterpriseDigitalTwin, acts: dict[int, Callable[[Run], object]], seed: int = 0
) -> Run:
    """Play a scenario as it is given; call *acts* behind the ticks that they name."""
    run = Run(game, seed, seats=[])
    linked(run, lambda tick: acts[tick](run) if tick in acts else None)
    return answered(run)


def project(name: str, effort: float, **changes: Any) -> Project:
    """Return a project of one seat at 1,000 a unit that is ready at step 1 and due at step 10."""
    terms: dict[str, Any] = {
        "contracted_probability": 1.0,
        "extension_probability": 0.0,
        "extension_effort": 0.0,
        "follow_on_probability": 0.0,
        "deadline": 10.0,
        "consultants": 1,
        "start_time": 1.0,
        "billing_rate": 1_000.0,
    }
    return Project(name=name, contracted_effort=effort, **terms | changes)


def small_firm(*projects: Project, staff: int = 1, steps: int = 10, dt: float = 1.0) -> Scenario:
    """Return a firm that costs 30 a unit of time, and 120 for every consultant."""
    order = [("consultant", staff), ("project", len(projects)), ("controlling", 1)]
    return Scenario(
        starttime=1.0,
        stoptime=1.0 + (steps - 1) * dt,
        dt=dt,
        revenue_risk_level=1.0,
        fixed_cost=30.0,
        consultants=[
            Consultant(name=f"C{n}", salary=100.0, workplace_cost=20.0) for n in range(staff)
        ],
        projects=projects,
        order=[run for run in order if run[1]],
    )
