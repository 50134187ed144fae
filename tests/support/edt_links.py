"""What a link of a group does to a consulting firm, and a firm small enough to compute by hand."""

from collections.abc import Callable, Generator
from typing import Any

from desim import Run
from models.edt import Consultant, EnterpriseDigitalTwin, Project, Scenario
from models.edt.company.firm import LAST

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
